# SPDX-License-Identifier: Apache-2.0
"""Faults from outside: bits flipped in memory and registers of a machine that runs, and what became of each.

fault, symbols ◄─ stage ◄─ stops (stub), hold ◄─ run ◄─ trial ◄─ series;  regions, verdict ◄─ series
"""
