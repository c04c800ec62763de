# SPDX-License-Identifier: Apache-2.0
"""Which requirement is shown by what, at this commit: docs/requirements.toml, joined with the tests and with how they went."""
