"""The comparison of two records notices every kind of difference, and the clock is not one."""

import pathlib
import struct
import tempfile
import unittest

from bits import curve_numbers, differences, model_hashes


class Comparison(unittest.TestCase):
    def test_equal_records_have_no_difference(self):
        record = {"a": {"curve": [{"leakage": "0.1"}], "models": {"m": {"file": "0"}}}}
        self.assertEqual(list(differences(record, record)), [])

    def test_a_changed_number_is_named(self):
        self.assertEqual(list(differences({"a": [{"leakage": "0.1"}]}, {"a": [{"leakage": "0.2"}]})),
                         ["/a/0/leakage: 0.1 -> 0.2"])

    def test_a_row_or_model_that_is_missing_is_a_difference(self):
        self.assertEqual(len(list(differences({"a": [1, 2]}, {"a": [1]}))), 1)
        self.assertEqual(len(list(differences({}, {"a": {"m": 1}}))), 1)

    def test_seconds_are_not_recorded(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "curve.csv"
            path.write_text("series,leakage,seconds\nx,0.5,3.1\n")
            self.assertEqual(curve_numbers(path), [{"series": "x", "leakage": "0.5"}])

    def test_the_description_of_a_model_does_not_touch_the_hash_of_its_parameters(self):
        with tempfile.TemporaryDirectory() as directory:
            hashes = []
            for description, parameters in (("{}", b"1"), ("{ }", b"1"), ("{}", b"2")):
                path = pathlib.Path(directory) / "m.ppan"
                path.write_bytes(struct.pack("<Q", len(description)) + description.encode() + parameters)
                hashes.append(model_hashes(path))
            self.assertEqual(hashes[0]["tensors"], hashes[1]["tensors"])
            self.assertNotEqual(hashes[0]["file"], hashes[1]["file"])
            self.assertNotEqual(hashes[0]["tensors"], hashes[2]["tensors"])


if __name__ == "__main__":
    unittest.main()
