#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What busybox' udhcpc calls with what it was told by DHCP.
case $1 in
deconfig)
	busybox ip addr flush dev "$interface"
	;;
bound | renew)
	busybox ip addr flush dev "$interface"
	busybox ip addr add "$ip/${mask:-24}" dev "$interface"
	[ -z "$router" ] || busybox ip route add default via "${router%% *}" dev "$interface"
	for server in $dns; do echo "nameserver $server"; done > /etc/resolv.conf
	;;
esac
