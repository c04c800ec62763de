# SPDX-License-Identifier: Apache-2.0
"""BH-F2.network. What network cards and discs are connected to: as it was said, or a sentence that tells what cannot be. docs/commands.md, `run`."""

import os
import socket
import subprocess
import tomllib
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from bhtool import paths
from bhtool.errors import BulkheadError
from bhtool.machine import bochs_network
from bhtool.machine.launch import Launch, Timing
from bhtool.machine.wiring import EMPTY_BYTES, Disc, Network, Wiring, discs_of, networks_of, options, require_ports
from bhtool.platforms import Fitted, Platform, from_toml, load, names

NICS = (Fitted("nic0", "e1000e", "5"), Fitted("nic1", "e1000e", "6"))
DISCS = (Fitted("disk0", "nvme", "7"),)
CANS = (Fitted("can0", "kvaser_pci", "8"), Fitted("can1", "kvaser_pci", "9"))


def fitted(name: str = "qemu-aarch64") -> Platform:
    return replace(load(name), nics=NICS, discs=DISCS, cans=())


def refused(call: Callable[[], object]) -> str:
    with pytest.raises(BulkheadError) as refusal:
        call()
    return str(refusal.value)


def test_a_platform_says_what_it_is_fitted_with() -> None:
    tree = tomllib.loads((paths.PLATFORMS / "qemu-aarch64" / "platform.toml").read_text())
    tree["network"] = {"nics": [{"name": "nic0", "model": "e1000e", "addr": "5"}, {"name": "nic1", "model": "e1000e", "addr": "6"}]}
    tree["storage"] = {"discs": [{"name": "disk0", "model": "nvme", "addr": "7"}]}
    tree["can"] = {
        "controllers": [{"name": "can0", "model": "kvaser_pci", "addr": "8"}, {"name": "can1", "model": "kvaser_pci", "addr": "9"}]
    }
    platform = from_toml("p", tree)
    assert (platform.nics, platform.discs, platform.cans) == (NICS, DISCS, CANS)


def test_a_virtio_card_that_would_go_past_the_iommu_is_refused() -> None:
    """BH-I1.dma."""
    tree = tomllib.loads((paths.PLATFORMS / "qemu-aarch64" / "platform.toml").read_text())
    for given, missing in (("", "iommu_platform=on,disable-legacy=on"), (",iommu_platform=on", "disable-legacy=on")):
        tree["network"] = {"nics": [{"name": "nic0", "model": f"virtio-net-pci{given}", "addr": "1"}]}
        assert f"give it `{missing}` besides (BH-R124)" in refused(lambda: from_toml("p", tree))
    tree["network"] = {"nics": [{"name": "nic0", "model": "virtio-net-pci,disable-legacy=on,iommu_platform=on", "addr": "1"}]}
    assert from_toml("p", tree).nics[0].name == "nic0"


def test_a_platform_without_cards_gets_no_options() -> None:
    for name in names():
        assert options(replace(load(name), nics=(), discs=(), cans=()), Wiring()) == []


@pytest.mark.evidence("BH-F2.can")
def test_can_controllers_are_on_one_bus_without_being_asked_for() -> None:
    assert options(replace(fitted(), nics=(), discs=(), cans=CANS), Wiring()) == [
        *("-object", "can-bus,id=can", "-device", "kvaser_pci,canbus=can,addr=8", "-device", "kvaser_pci,canbus=can,addr=9"),
    ]


def test_what_nobody_connects_has_no_link_and_is_empty() -> None:
    assert options(fitted(), Wiring()) == [
        *("-device", "e1000e,addr=5", "-device", "e1000e,addr=6"),
        *(
            "-blockdev",
            f"driver=null-co,node-name=disk0,size={EMPTY_BYTES},read-zeroes=on",
            "-device",
            "nvme,drive=disk0,serial=disk0,addr=7",
        ),
    ]


@pytest.mark.parametrize(
    ("kinds", "forwards", "expected"),
    [
        (("nic0=user",), (), {"nic0": Network("user")}),
        (("nic0=hub", "nic1=hub"), (), {"nic0": Network("hub"), "nic1": Network("hub")}),
        ((), ("8080:80",), {"nic0": Network("user", ((8080, 80),))}),
        (("nic1=host",), ("nic1=8080:80", "nic1=2222:22"), {"nic1": Network("host", ((8080, 80), (2222, 22)))}),
        (("nic0=none",), (), {"nic0": Network("none")}),
    ],
)
def test_networks_are_as_they_were_said(kinds: tuple[str, ...], forwards: tuple[str, ...], expected: dict[str, Network]) -> None:
    assert networks_of(fitted(), kinds, forwards, ()) == expected


