# SPDX-License-Identifier: Apache-2.0
"""What leaves the clone: the SDK for guests built elsewhere, a folder to begin with, and the command as a package."""
