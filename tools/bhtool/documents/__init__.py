# SPDX-License-Identifier: Apache-2.0
"""What is measured or counted and stands in documents: stored results, the figures made of them, lines of source, pictures of a terminal."""
