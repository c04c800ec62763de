# SPDX-License-Identifier: Apache-2.0
"""A mistake in the running monitor, for the tables beside this file and test_machine_mutations.py."""

from dataclasses import dataclass

from tests.mutation.mutation import Mutation


@dataclass(frozen=True)
class MachineMutation(Mutation):
    """`caught_by` is a row of the table of emulated cases, or another word of one_case.py; `shows` a pattern in the report of its failure.
    `beside`: what else is broken, where one protection stands behind another. The case must pass with these mistakes alone."""

    platform: str
    shows: str
    beside: tuple[Mutation, ...] = ()
