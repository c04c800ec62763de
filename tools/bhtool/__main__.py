# SPDX-License-Identifier: Apache-2.0
"""`python -m bhtool`: what tools/bulkhead becomes once everything is there."""

from bhtool.cli import main

if __name__ == "__main__":
    main()
