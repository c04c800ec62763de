# SPDX-License-Identifier: Apache-2.0
"""The structures of abi/*.h, read from the headers themselves: one source of truth for the monitor, guests and the tool.

`new("bh_table")` makes one, `bytes_of` gives its memory, `lib.BH_PAGE_BYTES` is an enumerator.
"""

import functools
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import cffi

from bhtool.errors import BulkheadError, Status
from bhtool.paths import ROOT

HEADER = ROOT / "abi" / "table.h"  # includes guest.h
COMPILER = "clang-19"


def declarations(header: Path) -> str:
    """What a header declares, and the headers that it includes, as cffi reads it."""
    if not shutil.which(COMPILER):
        raise BulkheadError(f"{COMPILER} is missing; run `tools/bulkhead setup`", Status.MISSING)
    # The guard keeps clang's own stdint.h empty: cffi knows those types already.
    command = [COMPILER, "-E", "-P", "-ffreestanding", "-D__CLANG_STDINT_H", f"-I{ROOT}", "-x", "c", "-"]
    source = f'#include "{header}"\n'
    text = subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout
    text = re.sub(r"_Static_assert\s*\([^;]*\);", "", text)
    return re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE)


def _load() -> tuple[cffi.FFI, Any]:
    loaded = cffi.FFI()
    loaded.cdef(declarations(HEADER))
    return loaded, loaded.dlopen(None)


ffi, lib = _load()


@functools.cache
def enumerators(enum: str) -> dict[int, str]:
    """Value to name for `enum NAME`: {0: "BH_EXIT_KICK", ...}."""
    return dict(ffi.typeof(f"enum {enum}").elements)


def sizeof(structure: str) -> int:
    return int(ffi.sizeof(f"struct {structure}"))


def new(structure: str) -> Any:
    """One zeroed structure; members are attributes."""
    return ffi.new(f"struct {structure} *")


def bytes_of(instance: Any) -> bytes:
    """The memory of one structure made with `new`."""
    return bytes(ffi.buffer(instance))


def view(structure: str, memory: bytes | memoryview, offset: int = 0) -> Any:
    """`struct STRUCTURE` laid over memory at offset; reads what the memory holds then and later."""
    return ffi.from_buffer(f"struct {structure} *", memoryview(memory)[offset : offset + sizeof(structure)])


def text(field: Any) -> str:
    """A NUL-padded name field."""
    return bytes(field).split(b"\0", 1)[0].decode("utf-8", "replace")


def put_text(field: Any, value: str) -> None:
    """Fills a name field; the caller has checked that value and its NUL fit."""
    encoded = value.encode() + b"\0"
    ffi.memmove(field, encoded, len(encoded))


def sizeof_field(structure: str, name: str) -> int:
    """Bytes of one member."""
    return int(ffi.sizeof(dict(ffi.typeof(f"struct {structure}").fields)[name].type))
