# SPDX-License-Identifier: Apache-2.0
"""The files that a sandbox names, read: an image as it is; an initrd as it is, or packed out of a directory or a tar, with kernel modules after it."""

from __future__ import annotations

from pathlib import Path

from bhtool.config.bounded import IMAGE_BYTES, Unbounded, read_bounded
from bhtool.config.domains import Sandbox
from bhtool.config.payload import NoFile, NotYet, PayloadError, Resolve
from bhtool.config.rootfs.contents import only_linux_opens
from bhtool.config.rootfs.entries import Unpackable, read_tree
from bhtool.config.rootfs.listing import names_in
from bhtool.config.rootfs.modules import BAD_STORE, OWN, Index, index_of, modules_archive, plain_name, with_own
from bhtool.config.rootfs.pack import archive_of, complete, compressed
from bhtool.config.vcpus import is_provided_kernel
from bhtool.text import did_you_mean

NO_FILE, UNPACKABLE, OTHER_KERNEL, NO_MODULE = "BH-R060", "BH-R067", "BH-R068", "BH-R069"
INITRD, MODULES, STORE = "initrd", "modules", ".modules"  # vmlinuz.modules: those of the kernel vmlinuz
OWN_MODULE = f".{OWN}.ko"  # vmlinuz.bulkhead.ko: built for the kernel vmlinuz
KERNEL = "vmlinuz"  # the tool provides it, PACKAGE/vmlinuz out of a `kernel-package`


def read_file(resolve: Resolve, sandbox: Sandbox, name: str) -> bytes:
    """The file a property names; nothing if there is no such property. Raises PayloadError."""
    return _read(resolve, sandbox, name, packs=False)[0]


def missing_image(resolve: Resolve, sandbox: Sandbox) -> PayloadError | None:
    """What is wrong with the name of a sandbox's image, if nobody knows a file of that name. Fetches and makes nothing for images of the tool's own."""
    image = sandbox.node.text("image")
    if not image or is_provided_kernel(image, Path(sandbox.where("image").file)):
        return None
    try:
        resolve(kernel_name(sandbox))
    except NotYet:
        return None
    except FileNotFoundError as error:
        return _no_file(sandbox, "image", error)
    return None


def _no_file(sandbox: Sandbox, name: str, error: FileNotFoundError) -> PayloadError:
    hint = error.hint if isinstance(error, NoFile) else ""
    return PayloadError(NO_FILE, f"there is no file `{sandbox.node.text(name)}`{hint} for `{sandbox.name}`", name)


def read_initrd(resolve: Resolve, sandbox: Sandbox) -> bytes:
    """With the modules the sandbox names. Raises PayloadError."""
    data, names = _read(resolve, sandbox, INITRD, packs=True)
    modules = sandbox.node.properties[MODULES].strings if MODULES in sandbox.node.properties else []
    if not modules:
        return data
    return data + bytes(-len(data) % 4) + _modules(resolve, sandbox, modules, _top(sandbox, data, names))


def kernel_name(sandbox: Sandbox) -> str:
    """What its image is looked for as."""
    image = sandbox.node.text("image")
    return f"{sandbox.kernel_package}/{image}" if sandbox.kernel_package and image == KERNEL else image


def _read(resolve: Resolve, sandbox: Sandbox, name: str, packs: bool) -> tuple[bytes, set[str] | None]:
    """And what is in it, where it was packed here."""
    file = sandbox.node.text(name)
    if not file:
        return b"", None
    try:
        path = resolve(kernel_name(sandbox) if name == "image" else file)
        entries = read_tree(path) if packs else None
        if entries is None:
            return read_bounded(path, IMAGE_BYTES), None
        entries = complete(entries, starts_elsewhere="rdinit=" in sandbox.bootargs)
        return compressed(archive_of(entries)), {one.name for one in entries}
    except NotYet as absent:
        absent.property = name
        raise
    except FileNotFoundError as error:
        raise _no_file(sandbox, name, error) from error
    except OSError as error:
        raise PayloadError(NO_FILE, f"`{file}` for `{sandbox.name}` cannot be read ({error.strerror})", name) from error
    except Unpackable as error:
        raise PayloadError(UNPACKABLE, f"`{file}` for `{sandbox.name}` {error}", name) from error
    except Unbounded as error:
        raise PayloadError(NO_FILE, f"`{file}` for `{sandbox.name}` {error}", name) from error


def _top(sandbox: Sandbox, data: bytes, names: set[str] | None) -> set[str]:
    """What the root file system has, so that nothing of it is replaced: /lib may be a link."""
    found = names_in(data) if names is None else names
    if found is None:
        why = "it is no cpio archive, plain or compressed by gzip, xz or bzip2"
        if compression := only_linux_opens(data):
            why = f"it is compressed by {compression}, so what it holds already is not seen here; compress it by gzip, xz or bzip2"
        raise PayloadError(UNPACKABLE, f"modules cannot go after `{sandbox.node.text(INITRD)}` of `{sandbox.name}`: {why}", MODULES)
    return found


def _modules(resolve: Resolve, sandbox: Sandbox, modules: list[str], there: set[str]) -> bytes:
    kernel = sandbox.node.text("image")
    try:
        store = resolve(kernel_name(sandbox) + STORE)
    except NotYet as absent:
        absent.property = MODULES
        raise
    except FileNotFoundError as error:
        raise PayloadError(
            OTHER_KERNEL, f"the kernel `{kernel}` of `{sandbox.name}` is not the tool's, whose modules are known", MODULES
        ) from error
    try:
        index = index_of(store)
    except BAD_STORE as error:
        text = f"`{kernel}{STORE}`, where the modules of `{sandbox.name}` are looked for, is no store of a kernel's modules"
        raise PayloadError(OTHER_KERNEL, text, MODULES) from error
    own = resolve(kernel_name(sandbox) + OWN_MODULE).read_bytes() if OWN in map(plain_name, modules) else b""
    index = with_own(index, own)
    for name in modules:
        if index.find(name) is None:
            raise PayloadError(NO_MODULE, _unknown(name, index), MODULES)
    try:
        return compressed(modules_archive(store, modules, there, own))
    except Unbounded as error:
        raise PayloadError(NO_MODULE, f"`{sandbox.name}` {error}", MODULES) from error


def _unknown(name: str, index: Index) -> str:
    return f"the kernel {index.version} has no module `{name}`{did_you_mean(name, [*index.known, OWN])}"
