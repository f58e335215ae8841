"""ppan show"""

import json
import struct
import unittest

from table_support import RunTest


class Show(RunTest):
    def test_text_tells_what_the_model_is(self):
        text = self.succeed("show", self.model)
        for part in ("sensitive  ill\n", "observed   age, job, pay, hours\n", "releases   id, age, job, pay, hours\n",
                     "leakage    ", "95 % interval", "training   2 epochs", "audit      320 rows", "checksum   sha256 ",
                     "program    ppan ", "bad rows   fail\n", "parameters"):
            self.assertIn(part, text)
        self.assertIn(" bits", self.succeed("show", self.model, "--unit", "bits"))

    def test_json_has_everything(self):
        model = json.loads(self.succeed("show", self.model, "--json"))
        self.assertEqual(model["release"]["columns"], ["id", "age", "job", "pay", "hours"])
        self.assertEqual((model["audited"], model["audit"]["rows"], model["audit"]["quick"]), (True, 320, False))
        self.assertEqual(len(model["checksum"]), 64)
        self.assertEqual(model["origin"]["settings"]["train.epochs"], "2")
        self.assertEqual({c["name"] for c in model["origin"]["columns"]}, {"age", "job", "pay", "hours"})

    def test_files_that_are_no_model(self):
        with open(self.model, "rb") as file:
            good = file.read()
        size = struct.unpack("<Q", good[:8])[0]
        cases = {
            "truncated.ppan": (good[:len(good) // 2], "is not a usable model file"),
            "altered.ppan": (good[:-5] + bytes([good[-5] ^ 1]) + good[-4:], "its checksum does not match"),
            "newer.ppan": (good.replace(b'"version":"1"', b'"version":"9"'), "version 9 of the model format"),
            "foreign.ppan": (good[:8] + b'{"a":1}'.ljust(size) + good[8 + size:], "it has no metadata"),
            "empty.ppan": (b"", "it is too short"),
            "text.ppan": (b"age,job\n1,2\n3,4\n", "is not a usable model file"),
        }
        for name, (contents, part) in cases.items():
            with self.subTest(name=name):
                with open(self.path(name), "wb") as file:
                    file.write(contents)
                self.assertIn(part, self.refuse(3, "show", self.path(name)))
        self.refuse(4, "show", self.path("absent.ppan"))
        self.refuse(4, "show", self.directory.name)


if __name__ == "__main__":
    unittest.main()
