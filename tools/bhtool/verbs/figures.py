# SPDX-License-Identifier: Apache-2.0
"""`bulkhead figures`: the documents' figures from docs/results/."""

import click

from bhtool import paths
from bhtool.documents.figures import DOCUMENTS, Figures, outdated
from bhtool.documents.results import stored
from bhtool.errors import Status
from bhtool.terminal.screen import Screen


@click.command()
@click.option("--check", is_flag=True, help="Change nothing; fail where a document says something else than the results.")
def figures(check: bool) -> Status:
    """Write measured figures into README.md and docs/, from the results that `bench --store` and `size --store` keep."""
    screen = Screen()
    changed = outdated(DOCUMENTS, Figures(stored()))
    for path, text in changed.items():
        if not check:
            path.write_text(text, encoding="utf-8")
        screen.report(f"{path.relative_to(paths.ROOT)}: {'differs from the results' if check else 'written'}")
    return Status.FAILED if check and changed else Status.GOOD
