"""What every command has in common: help, version, unknown words, exit statuses, broken outputs."""

import re
import signal
import subprocess
import unittest

from support import BINARY, CommandTest, ppan


class Frame(CommandTest):
    def test_version(self):
        self.assertRegex(self.succeed("--version"), r"\Appan \d+\.\d+\.\d+\nwith .*SQLite.*, .*PostgreSQL.*, .*DuckDB.*\n\Z")

    def test_help_goes_to_stdout_and_names_every_command(self):
        text = self.succeed("--help")
        for word in ("theory", "Exit status"):
            self.assertIn(word, text)
        self.assertEqual(self.succeed("-h"), text)

    def test_help_of_each_command_has_examples(self):
        known = re.search(r"known: (.*)\)", self.refuse(2)).group(1).split(", ")
        self.assertIn("theory", known)
        for command in known:
            with self.subTest(command=command):
                self.assertRegex(self.succeed(command, "--help"), r"Examples?:\n +ppan " + command)

    def test_no_command(self):
        self.assertIn("no command given", self.refuse(2))

    def test_unknown_command_suggests_the_nearest(self):
        self.assertEqual(self.refuse(2, "theroy"),
                         "ppan: unknown command 'theroy' (did you mean 'theory'?)\n"
                         "  fix: 'ppan --help' shows what there is\n")

    def test_unknown_command_like_no_other_lists_them(self):
        self.assertIn("(known: ", self.refuse(2, "zzzzzzzzz"))

    def test_unknown_option_suggests_the_nearest(self):
        self.assertIn("unknown option '--versoin' (did you mean '--version'?)", self.refuse(2, "--versoin"))

    def test_a_full_disk_is_an_input_output_error(self):
        with open("/dev/full", "w") as full:
            result = ppan("theory", "--list", stdout=full)
        self.assertEqual(result.returncode, 4)
        self.assertEqual(result.stderr, "ppan: cannot write to standard output: No space left on device\n")

    def test_a_closed_stdout_is_an_input_output_error(self):
        result = subprocess.run(["bash", "-c", f"'{BINARY}' --version >&-"], stderr=subprocess.PIPE, text=True)
        self.assertEqual(result.returncode, 4)
        self.assertIn("Bad file descriptor", result.stderr)

    def test_a_reader_that_leaves_ends_it_silently_by_sigpipe(self):
        for restore in (True, False):  # False: the parent leaves SIGPIPE ignored
            with self.subTest(restore_signals=restore):
                process = subprocess.Popen([BINARY, "theory", "gaussian-scalar", "--points", "200000"],
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, restore_signals=restore)
                process.stdout.read(10)
                process.stdout.close()
                self.assertEqual(process.stderr.read(), b"")
                process.stderr.close()
                self.assertEqual(process.wait(timeout=60), -signal.SIGPIPE)


if __name__ == "__main__":
    unittest.main()
