# SPDX-License-Identifier: Apache-2.0
"""Benchmarks: each module measures one thing on one platform and gives a Result; docs/benchmarks.md says what and how."""
