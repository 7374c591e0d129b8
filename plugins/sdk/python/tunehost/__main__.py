"""python -m tunehost is the program tunehost."""

import sys

from ._binary import run

run(sys.argv[1:])
