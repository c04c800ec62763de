# SPDX-License-Identifier: Apache-2.0
"""What sandbox kernels did and when: their rings read from the machine's memory, as time lines, for Perfetto and as a picture."""
