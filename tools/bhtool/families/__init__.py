# SPDX-License-Identifier: Apache-2.0
"""What the tool has to know of a CPU family, one record for each: a family is a module here and a row in `table`.

A platform says which is its own (`arch` in platform.toml). Nothing else in the tool asks for a family by its name, nor what one is not.
"""