def netdevs(wiring: Wiring) -> list[str]:
    given = options(fitted(), wiring)
    return [given[at + 1] for at, word in enumerate(given) if word == "-netdev"]


def test_nothing_leads_outside_but_for_who_asks() -> None:
    assert netdevs(Wiring({"nic0": Network("user")})) == ["user,id=nic0,restrict=on"]
    assert netdevs(Wiring({"nic0": Network("user", ((8080, 80),))})) == ["user,id=nic0,restrict=on,hostfwd=tcp:127.0.0.1:8080-10.0.2.15:80"]
    assert netdevs(Wiring({"nic0": Network("host")})) == ["user,id=nic0,restrict=off"]


def test_nothing_leads_outside_of_bochs_but_for_who_asks() -> None:
    """Files of the host, either: slirp serves them by TFTP from the folder that stands for the device."""

    def told(network: Network) -> tuple[str, list[str]]:
        with ExitStack() as stack:
            launch = Launch(load("bochs-vtx"), 0, 0, b"", "kernel", Timing(), (), stack, {}, Wiring({"nic0": network}))
            (slot, card), files = bochs_network.lines(launch)
            assert slot == "pci: slot2=ne2k"
            assert card.startswith("ne2k: card=0, type=pci, mac=52:54:00:12:34:56, ethmod=")
            scripts = [os.pread(file, 1000, 0).decode() for file in files]
            assert all(f"script=/proc/self/fd/{file}" in card for file in files)
        return card.partition("ethmod=")[2].partition(", script")[0], "".join(scripts).splitlines()

    assert told(Network()) == ("null", [])
    always = ["# slirp config", "ipv6_enabled = 0"]
    ports = ((8080, 80), (2222, 22))
    for network, restricted in ((Network("user", ports), 1), (Network("host", ports), 0)):
        module, lines = told(network)
        assert module == "slirp, ethdev=/dev/null"
        forwards = ["hostfwd = tcp:127.0.0.1:8080-10.0.2.15:80", "hostfwd = tcp:127.0.0.1:2222-10.0.2.15:22"]
        assert sorted(lines) == sorted([*always, f"restricted = {restricted}", *forwards])


def test_cards_that_nobody_connects_share_no_hub(tmp_path: Path) -> None:
    """Each has one of its own where a file takes what it sends."""
    alone = netdevs(Wiring({"nic0": Network(pcap=tmp_path / "a"), "nic1": Network(pcap=tmp_path / "b")}))
    together = netdevs(Wiring({"nic0": Network("hub"), "nic1": Network("hub")}))
    hubs = [[one.rpartition("=")[2] for one in group] for group in (alone, together)]
    assert len(set(hubs[0])) == 2
    assert len(set(hubs[1])) == 1
    assert not {"0", *hubs[1]} & set(hubs[0])
    assert "0" not in hubs[1]


@pytest.mark.parametrize(
    ("kinds", "forwards", "pcaps", "words"),
    [
        (("nic0",), (), (), "write NIC=KIND, such as nic0=user"),
        (("nic2=user",), (), (), "there is no 'nic2'; there are nic0, nic1"),
        (("nic0=bridge",), (), (), "there is no network 'bridge'; there are none, hub, user, host"),
        (("nic0=hub", "nic0=user"), (), (), "names nic0 twice"),
        ((), ("80",), (), "two ports from 1 to 65535"),
        ((), ("0:80",), (), "two ports from 1 to 65535"),
        ((), ("8080:65536",), (), "two ports from 1 to 65535"),
        ((), ("8080:80,restrict=off",), (), "two ports from 1 to 65535"),
        ((), ("8080:80", "nic1=8080:81"), (), "names port 8080 of this host twice"),
        (("nic0=hub",), ("8080:80",), (), "nic0 is connected to hub; give it --network nic0=user"),
        ((), (), ("/no/such/folder/file",), "/no/such/folder/file cannot be written"),
        ((), (), ("/",), "/ cannot be written"),
        ((), (), ("nic9=file",), "there is no 'nic9'"),
        ((), (), ("same", "nic1=same"), "twice"),
    ],
)
def test_what_cannot_be_is_refused(kinds: tuple[str, ...], forwards: tuple[str, ...], pcaps: tuple[str, ...], words: str) -> None:
    assert words in refused(lambda: networks_of(fitted(), kinds, forwards, pcaps))


def test_a_platform_without_a_card_or_a_disc_is_named() -> None:
    bare = replace(load("bochs-vtx"), nics=(), discs=())
    for options_given in ((("nic0=user",), (), ()), ((), ("8080:80",), ()), ((), (), ("file",))):
        assert refused(lambda given=options_given: networks_of(bare, *given)) == "bochs-vtx has no network card"  # type: ignore[misc]
    assert refused(lambda: discs_of(bare, ("disk0=debian",))) == "bochs-vtx has no disc"
    assert networks_of(bare, (), (), ()) == {}
    assert discs_of(bare, ()) == {}


