# SPDX-License-Identifier: Apache-2.0
"""What tests tell Debian's kernel, so that it boots in 40 % (Bochs) to 90 % (SVM in QEMU) of the time: what it leaves out touches no hardware.

Counted once on GICv3, ARMv7 and SVM, it takes as many exits of each kind with these as without. It boots without them in the partition files users start with: test_oracle.py, test_loaders.py.
"""

from tests.emulated.case import VTX

LEFT_OUT = ("btf_vmlinux_init", "init_kprobe_trace", "cubictcp_register", "crypto_kdf108_init")  # tables of tracers, a self test
LEAN = f"quiet cryptomgr.notests initcall_blacklist={','.join(LEFT_OUT)}"
OF_BOCHS = " clearcpuid=erms,fsrm"  # it executes string instructions one element after the other, so bytes take longest


def lean(platform: str) -> str:
    """The kernel's command line. Documentation/admin-guide/kernel-parameters.txt"""
    return LEAN + (OF_BOCHS if platform == VTX else "")
