# SPDX-License-Identifier: Apache-2.0
"""`python -m tests.tool.alone MODULE` says "alone" if the module can be loaded where nothing but the standard library is installed."""

import importlib
import sys

if __name__ == "__main__":
    sys.path[:] = [path for path in sys.path if "-packages" not in path]
    importlib.import_module(sys.argv[1])
    print("alone")
