#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What packages of the Debian disc leave to the machine that they are for: their scripts. May be run again after it failed.
set -e
export DEBIAN_FRONTEND=noninteractive DEBCONF_NONINTERACTIVE_SEEN=true DPKG_MAINTSCRIPT_NAME=preinst
cd /var/lib/dpkg/info
for script in base-passwd.preinst *.preinst; do # base-passwd's makes the users
	package=${script%.preinst}
	DPKG_MAINTSCRIPT_PACKAGE=${package%:*} DPKG_MAINTSCRIPT_ARCH=$(dpkg --print-architecture) "./$script" install
done
dpkg --configure -a
set -- /var/lib/bulkhead/packages/*.deb
if [ -e "$1" ]; then
	dpkg --unpack "$@"
	dpkg --configure -a
	rm "$@"
fi
