"""ppan curve, pick, show and release on images: IDX files and directories of PNG files."""

import csv
import gzip
import json
import os
import random
import struct
import subprocess
import tempfile
import time
import unittest
import zlib

from support import BINARY, CommandTest, ppan

SIDE = 8


def make_images(count, seed):
    """A bar that lies or stands, which is the label, and a spot in some corner, which has nothing to do with it."""
    source = random.Random(seed)
    images, labels = [], []
    for _ in range(count):
        standing, at, bright = source.randrange(2), source.randrange(2, SIDE - 2), source.randrange(160, 256)
        rows = [[source.randrange(8) for _ in range(SIDE)] for _ in range(SIDE)]
        for i in range(SIDE):
            rows[i if standing else at][at if standing else i] = bright
        top, left = source.choice([0, SIDE - 2]), source.choice([0, SIDE - 2])
        for y in (top, top + 1):
            for x in (left, left + 1):
                rows[y][x] = 255
        images.append(bytes(value for row in rows for value in row))
        labels.append(standing)
    return images, labels


def idx_images(images, height=SIDE, width=SIDE):
    return struct.pack(">IIII", 0x803, len(images), height, width) + b"".join(images)


def idx_labels(labels):
    return struct.pack(">II", 0x801, len(labels)) + bytes(labels)


