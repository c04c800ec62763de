# SPDX-License-Identifier: Apache-2.0
"""The campaign that tries to break out: docs/attack.md."""
