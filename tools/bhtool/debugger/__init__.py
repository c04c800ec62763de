# SPDX-License-Identifier: Apache-2.0
"""A sandbox as gdb sees it: only its cores are threads, addresses are the guest's, and only its own stops stop it.

gdb ──► server ──► live ──► QEMU's debugger port      live: a machine of QEMU, started and stopped as gdb says
               └─► record ──► RAM file                record: a sandbox that has ended; also on Bochs, which has no such port
memory and layout serve both.
"""
