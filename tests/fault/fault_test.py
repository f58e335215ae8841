"""A sample of tests/fault/run: the first calls, and some spread over the rest."""

import os
import tempfile
import unittest

from faults import calls, faults_of, prepare


class Faults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.top = tempfile.TemporaryDirectory()
        cls.directory = os.path.join(cls.top.name, "work")
        os.mkdir(cls.directory)
        cls.commands = {command.name: command for command in prepare(cls.directory)}

    @classmethod
    def tearDownClass(cls):
        cls.top.cleanup()

    def inject(self, name, kind, most):
        command = self.commands[name]
        count = calls(self.directory, command, kind)
        self.assertGreater(count, 0)
        # The same numbers every time; an odd stride meets calls of every kind.
        numbers = range(1, count + 1) if count <= most else sorted({1 + i * (count - 1) // (most - 1) for i in range(most)})
        for at in numbers:
            for all_after in (False, True):
                with self.subTest(command=name, kind=kind, at=at, all_after=all_after):
                    self.assertEqual(faults_of(self.directory, command, kind, at, all_after), [])

    def test_release_allocations(self):
        self.inject("release", "allocation", 30)

    def test_release_writes(self):
        self.inject("release", "write", 30)

    def test_show_allocations(self):
        self.inject("show", "allocation", 20)

    def test_show_writes(self):
        self.inject("show", "write", 10)

    def test_pick_allocations(self):
        self.inject("pick", "allocation", 20)

    def test_pick_writes(self):
        self.inject("pick", "write", 20)

    def test_audit_allocations(self):
        self.inject("audit", "allocation", 5)

    def test_audit_writes(self):
        self.inject("audit", "write", 12)

    def test_a_planted_half_file_is_found(self):
        command = self.commands["pick"]
        good = command.reference
        command.reference = good[:-1]  # as if only this were whole
        try:
            self.assertIn("the output is damaged", faults_of(self.directory, command, "write", 10**9))
        finally:
            command.reference = good


if __name__ == "__main__":
    unittest.main()
