# SPDX-License-Identifier: Apache-2.0
"""What `bulkhead test` is made of: which tests run, what they cost, and how they went."""
