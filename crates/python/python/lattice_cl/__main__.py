"""The program `cr-solve`: `python -m lattice_cl`."""

from __future__ import annotations

import signal
import sys

from . import _native


def main() -> int:
    """Run the program with the arguments of this process, and return its exit status."""
    # Ctrl-C is the program's own.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.run_program(["cr-solve", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
