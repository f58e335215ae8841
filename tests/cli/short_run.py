"""Makes the short run that tests of several commands copy: short_run.py DIRECTORY"""

import json
import os
import shutil
import sys

from table_support import make_run, make_table

directory = sys.argv[1]
shutil.rmtree(directory, ignore_errors=True)
os.makedirs(directory)
make_table(directory)
printed = make_run(directory)
with open(os.path.join(directory, "printed.json"), "w") as file:
    json.dump(printed, file)
