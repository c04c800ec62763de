# SPDX-License-Identifier: Apache-2.0
"""A machine that runs: an emulator started and watched through its RAM and serial lines, its consoles, its clock, and a run as events.

launch ◄─ qemu | bochs ◄─ emulated ◄─ session ◄─ goal, dialogue, attach
"""
