# SPDX-License-Identifier: Apache-2.0
"""A mistake that no longer fits the sources is noticed at once, not after half an hour of machines."""

from tests.mutation import machine_mutations, test_host_mutations


def test_every_mistake_fits_the_sources() -> None:
    for mutation in (*machine_mutations.MUTATIONS, *test_host_mutations.MUTATIONS):
        mutation.text()
