"""Drives the real binary."""

import os
import subprocess
import unittest

BINARY = os.environ["PPAN_BINARY"]


def ppan(*arguments, **options):
    """Runs ppan; stdout and stderr come back apart, as text."""
    options.setdefault("stdout", subprocess.PIPE)
    return subprocess.run([BINARY, *arguments], stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                          timeout=300, **options)


class CommandTest(unittest.TestCase):
    maxDiff = None

    def succeed(self, *arguments):
        """Standard output of a command that must succeed and say nothing on stderr."""
        result = ppan(*arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""), f"ppan {' '.join(arguments)}")
        return result.stdout

    def refuse(self, status, *arguments):
        """Standard error of a command that must fail with `status` and print nothing on stdout."""
        result = ppan(*arguments)
        self.assertEqual((result.returncode, result.stdout), (status, ""), f"{result.stderr}")
        self.assertTrue(result.stderr.startswith("ppan: "), result.stderr)
        return result.stderr
