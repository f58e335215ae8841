"""The check of tracked files on a repository with planted faults."""

import os
import pathlib
import tempfile
import unittest

from tracked_files import git, problems


class TrackedFiles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.repository = folder.name
        git(self.repository, "init", "--quiet")
        self.write(".gitignore", "/cache*\n")
        self.write("a.cc", "int a;\n")
        git(self.repository, "add", ".")

    def write(self, name, text):
        pathlib.Path(self.repository, name).write_text(text)

    def test_plain_files_pass(self):
        self.assertEqual(list(problems(self.repository)), [])

    def test_a_link_is_found(self):
        os.symlink("/somewhere/else", pathlib.Path(self.repository, "environment"))
        git(self.repository, "add", "environment")
        self.assertEqual(len(list(problems(self.repository))), 1)

    def test_an_ignored_file_is_found(self):
        self.write("cache.txt", "x\n")
        git(self.repository, "add", "--force", "cache.txt")
        self.assertEqual(len(list(problems(self.repository))), 1)


if __name__ == "__main__":
    unittest.main()
