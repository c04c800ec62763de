#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fetch URL FILE: downloads a file, writes it to a disc, reads it back from there, and compares its sum with that of URL.sha256.
url=$1 file=$2
for turn in $(busybox seq 10); do
	told=$(busybox wget -q -O - "$url.sha256" 2> /dev/null) && break
	sleep 1
done
if [ -z "$told" ]; then
	echo "bulkhead-linux: nobody gives $url.sha256"
	exit 1
fi
size=$(busybox wget -q -O - "$url" | busybox tee "$file" | busybox wc -c)
sync
echo 3 > /proc/sys/vm/drop_caches # so that it comes from the disc
found=$(busybox head -c "$size" "$file" | busybox sha256sum)
if [ "${found%% *}" = "${told%% *}" ]; then
	echo "bulkhead-linux: $size bytes of $url are on $file, and their sum is right"
else
	echo "bulkhead-linux: $size bytes of $url are on $file, and their sum is wrong"
	exit 1
fi
