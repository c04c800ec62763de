# SPDX-License-Identifier: Apache-2.0
"""`bulkhead image`: writes the file that a machine boots."""

from pathlib import Path

import click

from bhtool import paths
from bhtool.errors import BulkheadError, Status
from bhtool.image.formats import FORMATS, possible
from bhtool.image.stages import judged_plan, make_image
from bhtool.platforms import load, names
from bhtool.terminal.screen import Screen
from bhtool.verbs.options import Output, strict_option


@click.command(epilog="Formats: " + "; ".join(f"{name} {text}" for name, text in FORMATS.items()) + ".")
@click.option("--platform", "platform_name", type=click.Choice(names()), required=True, help="For which machine.")
@click.option(
    "--partition", type=click.Path(path_type=Path), default=paths.PARTITIONS / "mixed.dts", help="Who owns what; default: the demo."
)
@click.option("-o", "--output", type=Output(), required=True, help="The file to write.")
@click.option("--format", "form", type=click.Choice(list(FORMATS)), help="Default: what the machine's boot loader takes.")
@strict_option
def image(platform_name: str, partition: Path, output: Path, form: str | None, strict: bool) -> Status:
    """Write a bootable image."""
    screen = Screen()
    platform = load(platform_name)
    choices = possible(platform)
    if form and form not in choices:
        raise BulkheadError(f"{platform.name} does not boot {form} images; choose {' or '.join(choices)}", Status.USAGE)
    with screen.progress("preparing"):
        plan = judged_plan(platform, partition, screen, strict)
        screen.report(f"packing {output.name}")
        content = make_image(platform, plan, form or choices[0])
        output.write_bytes(content)
    screen.summary(f"{output}: {len(content) / (1 << 20):.1f} MiB, {form or choices[0]} image of {plan.file.name} for {platform.name}")
    return Status.GOOD
