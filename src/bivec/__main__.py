"""``python -m bivec`` is the command line."""

import sys

from bivec.cli import main

sys.exit(main())
