"""`python -m pynested` is the command `pynested`."""

import sys

from pynested.cli import main

sys.exit(main())
