# SPDX-License-Identifier: Apache-2.0
"""A user's root file system, and kernel modules for it, as an initramfs."""
