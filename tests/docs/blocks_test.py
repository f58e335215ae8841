"""The runner of documentation on documents with planted faults."""

import pathlib
import tempfile
import unittest

from blocks import blocks, console_steps, shell_failures, write_cpp_project


class Blocks(unittest.TestCase):
    def test_finds_fences_with_line_numbers_and_strips_indents(self):
        text = "one\n```sh\nls\n```\n\n- item\n  ```cpp\n  int x;\n  ```\n```text\nnot run\n```\n"
        self.assertEqual(list(blocks(text)), [(2, "sh", "ls\n"), (7, "cpp", "int x;\n"), (10, "text", "not run\n")])

    def test_good_blocks_run_and_share_a_directory(self):
        self.assertEqual(shell_failures("doc", "```sh\necho 1 >file\n```\n```sh\ngrep 1 file\n```\n"), ([], 2))

    def test_a_failing_command_anywhere_in_a_block_is_found(self):
        for body in ("false\ntrue", "false | cat", "no-such-command", "echo $undefined_name"):
            with self.subTest(body=body):
                failures, _ = shell_failures("doc", f"text\n```sh\n{body}\n```\n")
                self.assertEqual(len(failures), 1)
                self.assertTrue(failures[0].startswith("doc:2: exit status"))

    def test_a_console_block_compares_output(self):
        self.assertEqual(shell_failures("doc", "```console\n$ echo a\na\n$ printf 'b\\nc\\n'\nb\nc\n```\n"), ([], 1))
        failures, _ = shell_failures("doc", "```console\n$ echo a\nb\n```\n")
        self.assertEqual(len(failures), 1)

    def test_a_command_may_take_several_lines(self):
        self.assertEqual(console_steps("$ echo \\\n> a\na\n"), [["echo \\\na\n", "a\n"]])

    def test_blocks_not_meant_to_run_do_not(self):
        self.assertEqual(shell_failures("doc", "```text\nfalse\n```\n```sh norun\nfalse\n```\n"), ([], 0))

    def test_a_program_per_cpp_block(self):
        with tempfile.TemporaryDirectory() as name:
            directory = pathlib.Path(name)
            document = directory / "doc.md"
            document.write_text("```cpp\nint main() {}\n```\n```cpp norun\nnonsense\n```\n")
            self.assertEqual(write_cpp_project(directory, [document]), 1)
            self.assertIn("int main() {}", (directory / "block_1.cc").read_text())


if __name__ == "__main__":
    unittest.main()
