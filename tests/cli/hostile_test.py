"""Inputs made to waste time or memory, little memory, and models that lie."""

import gzip
import json
import os
import resource
import shutil
import struct
import subprocess
import threading
import unittest
import hashlib

from support import BINARY
from table_support import RunTest, people, ppan, write_csv


class Hostile(RunTest):
    def setUp(self):
        home = os.getcwd()
        os.chdir(self.directory.name)
        self.addCleanup(os.chdir, home)

    def test_a_small_file_that_unpacks_to_a_large_one(self):
        with gzip.open("bomb.csv.gz", "wb") as file:
            for _ in range(40):
                file.write(b"\n" * (1 << 20))
        self.assertLess(os.path.getsize("bomb.csv.gz"), 100_000)
        small = ["--max-unpacked", "8M"]
        for arguments in (["init", "bomb.csv.gz"], ["release", self.model, "bomb.csv.gz"],
                          ["audit", self.model, "--data", "bomb.csv.gz"],
                          ["audit", "--original", "bomb.csv.gz", "--released", "bomb.csv.gz", "--sensitive", "x"]):
            with self.subTest(arguments=arguments):
                message = self.refuse(3, *arguments, *small)
                self.assertIn("unpacks to more than 8388608 bytes", message)
                self.assertIn("--max-unpacked", message)
        # Nothing but blank lines is no table, which takes one look at each of them.
        self.assertIn("holds no rows", self.refuse(3, "init", "bomb.csv.gz"))

    def test_what_never_ends_is_refused_by_its_first_bytes(self):
        for device in ("/dev/zero", "/dev/urandom"):
            self.assertIn("is not a usable model file", self.refuse(3, "show", device))

    def test_pipes_are_read_once(self):
        os.mkfifo("pipe.csv")
        with open("people.csv") as file:
            text = file.read()

        def feed():
            with open("pipe.csv", "w") as pipe:
                pipe.write(text)

        with open("job.toml") as file:
            self.write("pipe.toml", file.read().replace("people.csv", "pipe.csv"))
        for arguments in (["init", "pipe.csv"], ["release", self.model, "pipe.csv", "--quiet"],
                          ["audit", self.model, "--data", "pipe.csv", "--quick"],
                          ["curve", "pipe.toml", "--out", "piped", "--points", "1", "--epochs", "1", "--quiet", "--set",
                           "audit.quick=true"]):
            with self.subTest(arguments=arguments):
                writer = threading.Thread(target=feed, daemon=True)
                writer.start()
                result = ppan(*arguments)
                writer.join(timeout=60)
                self.assertEqual(result.returncode, 0, result.stderr)
        os.remove("pipe.csv")

    def test_numbers_too_large_for_any_variance_are_named_with_their_place(self):
        rows = people(50)
        rows[6]["pay"] = "1.7e308"
        write_csv("large.csv", rows)
        message = self.refuse(3, "release", self.model, "large.csv", "-o", "large-out.csv")
        self.assertIn('large.csv line 8, column "pay": the cell is too large', message)
        with open("job.toml") as file:
            self.write("large.toml", file.read().replace("people.csv", "large.csv"))
        message = self.refuse(3, "curve", "large.toml", "--out", "large")
        self.assertIn('line 8, column "pay": the cell is too large', message)

    def test_little_memory_is_told_and_never_waited_for(self):
        def limited(megabytes):
            def limit():
                resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
            return limit

        statuses = set()
        for megabytes in (100, 150, 200, 300, 400, 600, 1200):
            for arguments in (["release", self.model, "people.csv", "-o", "limited.csv", "--quiet"], ["show", self.model],
                              ["audit", self.model, "--data", "people.csv", "--quick", "--threads", "1"]):
                with self.subTest(megabytes=megabytes, arguments=arguments):
                    result = subprocess.run([BINARY, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                            stdin=subprocess.DEVNULL, timeout=120, preexec_fn=limited(megabytes))
                    if result.returncode == 127:  # the loader itself had no room for the libraries
                        continue
                    self.assertIn(result.returncode, (0, 4), result.stderr)
                    if result.returncode == 4:
                        self.assertIn("memory", result.stderr)
                    statuses.add(result.returncode)
        self.assertEqual(statuses, {0, 4})
        self.assert_no_leftovers()

    def forge(self, name, change):
        """A copy of the model with another description and a right checksum."""
        with open(self.model, "rb") as file:
            good = file.read()
        size = struct.unpack("<Q", good[:8])[0]
        header = json.loads(good[8:8 + size])
        description = json.loads(header["__metadata__"]["description"])
        change(description)
        header["__metadata__"]["description"] = json.dumps(description)
        header["__metadata__"]["sha256"] = "0" * 64
        text = json.dumps(header, separators=(",", ":")).encode()
        bytes_ = struct.pack("<Q", len(text)) + text + good[8 + size:]
        digest = hashlib.sha256(bytes_).hexdigest().encode()
        with open(name, "wb") as file:
            file.write(bytes_.replace(b'"sha256":"' + b"0" * 64, b'"sha256":"' + digest))
        return name

    def test_labels_do_not_say_what_a_model_does(self):
        def pretend(description):
            description["model"]["components"] = [{"kind": "unchanged", "weight": 1, "label": "point 3: noisy-code\x1b[1A"}]

        with open("run/unchanged.ppan", "rb") as file:
            self.assertTrue(file.read())
        model, self.model = self.model, os.path.abspath("run/unchanged.ppan")
        try:
            forged = self.forge("forged.ppan", pretend)
        finally:
            self.model = model
        text = self.succeed("show", forged)
        self.assertIn('100 % of the rows: released unchanged; labelled "point 3: noisy-code\\x1B[1A"', text)
        self.assertNotIn("\x1b", text)

    def test_signatures(self):
        if shutil.which("openssl") is None:
            self.skipTest("needs the openssl command")
        for name in ("ours", "theirs"):
            subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", f"{name}.pem"], check=True,
                           stderr=subprocess.DEVNULL)
            subprocess.run(["openssl", "pkey", "-in", f"{name}.pem", "-pubout", "-out", f"{name}.pub.pem"], check=True)
        self.succeed("pick", "run", "--point", "1", "--accept-inconclusive", "-o", "signed.ppan", "--sign", "ours.pem")
        text = self.succeed("show", "signed.ppan", "--trust", "ours.pub.pem")
        self.assertIn("signed     with the key ", text)
        self.assertEqual(len(json.loads(self.succeed("show", "signed.ppan", "--json"))["signer"]), 64)
        self.succeed("release", "signed.ppan", "people.csv", "-o", "signed.csv", "--quiet", "--trust", "ours.pub.pem")
        self.assertIn("which is not in theirs.pub.pem", self.refuse(3, "show", "signed.ppan", "--trust", "theirs.pub.pem"))
        self.assertIn("is not signed", self.refuse(3, "release", self.model, "people.csv", "--trust", "ours.pub.pem"))
        self.assertIn("holds no private key", self.refuse(3, "pick", "run", "--point", "1", "--accept-inconclusive", "-o", "x", "--sign", "ours.pub.pem"))
        self.assertIn("No such file", self.refuse(4, "show", "signed.ppan", "--trust", "absent.pem"))
        # Another audit with a right checksum is still not what was signed.
        model, self.model = self.model, "signed.ppan"
        try:
            forged = self.forge("tampered.ppan", lambda description: description["origin"].update(label="better"))
        finally:
            self.model = model
        for arguments in (["show", forged], ["show", forged, "--trust", "ours.pub.pem"], ["release", forged, "people.csv"]):
            self.assertIn("its signature does not match", self.refuse(3, *arguments))


if __name__ == "__main__":
    unittest.main()
