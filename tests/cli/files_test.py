"""What every command owes the files around it: inputs survive, outputs are whole, streams may fail."""

import os
import signal
import stat
import subprocess
import time
import unittest

from support import BINARY
from table_support import RunTest, people, ppan, write_csv


def shell(command):
    """A command line with redirections, where PPAN is the command."""
    return subprocess.run(["bash", "-c", command.replace("PPAN", BINARY)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, timeout=300)


class Files(RunTest):
    def setUp(self):
        self.home = os.getcwd()
        os.chdir(self.directory.name)
        self.addCleanup(os.chdir, self.home)

    def bytes_of(self, name):
        with open(name, "rb") as file:
            return file.read()

    def temporaries(self):
        return [name for name in os.listdir(".") if name.startswith(".ppan-") and name.endswith(".tmp")]

    def test_two_names_of_one_file_are_refused(self):
        before = self.bytes_of("people.csv")
        os.symlink("people.csv", "soft.csv")
        os.link("people.csv", "hard.csv")
        os.symlink(".", "here")
        model = os.path.join("run", "point-01.ppan")
        reject = ["--unknown", "reject", "--rejects"]
        for arguments in (["release", model, "people.csv", "-o", "soft.csv"],
                          ["release", model, "people.csv", "-o", "hard.csv"],
                          ["release", model, "people.csv", "-o", "here/people.csv"],
                          ["release", model, "people.csv", "-o", "x.csv", *reject, "here/people.csv"],
                          ["release", model, "people.csv", "-o", "./x.csv", *reject, "x.csv"],
                          ["release", model, "people.csv", "-o", "here/x.csv", *reject, "x.csv"],
                          ["release", model, "people.csv", "-o", model],
                          ["audit", model, "--data", "people.csv", "--json", "soft.csv", "--quick"],
                          ["audit", model, "--data", "people.csv", "--json", "here/" + model, "--quick"],
                          ["init", "people.csv", "-o", "hard.csv", "--force"],
                          ["pick", "run", "--point", "1", "-o", "run/point-02.ppan", "--force"],
                          ["pick", "run", "--point", "1", "-o", "run/curve.csv", "--force"],
                          ["report", "run", "-o", "run/curve.csv"],
                          ["curve", "run/job.toml", "--out", "run", "--force"]):
            with self.subTest(arguments=arguments):
                message = self.refuse(2, *arguments)
                self.assertTrue("is also an input" in message or "same place" in message, message)
        self.assertEqual(self.bytes_of("people.csv"), before)
        self.assertFalse(os.path.exists("x.csv"))
        self.assertEqual(self.temporaries(), [])
        result = shell(f"PPAN release {model} people.csv >> people.csv")
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(self.bytes_of("people.csv"), before)
        for name in ("soft.csv", "hard.csv", "here"):
            os.remove(name)

    def test_a_link_in_the_run_does_not_lead_a_new_run_to_its_data(self):
        os.mkdir("linked")
        os.symlink("../people.csv", "linked/curve.csv")
        before = self.bytes_of("people.csv")
        self.assertIn("is also an input", self.refuse(2, "curve", "job.toml", "--out", "linked", "--force"))
        self.assertEqual(self.bytes_of("people.csv"), before)

    def test_force_removes_nothing_before_the_first_point(self):
        os.makedirs("old", exist_ok=True)
        for name in ("curve.csv", "job.toml", "point-01.ppan", "point-notes.ppan", "metrics.jsonl", "mine.txt"):
            self.write(os.path.join("old", name), "old " + name)
        # The columns fit the job, but nothing can be trained on two rows.
        write_csv("two.csv", people(2))
        with open("job.toml") as file:
            self.write("two.toml", file.read().replace("people.csv", "two.csv"))
        result = ppan("curve", "two.toml", "--out", "old", "--force", "--quiet")
        self.assertNotEqual(result.returncode, 0)
        for name in os.listdir("old"):
            self.assertEqual(self.read("old", name), "old " + name)
        result = ppan("curve", "job.toml", "--out", "old", "--force", "--quiet", "--points", "1", "--epochs", "1", "--set",
                      "audit.quick=true")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.read("old", "mine.txt"), "old mine.txt")
        self.assertEqual(self.read("old", "point-notes.ppan"), "old point-notes.ppan")
        self.assertNotIn("old ", self.read("old", "job.toml")[:4])
        self.assertGreater(len(self.read("old", "metrics.jsonl").splitlines()), 0)

    def test_modes(self):
        os.umask(0o022)
        mode = lambda name: stat.S_IMODE(os.stat(name).st_mode)
        self.assertEqual(mode(self.model), 0o600)
        rows = people(20)
        rows[3]["age"] = "hello"
        table = write_csv("modes.csv", rows)
        ppan("release", self.model, table, "-o", "m-out.csv", "--unknown", "reject", "--rejects", "m-rejects.csv")
        self.assertEqual((mode("m-out.csv"), mode("m-rejects.csv")), (0o644, 0o600))
        os.chmod("m-out.csv", 0o640)
        ppan("release", self.model, self.path("people.csv"), "-o", "m-out.csv")
        self.assertEqual(mode("m-out.csv"), 0o640)

    def test_streams_that_fail(self):
        model = self.model
        release = f"PPAN release {model} people.csv -o streams.csv"
        for command, status in ((f"{release} 2>&-", 0), (f"{release} 2>/dev/full", 0), (f"{release} >&- 2>&-", 0),
                                (f"{release} 2> >(true)", 0), (f"PPAN release {model} people.csv >/dev/full", 4),
                                (f"PPAN release {model} people.csv >&-", 4), (f"PPAN release {model} people.csv >&- 2>&-", 4),
                                (f"PPAN release {model} - <&-", 4), (f"PPAN show {model} >/dev/full", 4),
                                (f"PPAN show {model} >&-", 4), ("PPAN --help >/dev/full", 4),
                                ("PPAN show absent.ppan 2>&-", 4), ("PPAN show absent.ppan 2>/dev/full", 4),
                                ("PPAN nonsense 2>/dev/full", 2)):
            with self.subTest(command=command):
                if os.path.exists("streams.csv"):
                    os.remove("streams.csv")
                result = shell(command)
                self.assertEqual(result.returncode, status, result.stderr)
                if status == 0:
                    text = self.read("streams.csv")
                    self.assertTrue(text.startswith("id,age,job,pay,hours\n"))
                    self.assertEqual(text.count("\n"), 801)
        self.assertEqual(self.temporaries(), [])

    def test_path_errors_are_input_output_errors_that_name_the_path(self):
        os.symlink("loop", "loop")
        model = self.model
        for path, reason in (("x" * 300, "File name too long"), ("loop", "Too many levels of symbolic links"),
                             ("people.csv/x", "Not a directory")):
            for arguments in (["init", path], ["show", path], ["release", model, path], ["release", path, "people.csv"],
                              ["release", model, "people.csv", "-o", path], ["curve", path, "--out", "new"],
                              ["release", model, "people.csv", "--rejects", path], ["pick", "run", "--point", "1", "-o", path],
                              ["init", "people.csv", "-o", path], ["report", "run", "-o", path],
                              ["curve", "job.toml", "--out", path], ["audit", model, "--data", path],
                              ["audit", path, "--data", "people.csv"],
                              ["audit", model, "--data", "people.csv", "--json", path],
                              ["audit", model, "--data", "people.csv", "--out", path],
                              ["audit", "--original", path, "--released", "people.csv", "--sensitive", "ill"],
                              ["paper", "discrete", "--out", path]):
                with self.subTest(arguments=arguments):
                    message = self.refuse(4, *arguments)
                    self.assertIn(path, message)
                    self.assertIn(reason, message)
        for arguments in (["report", "loop"], ["pick", "loop", "--point", "1", "-o", "picked.ppan"]):
            self.assertIn("Too many levels of symbolic links", self.refuse(4, *arguments))
        os.remove("loop")
        self.assertFalse(os.path.exists("new"))

    @unittest.skipIf(os.geteuid() == 0, "nothing is forbidden to root")
    def test_a_directory_without_access(self):
        os.mkdir("closed", 0o000)
        self.addCleanup(os.rmdir, "closed")
        for arguments in (["show", "closed/m.ppan"], ["pick", "closed", "--point", "1", "-o", "m"], ["report", "closed"],
                          ["pick", "run", "--point", "1", "-o", "closed/m"], ["curve", "job.toml", "--out", "closed"]):
            with self.subTest(arguments=arguments):
                self.assertIn("Permission denied", self.refuse(4, *arguments))

    def waiting_release(self, *arguments):
        """A release that has begun its output and waits for more rows."""
        process = subprocess.Popen([BINARY, "release", self.model, "-", *arguments], stdin=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        header, rows = self.bytes_of("people.csv").split(b"\n", 1)
        process.stdin.write(header + b"\n" + 8 * rows)
        process.stdin.flush()
        for _ in range(1000):
            if len(self.temporaries()) == len(arguments) // 2:
                return process
            time.sleep(0.01)
        self.fail("no temporary file appeared")

    def end(self, process):
        process.stdin.close()
        process.stderr.close()
        return process.wait(timeout=60)

    def test_signals_leave_the_old_file_and_no_other(self):
        for kind in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
            with self.subTest(kind=kind):
                self.write("old.csv", "old")
                process = self.waiting_release("-o", "old.csv", "--rejects", "rejects.csv")
                process.send_signal(kind)
                if kind in (signal.SIGTERM, signal.SIGINT):  # the first one asks, the second one ends it
                    process.stderr.readline()
                    process.stderr.readline()
                    process.send_signal(kind)
                # Asked between two parts of the input, it ends by itself; waiting for more, by the second signal.
                self.assertIn(self.end(process), (-kind, 128 + kind) if kind in (signal.SIGTERM, signal.SIGINT) else (-kind,))
                self.assertEqual(self.temporaries(), [])
                self.assertEqual(self.read("old.csv"), "old")
                self.assertFalse(os.path.exists("rejects.csv"))

    def test_what_a_killed_process_left_is_removed_by_the_next(self):
        self.write("old.csv", "old")
        process = self.waiting_release("-o", "old.csv")
        process.kill()
        self.end(process)
        self.assertEqual(len(self.temporaries()), 1)
        self.assertEqual(self.read("old.csv"), "old")
        self.succeed("release", self.model, "people.csv", "-o", "next.csv", "--quiet")
        self.assertEqual(self.temporaries(), [])
        # One that is still at work keeps its file.
        other = self.waiting_release("-o", "other.csv")
        self.succeed("release", self.model, "people.csv", "-o", "next.csv", "--quiet")
        self.assertEqual(len(self.temporaries()), 1)
        self.assertEqual(self.end(other), 0)
        self.assertTrue(os.path.exists("other.csv"))

    def test_a_planted_link_is_not_followed(self):
        """The name of a temporary file cannot be foreseen, and one of the old kind is not opened."""
        self.write("victim.txt", "victim")
        process = self.waiting_release("-o", "t.csv")
        os.symlink("victim.txt", f"t.csv.tmp{process.pid}")
        self.assertEqual(self.end(process), 0)
        self.assertEqual(self.read("victim.txt"), "victim")
        os.remove(f"t.csv.tmp{process.pid}")


if __name__ == "__main__":
    unittest.main()
