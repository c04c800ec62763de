# SPDX-License-Identifier: Apache-2.0
"""`bulkhead setup`: the launcher does the work before this package can be loaded; here is only its help."""

import click

from bhtool.errors import BulkheadError, Status


@click.command()
@click.option("--dry-run", is_flag=True, help="Only list what would be installed.")
@click.option("--yes", is_flag=True, help="Do not ask before sudo.")
def setup(dry_run: bool, yes: bool) -> None:
    """Install everything this project needs; does nothing when it is there."""
    raise BulkheadError("start it as `tools/bulkhead setup`", Status.USAGE)
