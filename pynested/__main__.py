"""`python -m pynested` is the command `pynested`."""

import sys

from .cli import main

sys.exit(main())
