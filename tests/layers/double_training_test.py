"""The check for training in double reads the guarded blocks and knows the symbols that come from them."""

import unittest

from double_training import guarded_names, uses

SOURCE = """template class Always<double>;
#ifdef PPAN_DOUBLE_TRAINING
template class Budget<double>;
template struct Rows<double>;
template std::unique_ptr<Distortion<double>> make_distortion(Kind, const Attribute<double>&);
template Trained<double> train(const Records<double>&,
                               TrainStart<double>);
#endif
"""


class DoubleTraining(unittest.TestCase):
    def test_names_of_the_guarded_blocks(self):
        self.assertEqual(guarded_names(SOURCE), {"Budget", "Rows", "make_distortion", "train"})
        self.assertEqual(guarded_names("template class Always<double>;\n"), set())

    def test_symbols_that_would_be_missing(self):
        names = guarded_names(SOURCE)
        missing = [
            "ppan::Budget<double>::step(double)",
            "vtable for ppan::Budget<double>",
            "ppan::Trained<double> ppan::train<double>(ppan::Records<double> const&, ppan::TrainStart<double>)",
        ]
        self.assertEqual(uses(missing, names), missing)

    def test_symbols_that_are_always_there(self):
        there = [
            "ppan::Budget<float>::step(float)",
            "ppan::Always<double>::step(double)",
            "ppan::show(ppan::Budget<double> const&)",
            "ppan::Trained<float> ppan::train<float>(ppan::Records<float> const&)",
        ]
        self.assertEqual(uses(there, guarded_names(SOURCE)), [])


if __name__ == "__main__":
    unittest.main()
