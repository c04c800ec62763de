# SPDX-License-Identifier: Apache-2.0
"""A mistake that no longer fits the sources is noticed at once, not after half an hour of machines."""

from collections import Counter

from tests.litmus import test_litmus
from tests.mutation import machine_mutations, test_host_mutations
from tests.mutation.rows_linux_module import MODULE_ROWS, REQUEST_ROWS
from tests.proof import test_channel_ends


def test_every_mistake_fits_the_sources() -> None:
    of_proofs = (mistake for _, mistake in (*test_litmus.MISTAKES, *test_channel_ends.MISTAKES))
    for mutation in (*machine_mutations.MUTATIONS, *test_host_mutations.MUTATIONS, *MODULE_ROWS, *REQUEST_ROWS, *of_proofs):
        for one in (mutation, *getattr(mutation, "beside", ())):
            one.text()


def test_every_mistake_has_a_name_of_its_own() -> None:
    """Results are kept by it: pytest numbers what shares a name, and the numbers move when a row is added."""
    on_machines = Counter((one.platform, one.what) for one in machine_mutations.MUTATIONS)
    on_the_host = Counter(one.what for one in test_host_mutations.MUTATIONS)
    assert [name for names in (on_machines, on_the_host) for name, count in names.items() if count > 1] == []
