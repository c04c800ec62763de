# SPDX-License-Identifier: Apache-2.0
"""Brings the missing Debian packages: says what and how much, asks, installs. The machine's APT sources stay as they are."""

import hashlib
import os
import shutil
import sys
from pathlib import Path

from bhtool import paths
from bhtool.errors import BulkheadError, Status
from bhtool.provision import sources
from bhtool.provision.apt import PrivateApt
from bhtool.provision.needs import Need, unmet
from bhtool.provision.progress import OneLine
from bhtool.text import counted

# Where a release's own packages are too old: the suite to add, and what to take from it.
NEWER = {"bookworm": ("bookworm-backports", "src:qemu src:seabios src:opensbi")}


def stamp_of(needs: tuple[Need, ...]) -> str:
    """Changes when a need, or a program that met it, changes; much faster than asking each program for its version."""
    text = repr(needs)
    for need in needs:
        found = None if "/" in need.probe else shutil.which(need.probe)
        if found:
            stat = Path(found).stat()
            text += f"{found} {stat.st_size} {stat.st_mtime_ns}\n"
    return hashlib.sha256(text.encode()).hexdigest()


def is_stamped(needs: tuple[Need, ...]) -> bool:
    stamp = paths.BUILD / f"needs-{len(needs)}.stamp"
    return stamp.exists() and stamp.read_text(encoding="ascii") == stamp_of(needs)


def write_stamp(needs: tuple[Need, ...]) -> None:
    paths.BUILD.mkdir(parents=True, exist_ok=True)
    (paths.BUILD / f"needs-{len(needs)}.stamp").write_text(stamp_of(needs), encoding="ascii")


def system_apt() -> PrivateApt:
    """The machine's own release, plus the suite that has what it lacks."""
    distribution, codename = sources.release()
    every = sources.machine_sources()
    own = sources.of_release(every, codename)
    main = sources.main_entry(own, codename)
    if shutil.which("apt-get") is None or distribution not in ("debian", "ubuntu") or main is None:
        raise BulkheadError("packages can be installed only on Debian or Ubuntu with an APT source for its own release", Status.MISSING)
    pins: tuple[tuple[str, str], ...] = ()
    if codename in NEWER:
        suite, packages = NEWER[codename]
        own.append(main.with_suite(suite))
        pins = ((packages, suite),)
    return PrivateApt(paths.cache() / "apt-system", tuple(own), status=Path("/var/lib/dpkg/status"), pins=pins)


def agreed(yes: bool) -> bool:
    if yes or os.environ.get("CI") == "true":
        return True
    if not sys.stdin.isatty():
        return False
    return input("Install them? [y/N] ").strip().lower() in ("y", "yes")


def describe(missing: dict[Need, str]) -> str:
    return ", ".join(dict.fromkeys(f"{need.package} ({why})" for need, why in missing.items()))


def ensure_packages(needs: tuple[Need, ...], yes: bool, dry_run: bool = False) -> None:
    """Installs what is missing or too old, or says in one sentence why that is not possible."""
    if is_stamped(needs):
        return
    missing = unmet(needs)
    if missing:
        offer(missing, yes, dry_run)
        if dry_run:
            return
        still = unmet(needs)
        if still:
            raise BulkheadError(f"still not usable after installing: {describe(still)}; check PATH for older copies", Status.MISSING)
    write_stamp(needs)


def offer(missing: dict[Need, str], yes: bool, dry_run: bool) -> None:
    print(f"Needed from Debian packages: {describe(missing)}", flush=True)
    apt = system_apt()
    names = list(dict.fromkeys(need.package for need in missing))
    with apt.locked():
        apt.prepare()
        print("Reading package lists: private copies; this machine's APT sources stay as they are", flush=True)
        report = OneLine()
        apt.update(report)
        report.end()
        estimate = apt.estimate(names)
        print(f"{counted(len(estimate.packages), 'package')}: {estimate.download} to download, {estimate.disk} on disk", flush=True)
        if dry_run:
            print("  " + " ".join(estimate.packages))
            return
        if os.geteuid() and shutil.which("sudo") is None:
            raise BulkheadError(f"sudo is missing; as root, run: apt-get install {' '.join(names)}", Status.MISSING)
        if not agreed(yes):
            raise BulkheadError("nothing was installed; say yes, or run `tools/bulkhead setup --yes`", Status.MISSING)
        apt.install(names, estimate, report)
        report.end()
