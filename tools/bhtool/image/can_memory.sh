#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Kvaser PCIcan cards where kvaser_pci ends its probe with ENODEV: Debian's kernel for ARMv7 maps no I/O port of a PCI function (CONFIG_NO_IOPORT_MAP).
# Such ports are memory all the same, so the driver of SJA1000s in memory takes each card's controller.
[ -d /sys/module/kvaser_pci ] || exit 0
# Of an entry of seven cells, the first begins with 01: I/O ports; the fourth and fifth say where they lie. PCI bus binding, "ranges".
ports=$(hexdump -v -e '28/1 "%02x" "\n"' /proc/device-tree/pci*/ranges 2> /dev/null | sed -n 's/^01.\{22\}\(.\{16\}\).*/\1/p')
[ -n "$ports" ] || exit 0
controllers= lines=
for card in /sys/bus/pci/devices/*; do
	[ "$(cat "$card/vendor")$(cat "$card/device")" = 0x10e80x8406 ] && [ ! -e "$card/driver" ] || continue
	{
		read -r bridge _
		read -r chip _
	} < "$card/resource"
	# The bridge, an AMCC S5920, hands interrupts on: PTCR and INTCSR, as kvaser_pci writes them.
	devmem $((0x$ports + bridge + 0x60)) 32 0x80808080
	devmem $((0x$ports + bridge + 0x38)) 32 0x2000
	controllers=$controllers${controllers:+,}$((0x$ports + chip))
	lines=$lines${lines:+,}$(cat "$card/irq")
done
[ -z "$controllers" ] || modprobe sja1000_isa "mem=$controllers" "irq=$lines"
