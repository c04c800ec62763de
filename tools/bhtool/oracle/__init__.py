# SPDX-License-Identifier: Apache-2.0
"""The table oracle: what the processors of a running machine are told to allow, decoded by the manuals, against the partition file.

    snapshot ─► svm | vmx | arm ─► walk (ept | npt | stage2), bitmaps ─┐
    partition file ─► policy, msrs ────────────────────────────────────┴─► judge ─► findings

Shares no constant with hal/, abi/ or the stages of the compiler that make the monitor's table. docs/oracle.md
"""
