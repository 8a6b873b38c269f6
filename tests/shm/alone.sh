# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 the libfabric authors.
#
# For tests of what processes leave behind: namespaces of their own, where nobody else
# has files in /dev/shm, sockets or processes.  Sourced after tap.sh.

# alone_enter ARGUMENT... - run this script again in namespaces of its own.  Returns 0 in
# there, 1 where there can be none.
alone_enter() {
	local flags
	[ -z "${SHM_TEST_ALONE:-}" ] || return 0
	for flags in -mnp -Urmnp; do
		unshare $flags --fork --mount-proc mount -t tmpfs -o size=1m none /dev/shm \
			2>/dev/null || continue
		rm -rf "$tap_dir"
		SHM_TEST_ALONE=$flags exec unshare $flags --fork --kill-child --mount-proc \
			"$BASH" "$0" "$@"
	done
	return 1
}

# alone_prepare - the namespaces are ours: a /dev/shm of 1 MB, the loopback, a TMPDIR.
alone_prepare() {
	mount -t tmpfs -o size=1m none /dev/shm || return 1
	ip link set lo up 2>/dev/null
	export TMPDIR=$tap_dir/tmp
	mkdir "$TMPDIR"
}

# alone_left - print what is left: files, sockets with names, processes.
alone_left() {
	find /dev/shm "$TMPDIR" -mindepth 1
	awk 'NR > 1 && NF > 7 { print "socket " $8 }' /proc/net/unix
	grep -lsE '^(lt-)?(crowd|kill|near|forbid|api_test)' /proc/[0-9]*/comm
}

# alone_clean - nothing is left.  What was killed may take a while to go.
alone_clean() {
	local i
	for i in $(seq 600); do
		[ -n "$(alone_left)" ] || return 0
		sleep 0.1
	done
	alone_left
	return 1
}
