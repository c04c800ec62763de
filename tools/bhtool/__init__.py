# SPDX-License-Identifier: Apache-2.0
"""The `bulkhead` command. Until build/venv exists only what imports the standard library alone may be used: `provision`."""

VERSION = "0.2.0"
