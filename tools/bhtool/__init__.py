# SPDX-License-Identifier: Apache-2.0
"""The `bulkhead` command, in rooms: each folder's `__init__.py` says what is in it.

Flat beside the rooms lie what all of them use, and on top of them the ways in: `launch` prepares what a fresh clone lacks and becomes `cli`, which
loads a verb. Until build/venv exists only what imports the standard library alone may be used: `launch`, and what that imports.
"""

VERSION = "0.2.0"

# A module imports from its own room, from rooms to the left of it and from the flat modules; tests/structure/test_rooms.py keeps it so.
ROOMS = (
    *("families", "codes", "terminal", "provision"),
    *("config", "image", "machine", "report"),  # from a partition file to the account of a run
    *(
        "delivery",
        "documents",
        "oracle",
        "debugger",
        "overlay",
        "trace",
        "picture",
        "evidence",
        "testing",
        "attack",
        "faults",
        "bench",
    ),  # each is for a verb or two
    "verbs",
)
WAYS_IN = ("launch", "cli", "commands", "__main__")
