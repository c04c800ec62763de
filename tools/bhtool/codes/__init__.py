# SPDX-License-Identifier: Apache-2.0
"""What every code that the tool or a monitor shows stands for: rules, invariants, crash and exit reasons, states, results, calls, statuses.

Everything here is read from text (tables in Python, abi/guest.h, docs/invariants.md): it needs no compiler, no build and no emulator.
"""
