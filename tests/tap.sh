# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 the libfabric authors.
#
# For tests that are scripts: cases in TAP, one scratch directory, and an end to
# every process that the test started.  Sourced by bash; call tap_end last.

set -u
tap_count=0
tap_bad=0
tap_done=0
tap_pids=()
tap_dir=$(mktemp -d) || exit 1
tap_lib=$top_builddir/src/.libs
within=$(cd "${BASH_SOURCE[0]%/*}" && pwd)/within	# "$within" SECONDS COMMAND...: the limit of a command

tap_cleanup() {
	local pid
	for pid in "${tap_pids[@]}"; do
		kill -TERM "$pid" 2>/dev/null
	done
	for pid in "${tap_pids[@]}"; do
		wait "$pid" 2>/dev/null
	done
	rm -rf "$tap_dir"
}
trap tap_cleanup EXIT
trap 'exit 1' INT TERM

# tap NAME STATUS [DETAIL_FILE] - one case; a failure shows the file.
tap() {
	tap_count=$((tap_count + 1))
	if [ "$2" -eq 0 ]; then
		echo "ok $tap_count - $1"
		tap_done=$((tap_done + 1))
	else
		echo "not ok $tap_count - $1"
		tap_bad=$((tap_bad + 1))
		[ -z "${3:-}" ] || tail -n 30 "$3" | sed 's/^/# /'
	fi
}

tap_skip() {	# name reason
	tap_count=$((tap_count + 1))
	echo "ok $tap_count # SKIP $1: $2"
}

tap_skip_all() {	# reason
	echo "ok 1 # SKIP $1"
	exit 77
}

tap_end() {
	echo "1..$tap_count"
	[ $tap_bad -eq 0 ] || exit 1
	[ $tap_done -gt 0 ] || exit 77
	exit 0
}

# The rest of the test needs the shared library, and programs that know nothing
# of a sanitizer to load it.
tap_need_library() {
	[ -e "$tap_lib/libfabric.so.1" ] || tap_skip_all "built without the shared library"
	! nm -D "$tap_lib/libfabric.so.1" | grep -q ' U __\(asan\|tsan\|ubsan\)_' ||
		tap_skip_all "the library is built with a sanitizer, which other programs lack"
}

tap_need_program() {	# path package
	[ -x "$1" ] || tap_skip_all "$1 is not here (package $2)"
}

# tap_ours COMMAND... - run with our library in place of the system's.
tap_ours() {
	LD_LIBRARY_PATH=$tap_lib "$@"
}

# Waits until a process listens on a TCP port of this host; 1 after ten seconds.
tap_wait_port() {	# port
	local hex i
	hex=$(printf ':%04X ' "$1")
	for i in $(seq 100); do
		awk -v port="$hex" 'index($2 " ", port) && $4 == "0A" { found = 1 }
			END { exit !found }' /proc/net/tcp /proc/net/tcp6 2>/dev/null && return 0
		sleep 0.1
	done
	return 1
}

# A TCP port that nobody uses at the moment.
tap_free_port() {
	local port
	while port=$((20000 + RANDOM % 12000)); do
		grep -qi "$(printf ':%04X ' $port)" /proc/net/tcp /proc/net/tcp6 2>/dev/null ||
			break
	done
	echo "$port"
}
