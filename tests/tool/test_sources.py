# SPDX-License-Identifier: Apache-2.0
"""Reading APT source entries as people write them."""

from pathlib import Path

from bhtool.provision.sources import Source, machine_sources, main_entry, of_release, parse_deb822, parse_one_line

DEB822 = """\
# the release
Types: deb deb-src
# a comment inside a stanza
URIs: http://mirror.invalid/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://mirror.invalid/off
Suites: bookworm
Enabled: no

Types: deb
URIs: http://third.invalid
Suites: nodistro
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 -----END PGP PUBLIC KEY BLOCK-----
"""
ONE_LINE = """\
deb http://mirror.invalid/debian trixie main # the release
deb [arch=amd64 signed-by=/k.gpg] http://mirror.invalid/debian trixie-updates main contrib
deb-src http://mirror.invalid/debian trixie main
# deb http://off.invalid trixie main
"""


def test_deb822() -> None:
    release, third = parse_deb822(DEB822)
    assert release.uris == "http://mirror.invalid/debian"
    assert release.suites == ("bookworm", "bookworm-updates")
    assert release.signed_by.endswith("keyring.gpg")
    assert "BEGIN PGP" in third.signed_by
    assert parse_deb822(third.deb822()) == [third], "a copy says the same"


def test_one_line() -> None:
    assert parse_one_line(ONE_LINE) == [
        Source("http://mirror.invalid/debian", ("trixie",), "main"),
        Source("http://mirror.invalid/debian", ("trixie-updates",), "main contrib", "/k.gpg"),
    ]


def test_third_parties_and_backports_stay_out() -> None:
    found = parse_deb822(DEB822) + parse_one_line(
        "deb http://m.invalid bookworm-backports main\ndeb http://m.invalid cloud-bookworm main\n"
    )
    assert [source.suites for source in of_release(found, "bookworm")] == [("bookworm", "bookworm-updates")]


def test_another_suite_of_the_same_mirror(tmp_path: Path) -> None:
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list").write_text(ONE_LINE)
    (tmp_path / "sources.list.d" / "a.sources").write_text(DEB822)
    (tmp_path / "sources.list.d" / "ignored.save").write_text(ONE_LINE)
    found = machine_sources(tmp_path)
    assert len(found) == 4
    entry = main_entry(found, "bookworm")
    assert entry is not None
    copy = entry.with_suite("bookworm-backports")
    assert (copy.uris, copy.suites, copy.components, copy.signed_by) == (entry.uris, ("bookworm-backports",), "main", entry.signed_by)
    assert main_entry(found, "sid") is None
