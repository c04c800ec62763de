# SPDX-License-Identifier: Apache-2.0
"""What the names of images stand for, and what was meant by one that stands for nothing."""

from pathlib import Path

import pytest
from bhtool.config.payload import NoFile
from bhtool.image.names import Resolver
from bhtool.platforms import load


@pytest.mark.parametrize(
    ("name", "hint"), [("vmlinux", " (did you mean `vmlinuz`?)"), ("mykernel", " (did you mean `my-kernel.elf`?)"), ("zzz", "")]
)
def test_a_name_that_stands_for_nothing(name: str, hint: str, tmp_path: Path) -> None:
    (tmp_path / "my-kernel.elf").touch()
    with pytest.raises(NoFile) as refusal:
        Resolver(load("qemu-aarch64"), tmp_path / "mine.dts", lambda _: None)(name)
    assert refusal.value.hint == hint