def png(image, height=SIDE, width=SIDE):
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    rows = b"".join(b"\0" + image[y * width:(y + 1) * width] for y in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


JOB = """[data]
images = "{images}"
labels = "{labels}"
[mechanism]
hidden = [24]
code_size = 4
[privacy]
points = {points}
[train]
epochs = {epochs}
batch = 50
[audit]
quick = true
"""


class Images(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        images, labels = make_images(400, seed=1)
        cls.labels = labels
        # Whether the spot is in one of the upper corners.
        cls.tops = [int(image[0] + image[1] + image[SIDE] + image[SIDE + 1] == 4 * 255 or
                        image[SIDE - 2] + image[SIDE - 1] + image[2 * SIDE - 2] + image[2 * SIDE - 1] == 4 * 255) for image in images]
        cls.put("tops-idx1-ubyte", idx_labels(cls.tops))
        cls.put("a-idx3-ubyte", idx_images(images))
        cls.put("a-idx1-ubyte.gz", gzip.compress(idx_labels(labels)))
        cls.put("new-idx3-ubyte", idx_images(make_images(30, seed=2)[0]))
        cls.put("job.toml", JOB.format(images="a-idx3-ubyte", labels="a-idx1-ubyte.gz", epochs=130, points=2))
        os.mkdir(cls.path("scans"))
        with open(cls.path("labels.csv"), "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["image", "who"])
            for number, (image, label) in enumerate(zip(images, labels)):
                cls.put(f"scans/s{number:03}.png", png(image))
                writer.writerow([f"s{number:03}.png", ["ann", "zoe"][label]])
        with open(cls.path("tasks.csv"), "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["image", "who", "spot", "gaps", "again"])
            for number, label in enumerate(labels):
                writer.writerow([f"s{number:03}.png", ["ann", "zoe"][label], ["below", "above"][cls.tops[number]],
                                 "" if number < 2 else number % 3, "xy"[label]])
        cls.trained = ppan("curve", cls.path("job.toml"), "--out", cls.path("run"), "--quiet")

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    @classmethod
    def path(cls, *names):
        return os.path.join(cls.directory.name, *names)

    @classmethod
    def put(cls, name, data):
        with open(cls.path(name), "wb") as file:
            file.write(data if isinstance(data, bytes) else data.encode())
        return cls.path(name)

    def get(self, *names):
        with open(self.path(*names), "rb") as file:
            return file.read()

    def rows(self, run="run"):
        with open(self.path(run, "curve.csv"), newline="") as file:
            return list(csv.DictReader(file))

    @classmethod
    def job(cls, name, **changes):
        text = JOB.format(**{"images": "a-idx3-ubyte", "labels": "a-idx1-ubyte.gz", "epochs": 2, "points": 2, **changes})
        return cls.put(name, text)

    def task_job(self, name, task="tops-idx1-ubyte", **changes):
        job = self.job(name, **{"epochs": 60, **changes})
        self.put(name, self.get(name).decode().replace("[mechanism]", f'task_labels = "{task}"\n[mechanism]'))
        return job

    def not_trained(self, status, job):
        """Message of a curve that must fail before it makes its directory."""
        message = self.refuse(status, "curve", job, "--out", self.path("never"), "--quiet")
        self.assertFalse(os.path.exists(self.path("never")))
        return message

    def test_the_run_holds_what_the_curve_of_a_table_holds(self):
        self.assertEqual((self.trained.returncode, self.trained.stderr), (0, ""))
        for name in ("curve.csv", "curve.svg", "details.json", "job.toml", "metrics.jsonl", "report.html", "summary.json",
                     "point-01.ppan", "point-02.ppan", "unchanged.ppan", "constant.ppan"):
            self.assertTrue(os.path.exists(self.path("run", name)), name)
        self.assertFalse(os.path.exists(self.path("run", "images.svg")))  # nobody asked for examples
        rows = self.rows()
        self.assertEqual(list(rows[0])[:7], "series,budget,weight,distortion,leakage,optimum,excess".split(","))
        self.assertEqual([row["model"] for row in rows if row["series"] == "ppan/images"],
                         ["point-01.ppan", "point-02.ppan"])
        self.assertEqual({row["series"] for row in rows},
                         {"ppan/images", "ppan/hull", "reference/unchanged", "reference/constant",
                          "reference/time-sharing"})

    def test_the_looser_point_hides_the_label(self):
        # A label of two values has at most 0.693 nats, of which the unchanged image tells nearly all.
        tight, loose = [float(row["leakage"]) for row in self.rows() if row["series"] == "ppan/images"]
        self.assertGreater(tight, loose + 0.1)
        self.assertLess(loose, 0.25)
        for row in self.rows():
            if row["series"] == "ppan/images":
                self.assertEqual(row["leakage_kind"], "lower bound")
                self.assertGreaterEqual(float(row["leakage_upper"]), float(row["leakage_low"]))

    @classmethod
    def short_run(cls):
        """Trains run "short" once, by a job whose name comes back."""
        job = cls.job("short.toml")
        if not os.path.exists(cls.path("short")):
            result = ppan("curve", job, "--out", cls.path("short"), "--quiet", "--threads", "1")
            assert result.returncode == 0, result.stderr
        return job

    def test_the_same_job_gives_the_same_models(self):
        self.short_run()
        result = ppan("curve", self.path("short.toml"), "--out", self.path("two-threads"), "--quiet", "--threads", "2")
        self.assertEqual(result.returncode, 0, result.stderr)
        models = [json.loads(self.succeed("show", self.path(run, "point-02.ppan"), "--json"))
                  for run in ("short", "two-threads")]
        for model in models:
            model["origin"]["settings"].pop("train.threads")
            model.pop("checksum")
        self.assertEqual(*models)

    def test_parts_and_a_kill_give_the_run_of_one_process(self):
        job = self.short_run()
        curve = lambda out, *more: ppan("curve", job, "--out", self.path(out), "--quiet", "--threads", "1", *more)
        self.assertIn("points are missing: 1, 2", curve("in-parts", "--finish").stderr)
        for part in (("--prepare",), ("--only", "2"), ("--only", "1"), ("--finish",)):
            result = curve("in-parts", *part)
            self.assertEqual((result.returncode, result.stderr), (0, ""), part)
        for _ in range(3):
            process = subprocess.Popen([BINARY, "curve", job, "--out", self.path("killed"), "--quiet", "--threads", "1", "--resume"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(0.3)
            process.kill()
            process.wait()
        self.assertEqual(curve("killed", "--resume").returncode, 0)
        for run in ("in-parts", "killed"):
            for mine, theirs in zip(self.rows("short"), self.rows(run), strict=True):
                mine.pop("seconds"), theirs.pop("seconds")
                self.assertEqual(mine, theirs)
            for name in ("point-01.ppan", "point-02.ppan", "metrics.jsonl"):
                self.assertEqual(self.get("short", name), self.get(run, name), name)
            self.assertNotIn("pieces", os.listdir(self.path(run)))

    def test_a_limit(self):
        job = self.job("limit.toml", points=1)
        kept = ppan("curve", job, "--out", self.path("kept"), "--set", "audit.limit=5", "--quiet")
        self.assertIn(kept.returncode, (0, 6), kept.stderr)  # 6: the attackers were still getting better
        if kept.returncode == 0:
            self.assertIn("within the limit of 5 nats at the least distortion: point", kept.stdout)
        broken = ppan("curve", job, "--out", self.path("broken"), "--set", "audit.limit=0", "--quiet")
        self.assertEqual(broken.returncode, 6, broken.stderr)
        self.assertIn("no trained point is shown to be within the limit", broken.stderr)

    def test_an_audit_with_a_report(self):
        data = ("--data", self.path("a-idx3-ubyte"), "--quick")
        text = self.succeed("audit", self.path("run", "point-02.ppan"), *data, "--out", self.path("audit"))
        self.assertIn("report: " + self.path("audit", "report.html"), text)
        for name in ("findings.json", "audit.json", "summary.json", "curve.csv", "report.html"):
            self.assertTrue(os.path.exists(self.path("audit", name)), name)
        row, = self.rows("audit")
        self.assertEqual(float(row["leakage"]), json.loads(self.get("audit", "findings.json"))["leakage"]["nats"])
        self.assertIn("not empty",
                      self.refuse(2, "audit", self.path("run", "point-02.ppan"), *data, "--out", self.path("audit")))

    def test_show(self):
        text = self.succeed("show", self.path("run", "point-01.ppan"))
        self.assertIn("images     8 x 8 pixels", text)
        self.assertIn("sensitive  the label, one of 2: 0, 1", text)
        self.assertIn("lower bound", text)
        told = json.loads(self.succeed("show", self.path("run", "point-01.ppan"), "--json"))
        self.assertEqual(told["model"]["kind"], "images")
        self.assertEqual(told["origin"]["settings"]["mechanism.code_size"], "4")

    def test_pick_and_release_as_idx(self):
        model = self.path("picked.ppan")
        said = self.succeed("pick", self.path("run"), "--leakage", "0.05", "-o", model)
        self.assertIn("mixture of", said)
        for name in ("released-idx3-ubyte", "released-idx3-ubyte.gz"):
            self.assertEqual(self.succeed("release", model, self.path("new-idx3-ubyte"), "-o", self.path(name)), "")
        first = self.get("released-idx3-ubyte")
        second = gzip.decompress(self.get("released-idx3-ubyte.gz"))
        self.assertEqual(first[:16], self.get("new-idx3-ubyte")[:16])
        self.assertEqual(len(first), 16 + 30 * SIDE * SIDE)
        self.assertNotEqual(first, second)  # fresh noise each time
        piped = ppan("release", model, self.path("new-idx3-ubyte"), "-o", self.path("seeded-idx3-ubyte"),
                     "--insecure-test-noise", "5")
        self.assertIn("WARNING", piped.stderr)

    def test_unchanged_model_gives_the_images_back(self):
        unchanged = self.path("run", "unchanged.ppan")
        self.succeed("release", unchanged, self.path("new-idx3-ubyte"), "-o", self.path("same-idx3-ubyte"))
        self.assertEqual(self.get("same-idx3-ubyte"), self.get("new-idx3-ubyte"))
        self.succeed("release", unchanged, self.path("scans"), "-o", self.path("copies"))
        self.assertEqual(sorted(os.listdir(self.path("copies"))), sorted(os.listdir(self.path("scans"))))
        self.succeed("release", unchanged, self.path("copies"), "-o", self.path("again-idx3-ubyte"))
        self.assertEqual(self.get("again-idx3-ubyte"), self.get("a-idx3-ubyte"))

    def test_a_directory_with_a_table_of_labels_trains_too(self):
        job = self.job("scans.toml", images="scans", labels="labels.csv", points=1)
        self.put("scans.toml", self.get("scans.toml").decode().replace(
            "[mechanism]", 'file_column = "image"\nlabel_column = "who"\n[report]\nshow_examples = true\n[mechanism]'))
        result = ppan("curve", job, "--out", self.path("scans-run"), "--quiet")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("one of 2: ann, zoe", self.succeed("show", self.path("scans-run", "point-01.ppan")))
        self.assertTrue(os.path.exists(self.path("scans-run", "images.svg")))

    def test_a_task_is_kept_and_measured(self):
        """Hidden: whether the bar stands. Task: whether the spot is at the top, which a code of four numbers need not keep for the pixels."""
        result = ppan("curve", self.task_job("task.toml"), "--out", self.path("task-run"), "--quiet")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        rows = self.rows("task-run")
        scores = {row["label"]: row for row in rows if row["task_score"]}
        self.assertEqual(set(scores), {"point 1", "point 2", "as it is", "the mean image for everybody"})
        for row in scores.values():
            self.assertEqual(row["task_metric"], "task: AUC")
            self.assertLessEqual(float(row["task_low"]), float(row["task_score"]))
            self.assertGreaterEqual(float(row["task_high"]), float(row["task_score"]))
            self.assertIn("on released images", row["tasks"])
        self.assertGreater(float(scores["as it is"]["task_score"]), 0.99)
        self.assertEqual(float(scores["as it is"]["task_loss"]), 0)
        self.assertEqual(float(scores["the mean image for everybody"]["task_released"]), 0.5)
        report = self.get("task-run", "report.html").decode()
        self.assertIn("What a recipient loses", report)
        self.assertIn("New networks learn the task from released images", report)
        self.assertNotIn("cells changed", report)
        self.assertIn("task, one of 2; the mechanism does not see it", report)
        shown = self.succeed("show", self.path("task-run", "point-01.ppan"))
        self.assertIn("recipient  " + scores["point 1"]["tasks"], shown)
        # The point of least leakage that costs a recipient no more than the worse of the two, and one that does not exist.
        most = max(float(scores[point]["task_loss"]) for point in ("point 1", "point 2"))
        said = self.succeed("pick", self.path("task-run"), "--task-loss", str(most + 1e-6), "--accept-inconclusive", "-o", self.path("kept.ppan"))
        self.assertIn("point ", said)
        self.assertIn("measured no task", self.refuse(2, "pick", self.path("run"), "--task-loss", "0.1", "--accept-inconclusive",
                                                     "-o", self.path("never.ppan")))
        self.assertIn("data.task_labels", self.refuse(2, "pick", self.path("run"), "--task-loss", "0.1", "--accept-inconclusive",
                                                     "-o", self.path("never.ppan")))

    def test_a_task_in_parts_and_after_a_change_of_its_labels(self):
        job = self.task_job("task-parts.toml", epochs=20)
        curve = lambda out, *more: ppan("curve", job, "--out", self.path(out), "--quiet", *more)
        self.assertEqual(curve("task-at-once").returncode, 0)
        for part in (("--prepare",), ("--only", "2"), ("--only", "1"), ("--only", "references"), ("--finish",)):
            result = curve("task-in-parts", *part)
            self.assertEqual((result.returncode, result.stderr), (0, ""), part)
        for mine, theirs in zip(self.rows("task-at-once"), self.rows("task-in-parts"), strict=True):
            mine.pop("seconds"), theirs.pop("seconds")
            self.assertEqual(mine, theirs)
        # Another task is another run, though images and labels are the same.
        self.assertEqual(curve("task-changed", "--prepare").returncode, 0)
        tops = list(self.tops)
        tops[0] = 1 - tops[0]
        self.put("tops-idx1-ubyte", idx_labels(tops))
        try:
            self.assertIn("task-changed", self.refuse(2, "curve", job, "--out", self.path("task-changed"), "--resume"))
        finally:
            self.put("tops-idx1-ubyte", idx_labels(self.tops))

    def test_a_task_alone_and_in_a_column(self):
        job = self.job("column.toml", images="scans", labels="tasks.csv", epochs=30, points=1)
        self.put("column.toml", self.get("column.toml").decode().replace(
            "[mechanism]", 'file_column = "image"\nlabel_column = "who"\ntask_column = "spot"\n[mechanism]').replace(
            "points = 1", 'points = 1\nusefulness = "task"'))
        result = ppan("curve", job, "--out", self.path("column-run"), "--quiet")
        self.assertEqual(result.returncode, 0, result.stderr)
        point = self.rows("column-run")[0]
        self.assertEqual(point["task_metric"], "spot: AUC")
        self.assertAlmostEqual(float(point["budget"]), 0.5 * 0.693, delta=0.05)  # nats about the task
        # Pixels alone: the same data, measured but not kept.
        self.put("column.toml", self.get("column.toml").decode().replace('"task"', '"columns"'))
        self.assertEqual(ppan("curve", job, "--out", self.path("pixels-run"), "--quiet").returncode, 0)
        self.assertEqual(self.rows("pixels-run")[0]["task_metric"], "spot: AUC")

    def test_tasks_that_cannot_be_used(self):
        def message(status, **changes):
            return self.not_trained(status, self.task_job("j.toml", **changes))
        self.put("few-idx1-ubyte", idx_labels([1, 1, 1]))
        text = message(3, task="few-idx1-ubyte")
        self.assertIn("few-idx1-ubyte holds 3 labels, but there are 400 images", text)
        self.assertIn("is the same for every image", text)  # both at once
        self.put("inverted-idx1-ubyte", idx_labels([9 - 3 * label for label in self.labels]))
        self.assertIn("says the same as the label that is hidden", message(3, task="inverted-idx1-ubyte"))
        text = message(3, task="nowhere", images="neither")
        self.assertIn("data.task_labels: there is no", text)
        self.assertIn("data.images: there is no", text)
        self.assertIn("data.task_labels: there is no", message(3, task="nowhere"))
        self.assertIn("names the label that is hidden", message(2, task="a-idx1-ubyte.gz"))
        self.put("rare-idx1-ubyte", idx_labels([1] + [0] * 399))
        self.assertIn("fewer than two classes of the task", message(3, task="rare-idx1-ubyte"))
        for column, told in (("nobody", "has no column 'nobody'"), ("gaps", "2 of the 400 images have no 'gaps'"),
                             ("again", "says the same as the label")):
            job = self.job("j.toml", images="scans", labels="labels.csv")
            self.put("j.toml", self.get("j.toml").decode().replace(
                "[mechanism]", f'task_labels = "tasks.csv"\nfile_column = "image"\nlabel_column = "who"\ntask_column = "{column}"\n[mechanism]'))
            self.assertIn(told, self.not_trained(3, job), column)
        job = self.task_job("j.toml")
        self.put("j.toml", self.get("j.toml").decode().replace("[mechanism]", 'task_column = "x"\n[mechanism]'))
        self.assertIn("these images are in an IDX file", self.not_trained(3, job))

    def test_jobs_that_cannot_be_run(self):
        self.assertIn("there is no ", self.not_trained(4, self.job("j.toml", images="nowhere")))
        self.assertIn("cannot open", self.not_trained(4, self.job("j.toml", labels="nowhere")))
        self.assertIn("exchange the two files",
                      self.not_trained(3, self.job("j.toml", images="a-idx1-ubyte.gz", labels="a-idx3-ubyte")))
        self.put("few-idx1-ubyte", idx_labels([0, 1, 0]))
        self.assertIn("holds 400 images, but", self.not_trained(3, self.job("j.toml", labels="few-idx1-ubyte")))
        self.put("cut-idx3-ubyte", self.get("a-idx3-ubyte")[:-1])
        self.assertIn("cut short", self.not_trained(3, self.job("j.toml", images="cut-idx3-ubyte")))
        self.put("one-idx1-ubyte", idx_labels([1] * 400))
        self.assertIn("all of one class", self.not_trained(3, self.job("j.toml", labels="one-idx1-ubyte")))
        self.put("small-idx3-ubyte", idx_images(make_images(60, seed=1)[0]))
        self.put("small-idx1-ubyte", idx_labels(make_images(60, seed=1)[1]))
        self.assertIn("at least 50 of each",
                      self.not_trained(3, self.job("j.toml", images="small-idx3-ubyte", labels="small-idx1-ubyte")))
        self.put("j.toml", '[data]\nimages = "a-idx3-ubyte"\n[roles]\nsensitive = "x"\n')
        message = self.not_trained(2, self.path("j.toml"))
        self.assertIn("data.labels: is missing", message)
        self.assertIn("line 4, roles.sensitive: is for tables", message)

    def test_images_of_different_sizes(self):
        os.mkdir(self.path("mixed"))
        self.put("mixed/a.png", png(bytes(64)))
        self.put("mixed/b.png", png(bytes(16), 4, 4))
        self.put("mixed.csv", "file,label\na.png,x\nb.png,y\n")
        self.assertIn("b.png: has 4 x 4 pixels",
                      self.not_trained(3, self.job("j.toml", images="mixed", labels="mixed.csv")))
        message = self.refuse(3, "release", self.path("run", "point-01.ppan"), self.path("mixed"), "-o",
                              self.path("never"))
        self.assertIn("b.png: has 4 x 4 pixels", message)
        self.assertFalse(os.path.exists(self.path("never")))

    def test_releases_that_cannot_be_made(self):
        model = self.path("run", "point-01.ppan")
        self.put("wide-idx3-ubyte", idx_images([bytes(32)], 4, 8))
        out = self.put("kept-idx3-ubyte", b"mine")
        message = self.refuse(3, "release", model, self.path("wide-idx3-ubyte"), "-o", out)
        self.assertIn("images of 4 x 8 pixels (height x width), but the model is for 8 x 8", message)
        self.assertEqual(self.get("kept-idx3-ubyte"), b"mine")
        self.assertIn("cannot open", self.refuse(4, "release", model, self.path("nowhere"), "-o", self.path("never")))
        self.assertIn("is for tables",
                      self.refuse(2, "release", model, self.path("new-idx3-ubyte"), "-o", self.path("never"),
                                  "--unknown", "reject"))
        os.mkdir(self.path("there"))
        self.assertIn("exists already",
                      self.refuse(2, "release", model, self.path("new-idx3-ubyte"), "-o", self.path("there")))
        self.succeed("release", model, self.path("new-idx3-ubyte"), "-o", self.path("there"), "--force")
        self.assertEqual(len(os.listdir(self.path("there"))), 30)
        self.put("there/notes.txt", b"mine")
        self.assertIn("holds notes.txt", self.refuse(2, "release", model, self.path("new-idx3-ubyte"), "-o",
                                                     self.path("there"), "--force"))
        self.assertIn("is also an input", self.refuse(2, "release", model, self.path("scans"), "-o",
                                                      self.path("scans"), "--force"))
        self.assertEqual([name for name in os.listdir(self.directory.name) if ".tmp" in name], [])

    def test_a_job_is_drafted_from_images(self):
        text = self.succeed("init", self.path("a-idx3-ubyte"))
        self.assertIn("# 400 images of 8 x 8 pixels (height x width), labels 0, 1.", text)
        self.assertIn('labels = "' + self.path("a-idx1-ubyte.gz") + '"', text)  # found beside them
        self.assertIn('# task_labels = "FILE"', text)
        drafted = self.path("drafted.toml")
        self.succeed("init", self.path("scans"), "--labels", self.path("labels.csv"), "-o", drafted)
        text = self.get("drafted.toml").decode()
        self.assertIn('file_column = "image"\nlabel_column = "who"\n', text)
        self.assertIn('# task_column = "COLUMN"', text)
        self.assertIn('# task_column = "spot"', self.succeed("init", self.path("scans"), "--labels", self.path("tasks.csv")))
        self.put("drafted.toml", text.replace("points = 8", "points = 1").replace("seed = 1", "epochs = 1\nbatch = 50") +
                 "[mechanism]\nhidden = [8]\ncode_size = 2\n[audit]\nquick = true\n")
        self.succeed("curve", drafted, "--out", self.path("drafted-run"), "--quiet")
        # Of two columns that could be the label, one is taken and marked.
        os.mkdir(self.path("two"))
        self.put("two/a.png", png(bytes(64)))
        self.put("two/b.png", png(bytes(64)))
        self.put("two/labels.csv", "age,who,file\n3,x,a.png\n4,y,b.png\n")
        self.assertIn('label_column = "age"  # UNSURE', self.succeed("init", self.path("two")))

    def test_jobs_that_cannot_be_drafted(self):
        self.assertIn("is a table", self.refuse(2, "init", self.path("labels.csv"), "--labels", "x"))
        self.assertIn("roles are for the columns", self.refuse(2, "init", self.path("a-idx3-ubyte"), "--sensitive", "x"))
        self.assertIn("are not next to it as new-idx1-ubyte", self.refuse(2, "init", self.path("new-idx3-ubyte")))
        self.assertIn("there is no table of labels", self.refuse(2, "init", self.path("scans")))
        self.put("words.csv", "a,b\n1,2\n")
        self.assertIn("no column names PNG files",
                      self.refuse(3, "init", self.path("scans"), "--labels", self.path("words.csv")))

    def test_audit(self):
        model = self.path("audited.ppan")
        self.put("audited.ppan", self.get("run", "point-01.ppan"))
        images, labels = make_images(300, seed=3)
        self.put("held-idx3-ubyte", idx_images(images))
        self.put("held-idx1-ubyte", idx_labels(labels))
        held = self.path("held-idx3-ubyte")
        self.assertIn("UNAUDITED", self.succeed("show", model))
        text = self.succeed("audit", model, "--data", held, "--quick", "--save")
        self.assertIn("attackers learned from 180, and were selected and scored on 120", text)
        shown = self.succeed("show", model)
        self.assertIn("audit      300 images, quick", shown)
        self.assertNotIn("UNAUDITED", shown)
        told = json.loads(self.succeed("audit", model, "--data", held, "--quick", "--json", "-"))
        # What was saved is what was found: the upper bound and the verdict too.
        saved = json.loads(self.succeed("show", model, "--json"))["audit"]["attributes"][0]
        self.assertEqual(saved.get("upper", {}).get("nats"), told["upper"][0]["nats"] if told["upper"] else None)
        self.assertEqual(saved.get("inconclusive", False), told["inconclusive"])
        again = json.loads(self.succeed("audit", model, "--data", held, "--quick", "--json", "-"))
        self.assertEqual(told, again)
        # A tight point tells of the label: fewer than 0.1 nats would take an attacker that learned nothing.
        self.assertGreater(told["leakage"]["nats"], 0.1)
        self.assertLessEqual(told["leakage"]["low"], told["upper"][0]["high"])
        limited = ppan("audit", model, "--data", held, "--quick", "--limit", "0.01")
        self.assertEqual(limited.returncode, 6)
        self.assertIn("not shown to be within the limit", limited.stderr)
        nothing = json.loads(self.succeed("audit", self.path("run", "constant.ppan"), "--data", held, "--quick",
                                          "--json", "-"))
        self.assertLess(nothing["leakage"]["nats"], 0.05)  # one image for everybody

    def test_the_report_lists_the_settings_of_images_alone(self):
        summary = json.loads(self.get("run", "summary.json"))
        used = {setting["name"]: setting["used"] for setting in summary["settings"]}
        # Of tables they are 12 and 0.003.
        self.assertEqual(used["mechanism.code_radius"], "8")
        self.assertEqual(used["train.learning_rate"], "0.001")
        self.assertFalse({"encode.grid_cost", "train.restarts", "roles.useful", "privacy.alpha"} & set(used))

    def test_audits_that_cannot_be_made(self):
        model = self.path("run", "point-01.ppan")
        self.put("t.csv", "a,b\n1,2\n")
        self.assertIn("is a model of images", self.refuse(3, "audit", model, "--data", self.path("t.csv")))
        self.assertIn("are not next to it", self.refuse(2, "audit", model, "--data", self.path("new-idx3-ubyte")))
        self.put("new-labels", idx_labels([0, 1] * 15))
        self.assertIn("30 images are too few for an audit; 125 are needed",
                      self.refuse(3, "audit", model, "--data", self.path("new-idx3-ubyte"), "--labels",
                                  self.path("new-labels")))
        self.assertIn("--side is for tables",
                      self.refuse(2, "audit", model, "--data", self.path("a-idx3-ubyte"), "--side", "x"))

    def test_damaged_model(self):
        whole = self.get("run", "point-01.ppan")
        cut = self.put("cut.ppan", whole[:-4])
        for command in (["show", cut], ["release", cut, self.path("new-idx3-ubyte"), "-o", self.path("never")]):
            self.assertIn("cut.ppan", self.refuse(3, *command))
        self.assertFalse(os.path.exists(self.path("never")))


if __name__ == "__main__":
    unittest.main()
