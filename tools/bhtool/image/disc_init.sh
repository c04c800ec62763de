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

made=$(stat -c %Y /etc/hostname) # a machine without a clock begins in 1970
[ "$(date +%s)" -ge "$made" ] || date -s "@$made" > /dev/null

if [ -e /var/lib/bulkhead/first-boot ]; then
	log=/var/log/bulkhead-first-boot.log
	packages=$(($(grep -c '^Package:' /var/lib/dpkg/status) + $(find /var/lib/bulkhead/packages -name '*.deb' | wc -l)))
	/usr/lib/bulkhead/first-boot > "$log" 2>&1 < /dev/null &
	while
		echo "bulkhead-debian: first boot: $(grep -c '^Setting up' "$log") of $packages packages are configured"
		sleep 3
		kill -0 $! 2> /dev/null
	do :; done
	if wait $!; then
		rm /var/lib/bulkhead/first-boot
	else
		tail -n 5 "$log"
		echo "bulkhead-debian: packages could not be configured, $log says why; the next boot tries again"
	fi
	sync
fi

busybox ip link set lo up
for card in /sys/class/net/*; do
	card=${card##*/}
	[ "$(cat "/sys/class/net/$card/type")" = 1 ] || continue # ARPHRD_ETHER: neither lo nor a CAN controller
	busybox ip link set "$card" up
	busybox udhcpc -i "$card" -n -t 10 -T 1 -s /usr/lib/bulkhead/dhcp > /dev/null 2>&1 || echo "bulkhead-debian: nobody gives $card an address"
done
cd /root
for word in $(cat /proc/cmdline); do case $word in fetch=*) fetch "${word#fetch=}" /root/file ;; esac; done
[ -e /var/lib/bulkhead/first-boot ] || echo "bulkhead-linux: ready"
while :; do busybox setsid busybox cttyhack bash -i; done
