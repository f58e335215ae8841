#!/usr/bin/env python3
"""New rows by a synthesizer of SDV, learned from a table: usage: synthesize.py copula|ctgan|tvae TABLE.csv ROWS EPOCHS OUT.csv

Settings are SDV's own; EPOCHS 0 leaves the number of passes to it as well. Every column that is not numeric is a category. Runs in .venv-bench-torch, where
PyTorch is, one thread.
"""

import sys
import warnings

import pandas as pd
import torch
from sdv.metadata import Metadata
from sdv.single_table import CTGANSynthesizer, GaussianCopulaSynthesizer, TVAESynthesizer

warnings.filterwarnings("ignore")
torch.set_num_threads(1)


def main():
    kind, path, rows, epochs, out = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
    frame = pd.read_csv(path, keep_default_na=False)
    columns = {c: {"sdtype": "numerical" if pd.api.types.is_numeric_dtype(frame[c]) else "categorical"} for c in frame}
    metadata = Metadata.load_from_dict({"tables": {"table": {"columns": columns}}})
    make = {"copula": GaussianCopulaSynthesizer, "ctgan": CTGANSynthesizer, "tvae": TVAESynthesizer}[kind]
    synthesizer = make(metadata, **({"epochs": epochs} if epochs and kind != "copula" else {}))
    synthesizer.fit({"table": frame})
    new = synthesizer.sample(rows)
    (new["table"] if isinstance(new, dict) else new).to_csv(out, index=False)


if __name__ == "__main__":
    main()
