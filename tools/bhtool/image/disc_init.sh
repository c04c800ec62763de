#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The first process of the Debian disc that `bulkhead disk` makes. It never ends.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=vt100 LANG=C.UTF-8
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev 2>/dev/null
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs tmpfs /run
mkdir -p /run/lock
mount -o remount,rw /
hostname -F /etc/hostname

if [ -e /var/lib/bulkhead/first-boot ]; then
	echo "bulkhead-debian: first boot: packages are configured, which takes a while"
	if /usr/lib/bulkhead/first-boot > /var/log/bulkhead-first-boot.log 2>&1 < /dev/null; then
		rm /var/lib/bulkhead/first-boot
	else
		tail -n 5 /var/log/bulkhead-first-boot.log
		echo "bulkhead-debian: packages could not be configured, /var/log/bulkhead-first-boot.log says why; the next boot tries again"
	fi
	sync
fi

busybox ip link set lo up
for card in /sys/class/net/*; do
	card=${card##*/}
	[ "$card" = lo ] && continue
	busybox ip link set "$card" up
	busybox udhcpc -i "$card" -n -t 10 -T 1 -s /usr/lib/bulkhead/dhcp > /dev/null 2>&1 || echo "bulkhead-debian: nobody gives $card an address"
done
cd /root
echo "bulkhead-linux: ready"
while :; do busybox setsid busybox cttyhack bash -i; done
