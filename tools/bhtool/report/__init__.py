# SPDX-License-Identifier: Apache-2.0
"""What a run or a check has to tell: on the screen while it goes on, as summaries and places of crashes at its end, and the same as JSON."""
