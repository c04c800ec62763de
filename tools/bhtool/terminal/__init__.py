# SPDX-License-Identifier: Apache-2.0
"""The user's terminal: what may be written to it, the lines that scroll, the rows at its end that stay, and the log of all of it."""
