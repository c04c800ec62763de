# SPDX-License-Identifier: Apache-2.0
"""BH-I7.tool. Where a source opens its nodes, whatever stands in its texts, its cells and its references."""

import pytest
from bhtool.config.opened import NOWHERE, first_of, opened
from bhtool.config.plan import Location

SOURCE = b"""\
# 5 "mine.dts"
/dts-v1/;
/ {
\tsoc { text = "{ } ; \\" {"; cells = <&{/soc/uart@1} 2>; both:
\t\tone: uart@1 { }; };
\tempty { }; flag;
# 1 "board.dtsi"
\tsoc { spi@2 {
\t}; };
};
&both { child { }; };
&{/soc/uart@1} { other { }; };
&unknown { };
/ { soc { }; };
"""


def at(file: str, line: int) -> Location:
    return Location(file, line)


def test_each_is_found_where_it_is_opened() -> None:
    assert [(path, str(where)) for path, where in opened(SOURCE)] == [
        ("/", "mine.dts:6"),
        ("/soc", "mine.dts:7"),
        ("/soc/uart@1", "mine.dts:8"),
        ("/empty", "mine.dts:9"),
        ("/soc", "board.dtsi:1"),
        ("/soc/spi@2", "board.dtsi:1"),
        ("/soc/uart@1", "board.dtsi:4"),
        ("/soc/uart@1/child", "board.dtsi:4"),
        (NOWHERE, "board.dtsi:5"),
        (f"{NOWHERE}/other", "board.dtsi:5"),
        (NOWHERE, "board.dtsi:6"),
        ("/", "board.dtsi:7"),
        ("/soc", "board.dtsi:7"),
    ]


@pytest.mark.parametrize(
    ("path", "second", "first"),
    [("/soc", at("board.dtsi", 1), at("mine.dts", 7)), ("/soc", at("mine.dts", 7), None), ("/none", at("mine.dts", 7), None)],
)
def test_the_first_is_told_to_the_second(path: str, second: Location, first: Location | None) -> None:
    assert first_of(SOURCE, path, second) == first


def test_what_is_no_source_opens_nothing() -> None:
    assert [path for path, _ in opened(b'# 1 "mine.dts"\n}; }; { x y { }; };\n')] == []