@pytest.mark.parametrize(
    ("kinds", "forwards", "pcaps", "words"),
    [
        (("nic0=hub",), (), (), "--network nic0=hub: Bochs has no hub; there are none, user, host"),
        ((), (), ("frames.pcap",), "Bochs writes no file for Wireshark"),
        ((), tuple(f"{8080 + n}:80" for n in range(6)), (), "Bochs forwards 5 ports of nic0 at most"),
    ],
)
def test_what_bochs_cannot_do_is_refused(
    kinds: tuple[str, ...], forwards: tuple[str, ...], pcaps: tuple[str, ...], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert words in refused(lambda: networks_of(load("bochs-vtx"), kinds, forwards, pcaps))
    assert networks_of(load("bochs-vtx"), ("nic0=host",), ("8080:80",), ()) == {"nic0": Network("host", ((8080, 80),))}


def test_a_port_that_is_taken_is_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        networks = {"nic0": Network("user", ((port, 80),))}
        assert refused(lambda: require_ports(networks)) == (
            f"port {port} of this host cannot be forwarded to nic0: another program has it; choose another"
        )
    require_ports(networks)


def test_a_disc_is_a_file_of_whole_sectors(tmp_path: Path) -> None:
    file = tmp_path / "disc.img"
    file.write_bytes(bytes(1024))
    assert discs_of(fitted(), (f"disk0={file}",)) == {"disk0": str(file)}
    assert discs_of(fitted(), ("disk0=debian",)) == {"disk0": "debian"}
    assert "there is no file" in refused(lambda: discs_of(fitted(), (f"disk0={tmp_path / 'none'}",)))
    assert "there is no file" in refused(lambda: discs_of(fitted(), (f"disk0={tmp_path}",)))
    assert "names disk0 twice" in refused(lambda: discs_of(fitted(), ("disk0=debian", f"disk0={file}")))
    assert "there is no 'disk1'" in refused(lambda: discs_of(fitted(), ("disk1=debian",)))
    for size in (0, 1000):
        file.write_bytes(bytes(size))
        assert "a disc has whole sectors of 512 bytes" in refused(lambda: discs_of(fitted(), (f"disk0={file}",)))


def test_a_comma_in_a_name_is_no_option(tmp_path: Path) -> None:
    file, pcap = tmp_path / "a,readonly=on", tmp_path / "b,c"
    given = options(fitted(), Wiring({"nic0": Network("user", pcap=pcap)}, {"disk0": Disc(file, forgets=True)}))
    assert f"if=none,id=disk0,format=raw,file={tmp_path}/a,,readonly=on,snapshot=on" in given
    assert f"filter-dump,id=nic0-dump,netdev=nic0,file={tmp_path}/b,,c" in given


@pytest.mark.parametrize("name", ["qemu-aarch64", "qemu-armv7", "qemu-svm"])
def test_the_emulator_takes_the_options(name: str, tmp_path: Path) -> None:
    """All of them at once; it is asked to end before the first instruction."""
    file, pcap = tmp_path / "d,isc", tmp_path / "frames,pcap"
    file.write_bytes(bytes(1 << 20))
    platform = replace(fitted(name), cans=CANS)
    wirings = (
        Wiring(),
        Wiring({"nic0": Network("user", pcap=pcap), "nic1": Network("host")}, {"disk0": Disc(file)}),
        Wiring({"nic0": Network("hub"), "nic1": Network("hub", pcap=pcap)}, {"disk0": Disc(file, forgets=True)}),
    )
    for wiring in wirings:
        arguments = [one.replace("memory-backend=ram", "usb=off") for one in platform.emulator.arguments if ",chardev=" not in one]
        arguments = [one for at, one in enumerate(arguments) if not (one == "-device" and arguments[at + 1 : at + 2] == ["-device"])]
        command = [
            platform.emulator.program,
            *arguments,
            *options(platform, wiring),
            "-S",
            "-nodefaults",
            "-display",
            "none",
            "-monitor",
            "stdio",
        ]
        ended = subprocess.run(command, input="quit\n", capture_output=True, text=True, timeout=60, check=False)
        assert ended.returncode == 0, ended.stderr


def test_who_talks_to_the_host_follows_its_time() -> None:
    assert [Wiring({"nic0": Network(kind)}).follows_host for kind in ("none", "hub", "user", "host")] == [False, False, True, True]


def test_names_are_told_apart_from_ports_and_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert networks_of(fitted(), (), (), ("frames.pcap", "nic1=other.pcap")) == {
        "nic0": Network(pcap=tmp_path / "frames.pcap"),
        "nic1": Network(pcap=tmp_path / "other.pcap"),
    }
