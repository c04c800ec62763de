# SPDX-License-Identifier: Apache-2.0
"""Protocol buffers, as far as a trace needs them: https://protobuf.dev/programming-guides/encoding, "Message Structure"."""

VARINT, FIXED64, BYTES = 0, 1, 2


class Fixed(int):
    """A number that is written with eight bytes."""


Value = int | str | bytes | Fixed


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1  # of a negative number two's complement
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*found, value))


def field(number: int, value: Value) -> bytes:
    if isinstance(value, Fixed):
        return varint(number << 3 | FIXED64) + value.to_bytes(8, "little")
    if isinstance(value, int):
        return varint(number << 3 | VARINT) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | BYTES) + varint(len(data)) + data


def message(*fields: tuple[int, Value]) -> bytes:
    return b"".join(field(number, value) for number, value in fields)
