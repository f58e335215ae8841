"""Nothing of a single person is in any file that ppan writes: fifty planted singletons are looked for in all of them."""

import hashlib
import hmac
import json
import os
import random
import stat
import struct
import tempfile
import unittest

from support import CommandTest, ppan
from table_support import write_csv

COLUMNS = ["name", "born", "age", "income", "town", "job", "illness"]
ROWS = 1500


def plant(rows, source):
    """Lone levels, extremes, names and dates, as they would stand in a file; each belongs to one row."""
    text, numbers = [], []
    places = source.sample(range(len(rows)), 50)
    for k, place in enumerate(places):
        row = rows[place]
        if k < 10:
            row["town"] = f"Lonetown{k:02}qx"
            text.append(row["town"])
        elif k < 18:
            row["job"] = f"soleworker{k:02}zv"
            text.append(row["job"])
        elif k < 24:
            row["illness"] = f"raredisease{k:02}kw"
            text.append(row["illness"])
        elif k < 30:
            row["name"] = f"Uniquename{k:02}jy"
            text.append(row["name"])
        elif k < 36:
            row["born"] = f"1887-0{k - 29}-17"
            text.append(row["born"])
        elif k < 43:
            row["income"] = f"{9871234 + 1117 * k}"
            numbers.append(int(row["income"]))
        else:
            row["income"] = f"-{8765431 + 1113 * k}"
            numbers.append(int(row["income"]))
    return text, numbers


def table(seed):
    source = random.Random(seed)
    rows = []
    for number in range(ROWS):
        ill = source.random() < 0.4
        rows.append({
            "name": f"person {number}",
            "born": f"{source.randrange(1940, 2000)}-{source.randrange(1, 13):02}-{source.randrange(1, 29):02}",
            "age": source.randrange(18, 80),
            "income": f"{source.gauss(2200 if ill else 2900, 500):.0f}",
            "town": source.choice(["north", "south", "east"]),
            "job": source.choice(["clerk", "driver", "nurse"]),
            "illness": source.choice(["flu", "cold"]) if ill else "none",
        })
    return rows, source


class Artefacts(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        rows, source = table(3)
        cls.text, cls.numbers = plant(rows, source)
        write_csv(cls.path("people.csv"), rows, COLUMNS)
        write_csv(cls.path("others.csv"), table(4)[0], COLUMNS)
        cls.streams = cls.make_everything()

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    @classmethod
    def path(cls, *parts):
        return os.path.join(cls.directory.name, *parts)

    def traces(self):
        """Every singleton as bytes: text, numbers as written in several ways and as they lie in memory."""
        for word in self.text:
            yield word, word.encode()
        for number in self.numbers:
            for form in (str(number), f"{number:,}", f"{abs(number)}"):
                yield str(number), form.encode()
            for layout in ("<f", "<d", "<q"):
                yield f"{number} as {layout}", struct.pack(layout, number)

    def found_in(self, data):
        return [name for name, trace in self.traces() if trace in data]

    @classmethod
    def make_everything(cls):
        path = cls.path
        streams = []

        def run(*arguments):
            result = ppan(*arguments)
            assert result.returncode in (0, 6), result.stderr
            streams.append((" ".join(arguments[:1]), result.stdout.encode() + result.stderr.encode()))

        run("init", path("people.csv"), "--sensitive", "illness", "--useful", "age,income,town,job", "-o", path("job.toml"))
        run("curve", path("job.toml"), "--out", path("run"), "--points", "2", "--epochs", "3", "--set", "audit.quick=true")
        run("curve", path("job.toml"), "--out", path("codes"), "--points", "2", "--epochs", "3", "--set", "audit.quick=true",
            "--set", 'mechanism.family="codebook"')
        run("release", path("codes", "point-01.ppan"), path("others.csv"), "-o", path("synthetic.csv"))
        run("pick", path("run"), "--budget", "0.1", "-o", path("model.ppan"), "--accept-inconclusive")
        run("show", path("model.ppan"))
        run("show", path("model.ppan"), "--json")
        run("release", path("model.ppan"), path("others.csv"), "-o", path("released.csv"))
        run("release", path("run", "unchanged.ppan"), path("others.csv"), "-o", path("unchanged.csv"))
        run("audit", path("model.ppan"), "--data", path("others.csv"), "--quick", "--save", "--json", path("a.json"),
            "--out", path("audit"))
        run("report", path("run"))
        return streams

    def test_no_singleton_in_any_file(self):
        # The search itself finds what it looks for.
        with open(self.path("people.csv"), "rb") as file:
            self.assertEqual(len({name.split(" as ")[0] for name in self.found_in(file.read())}), 50)
        for command, data in self.streams:
            self.assertEqual(self.found_in(data), [], command)
        seen = 0
        for directory, _, files in os.walk(self.directory.name):
            for name in files:
                if name in ("people.csv", "others.csv"):
                    continue
                with open(os.path.join(directory, name), "rb") as file:
                    data = file.read()
                seen += 1
                self.assertEqual(self.found_in(data), [], os.path.join(directory, name))
        self.assertGreater(seen, 15)

    def test_no_hash_of_the_table_is_handed_on(self):
        with open(self.path("people.csv"), "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        for directory, _, files in os.walk(self.directory.name):
            for name in files:
                with open(os.path.join(directory, name), "rb") as file:
                    data = file.read()
                self.assertNotIn(digest.encode(), data, os.path.join(directory, name))
                self.assertNotIn(bytes.fromhex(digest), data, os.path.join(directory, name))
        private = self.path("run", ".fingerprint")
        self.assertEqual(stat.S_IMODE(os.stat(private).st_mode), 0o600)
        with open(private) as file:
            run_digest = file.read()
        for name in os.listdir(self.path("run")):
            if name == ".fingerprint":
                continue
            with open(self.path("run", name), "rb") as file:
                self.assertNotIn(run_digest.encode(), file.read(), name)

    def test_a_fingerprint_is_made_with_the_key_alone(self):
        with open(self.path("people.csv"), "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        key = b"a secret of more than 16 bytes\n"
        with open(self.path("key"), "wb") as file:
            file.write(key)
        result = ppan("curve", self.path("job.toml"), "--out", self.path("keyed"), "--points", "1", "--epochs", "1",
                      "--set", "audit.quick=true", "--set", f"data.fingerprint_key={self.path('key')}")
        self.assertEqual(result.returncode, 0, result.stderr)
        expected = hmac.new(key, digest.encode(), hashlib.sha256).hexdigest()
        shown = json.loads(ppan("show", self.path("keyed", "point-01.ppan"), "--json").stdout)
        self.assertEqual(shown["origin"]["data_fingerprint"], expected)
        with open(self.path("keyed", "summary.json")) as file:
            self.assertIn(expected, file.read())
        with open(self.path("key"), "wb") as file:
            file.write(b"short")
        self.assertIn("16", self.refuse(2, "audit", self.path("keyed", "point-01.ppan"), "--data", self.path("others.csv"),
                                        "--quick", "--save", "--fingerprint-key", self.path("key")))

    def test_a_release_of_the_same_people_holds_none_either(self):
        for model in ("model.ppan", os.path.join("run", "unchanged.ppan"), os.path.join("codes", "point-01.ppan")):
            result = ppan("release", self.path(model), self.path("people.csv"), "-o", self.path("same.csv"))
            self.assertEqual(result.returncode, 0, result.stderr)
            with open(self.path("same.csv"), "rb") as file:
                self.assertEqual(self.found_in(file.read()), [], model)
            os.remove(self.path("same.csv"))


if __name__ == "__main__":
    unittest.main()
