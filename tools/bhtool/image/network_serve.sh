#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# serve ADDRESS: makes this sandbox the server of the network on eth0. It gives out addresses by DHCP, and files by HTTP on port 8000.
network=${1%.*}
mkdir -p /etc /srv /var/lib/misc
cd /srv || exit
head -c 4000000 /dev/urandom > file
sha256sum file > file.sha256
touch /var/lib/misc/udhcpd.leases
printf 'interface eth0\nstart %s.15\nend %s.99\noption subnet 255.255.255.0\n' "$network" "$network" > /etc/udhcpd.conf
ip addr add "$1/24" dev eth0
ip link set eth0 up
udhcpd
httpd -p 8000 -h /srv
