# SPDX-License-Identifier: Apache-2.0
"""Kinds of values that several verbs take."""

import math
import os
from pathlib import Path
from typing import Any

import click

strict_option = click.option("--strict", is_flag=True, help="Refuse a partition file that there are warnings about.")


class Seconds(click.FloatRange):
    """A number: neither infinity nor what is none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        seconds = float(super().convert(value, param, ctx))
        if not math.isfinite(seconds):
            self.fail(f"{value} is no number of seconds", param, ctx)
        return seconds


class Output(click.Path):
    """A file to be written when the work is done: that it can be is seen before."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, dir_okay=False, writable=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if not path.parent.is_dir():
            self.fail(f"there is no directory {path.parent}", param, ctx)
        if not os.access(path.parent, os.W_OK):
            self.fail(f"nothing can be written to {path.parent}", param, ctx)
        return path
