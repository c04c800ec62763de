# SPDX-License-Identifier: Apache-2.0
"""The `bulkhead` command. Only `provision`, `paths` and `errors` may be imported before build/venv exists."""

VERSION = "0.1.0"
