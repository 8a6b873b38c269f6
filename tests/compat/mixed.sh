# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 the libfabric authors.
#
# For tests in which one side runs over this library and the other over Debian's
# libfabric 1.17: the same programs, built for that one, which run on both.
# Sourced after tests/tap.sh.

mixed_pp=/usr/bin/fi_pingpong
mixed_address=127.0.0.1	# of the server
mixed_device=()		# options of fi_pingpong's server
mixed_options=()	# of runfabtests
mixed_theirs=		# what Debian's library calls the provider, where the names differ

# Ends the test where a part is missing.  Sets mixed_old_so and mixed_include.
mixed_need() {
	local version
	tap_need_library
	version=$(env -u PKG_CONFIG_PATH pkg-config --modversion libfabric 2> /dev/null)
	case $version in
	1.17.*) ;;
	*) tap_skip_all "libfabric-dev 1.17 is not installed (found: ${version:-none})" ;;
	esac
	mixed_old_so=$(ldconfig -p | sed -n 's/.*libfabric\.so\.1 .*=> //p' | head -n 1)
	[ -n "$mixed_old_so" ] || tap_skip_all "no other libfabric on this machine (package libfabric1)"
	mixed_include=$(env -u PKG_CONFIG_PATH pkg-config --variable=includedir libfabric)
	tap_need_program "$mixed_pp" libfabric-bin
	LD_LIBRARY_PATH=$tap_lib ldd "$mixed_pp" | grep -q "=> $tap_lib/libfabric.so.1" ||
		tap_skip_all "fi_pingpong of Debian does not load this library"
}

# mixed_both NAME COMMAND - COMMAND SERVER_LIBRARY CLIENT_LIBRARY for either
# combination; an empty directory is Debian's.
mixed_both() {
	local name=$1
	shift
	"$@" "$tap_lib" "" > "$tap_dir/both" 2>&1
	tap "$name: our server, 1.17's client" $? "$tap_dir/both"
	tail -n 1 "$tap_dir/both" | sed 's/^/# /'
	"$@" "" "$tap_lib" > "$tap_dir/both" 2>&1
	tap "$name: 1.17's server, our client" $? "$tap_dir/both"
	tail -n 1 "$tap_dir/both" | sed 's/^/# /'
}

# mixed_name LIBRARY PROVIDER - what this library calls the provider.
mixed_name() {
	if [ -z "$1" ] && [ -n "$mixed_theirs" ]; then echo "$mixed_theirs"; else echo "$2"; fi
}

# One fi_pingpong between two libraries: the first arguments are "-p PROVIDER".  It fails unless both sides succeed.
mixed_pingpong_one() {	# argument... server-library client-library
	local server=${*: -2:1} client=${*: -1} port pid rc
	local prov=$2
	set -- "${@:3:$(($# - 4))}"
	port=$(tap_free_port)
	LD_LIBRARY_PATH=$server "$within" 60 "$mixed_pp" -B "$port" "${mixed_device[@]}" \
		-p "$(mixed_name "$server" "$prov")" "$@" \
		> "$tap_dir/server" 2>&1 &
	pid=$!
	tap_pids+=("$pid")
	tap_wait_port "$port" || echo "the server does not listen"
	LD_LIBRARY_PATH=$client "$within" 60 "$mixed_pp" -P "$port" \
		-p "$(mixed_name "$client" "$prov")" "$@" "$mixed_address"
	rc=$?
	wait "$pid" || rc=1
	cat "$tap_dir/server"
	grep -q '^1k .*=' "$tap_dir/server" || rc=1	# the table of results
	return $rc
}

mixed_pingpong() {	# name argument...
	mixed_both "fi_pingpong, $1" mixed_pingpong_one "${@:2}"
}

# mixed_format LIBRARY -p PROVIDER ARGUMENT... - the format that our client says that it has with a
# server, by the provider's own log line: the one below it says another.
mixed_format() {
	local server=$1
	shift
	FI_LOG_LEVEL=info mixed_pingpong_one "$@" "$server" "$tap_lib" 2>&1 |
		sed -n "s/.*:${2##*;}:.*connected with .* in the \([a-z]*\) wire format.*/\1/p" | head -n 1
}

# mixed_client_says TEXT PROVIDER TYPE - the log of our client, which finds no way to 1.17's server.
mixed_client_says() {
	local port pid
	port=$(tap_free_port)
	"$mixed_pp" -B "$port" -p "$2" -e "$3" > "$tap_dir/server" 2>&1 &
	pid=$!
	tap_pids+=("$pid")
	tap_wait_port "$port" || echo "the server does not listen"
	LD_LIBRARY_PATH=$tap_lib "$within" 15 "$mixed_pp" -P "$port" -p "$2" -e "$3" "$mixed_address" \
		> "$tap_dir/client" 2>&1
	kill -KILL "$pid" 2> /dev/null
	cat "$tap_dir/client"
	grep -q "$1" "$tap_dir/client"
}

mixed_formats() {	# variable argument...
	local variable=$1
	shift
	[ "$(mixed_format "$tap_lib" "$@")" = native ]
	tap "the log names the format: native among ours" $?
	[ "$(mixed_format "" "$@")" = compatible ]
	tap "the log names the format: compatible with 1.17" $?
	[ "$(export "$variable=compatible"; mixed_format "$tap_lib" "$@")" = compatible ]
	tap "the log names the format: compatible where it is asked for" $?
}

# ---- the functional suite -----------------------------------------------------

mixed_programs=$tap_dir/programs

mixed_build() {
	make -f "$top_srcdir/fabtests/Makefile.system" O="$mixed_programs" CC="${CC:-cc}" CFLAGS=-O0 \
		> "$tap_dir/make" 2>&1
	tap "the functional suite builds for libfabric 1.17" $? "$tap_dir/make"
}

# Every test of the suite that has two sides; exclude files list those that the
# old library fails with itself.  Ports are free ones, chosen by the programs.
mixed_suite_one() {	# provider set exclude-file... server-library client-library
	local libs=${*: -2:1},${*: -1} prov=$1 file
	local options=(-p "$mixed_programs" -t "$2" -T 30 -v --again "${mixed_options[@]}"
		--providers "$(mixed_name "${*: -2:1}" "$1"),$(mixed_name "${*: -1}" "$1")")
	shift 2
	for file in "${@:1:$(($# - 2))}"; do
		options+=(-f "$file")
	done
	"${PYTHON:-python3}" "$top_srcdir/fabtests/runfabtests" "${options[@]}" --libs "$libs" "$prov"
}

mixed_suite() {	# name provider set exclude-file...
	mixed_both "functional suite, $1" mixed_suite_one "${@:2}"
}

# What 1.17 fails as the server alone: its clients meet ours.
mixed_our_server() {	# name provider test
	local mixed_options=(-n "$3")
	mixed_suite_one "$2" quick "$tap_lib" "" > "$tap_dir/both" 2>&1
	tap "$1: $3: our server, 1.17's client" $? "$tap_dir/both"
}
