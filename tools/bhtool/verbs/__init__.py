# SPDX-License-Identifier: Apache-2.0
"""One module a verb. What each does stands here, where the launcher can read it before anything is installed."""

VERBS = {
    "setup": "Install everything this project needs.",
    "run": "Start a machine split into sandboxes and show what they do.",
    "check": "Judge a partition file and show what it gives to whom.",
    "test": "Build and test everything.",
    "oracle": "Prove the tables of a running machine equal to its partition file.",
    "bench": "Measure interrupt paths, start-up and exits.",
    "attack": "Let hostile sandboxes try to break out.",
    "size": "Measure the resident monitors and their tables.",
    "figures": "Write measured figures into the documents.",
    "image": "Write a bootable image.",
    "platforms": "Show which machines there are and what each proves.",
}
LIGHT_VERBS = ("setup", "platforms")  # need no compiler and no emulator
