# SPDX-License-Identifier: Apache-2.0
"""What a fresh clone needs from the machine: Debian packages and a Python environment. Standard library only."""
