# SPDX-License-Identifier: Apache-2.0
"""What the build of somebody else's kernel has to know of its sandbox, in the forms that builds take."""
