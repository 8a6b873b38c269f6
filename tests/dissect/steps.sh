# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 the libfabric authors.
#
# steps.sh - what the tests of the dissector do with a capture.  Sourced behind tests/tap.sh.

script=$top_builddir/util/dissect/libfabric.lua
captures=$top_srcdir/tests/dissect/captures.py
out=$tap_dir/out

dissect() {	# FILE [ARGUMENT]... - in $out
	"$within" 120 tshark -X lua_script:"$script" -r "$@" > "$out" 2> "$out.err"
	[ $? -eq 0 ] && ! grep -qi "lua.*error\|error.*lua" "$out.err" "$out"
}

bad='ofi.eng.malformed or ofi.tcp.malformed or ofi.rxd.malformed or ofi.udp.malformed or ofi.rxm.malformed or ofi.xnet.malformed or _ws.malformed'

# good NAME FILE - no packet of good traffic is malformed.
good() {
	dissect "$2" -Y "$bad"
	tap "$1: it runs" $? "$out.err"
	[ ! -s "$out" ]
	tap "$1: nothing is malformed" $? "$out"
}

# fields FILE FIELD FILTER - the values, one a line, in $out.
fields() {
	dissect "$1" -Y "$3" -T fields -E occurrence=a -E aggregator=' ' -e "$2"
	tr ' ' '\n' < "$out" | grep . > "$out.values"
	mv "$out.values" "$out"
}

# counts NAME FILE - in $out.counts is what fi_top says of all processes: tshark sees as many bytes in the capture.
counts() {
	dissect "$2" -T pdml && "$PYTHON" "$captures" count "$out.counts" < "$out" > "$out.values" 2>&1
	tap "$1: as many bytes as the library has counted" $? "$out.values"
	sed 's/^/# /' "$out.values"
}

# changes NAME FILE - the capture many times, each time with one change.
changes() {
	"$PYTHON" "$captures" make "$2" "$tap_dir/mut" "${DISSECT_CHANGES:-150}" "${DISSECT_SEED:-1}" > "$out" 2>&1 &&
		dissect "$tap_dir/mut" -T pdml && mv "$out" "$out.pdml" &&
		"$PYTHON" "$captures" judge "$2" "$tap_dir/mut" < "$out.pdml" > "$out" 2>&1
	tap "$1: each change is shown, as malformed or as data" $? "$out"
	tail -n 1 "$out" | sed 's/^/# /'
}
