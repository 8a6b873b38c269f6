# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 the libfabric authors.
#
# What quickstart and check share: saying what is being done, installing the
# packages that are missing, building out of tree.  Sourced by bash; the caller
# sets steps_logs to a directory for the logs and calls steps_begin.

steps_pid=		# process group of the step that is running
steps_tty=no		# redraw one line, or print one line per step

steps_begin() {
	mkdir -p "$steps_logs" || exit 1
	exec 9> "$steps_logs/.lock"
	flock -n 9 || steps_die "another run is at work in ${steps_logs%/logs}." \
		"Wait for it to end, or end it, and start again."
	[ -t 1 ] && [ "${TERM:-dumb}" != dumb ] && [ -z "${CI:-}" ] && steps_tty=yes
	trap steps_stop EXIT
	trap 'steps_stop; trap - INT; kill -INT $$' INT
	trap 'steps_stop; trap - TERM; kill -TERM $$' TERM
}

# Ends whatever the running step started: each step is a session of its own.
steps_stop() {
	[ -n "$steps_pid" ] || return 0
	kill -TERM -- "-$steps_pid" 2>/dev/null
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		kill -0 -- "-$steps_pid" 2>/dev/null || break
		sleep 0.1
	done
	kill -KILL -- "-$steps_pid" 2>/dev/null
	steps_pid=
}

steps_die() {
	printf '\n%s: %s\n' "${0##*/}" "$1" >&2
	shift
	[ $# -eq 0 ] || printf '  %s\n' "$@" >&2
	exit 1
}

# Shows on a terminal how long a step has run and the last line of its log.
steps_draw() {	# seconds text log
	printf '\r\033[K%4d s  %s  %s' "$1" "$2" \
		"$(tail -n 1 "$3" | tr -cd '[:print:]' | cut -c 1-40)"
}

# steps_try NAME TEXT COMMAND... - run one step, its output in NAME.log.
# Returns the command's exit status; says on one line how long it took.
steps_try() {
	local log=$steps_logs/$1.log text=$2 rc=0 start=$SECONDS said=0 pause=0.2
	shift 2
	setsid "$@" > "$log" 2>&1 < /dev/null 9>&- &
	steps_pid=$!
	while kill -0 "$steps_pid" 2>/dev/null; do
		if [ $steps_tty = yes ]; then
			steps_draw $((SECONDS - start)) "$text" "$log"
		elif [ $((SECONDS - start - said)) -ge 60 ]; then
			said=$((SECONDS - start))
			printf '%4d s  %s ...\n' "$said" "$text"
		fi
		[ $((SECONDS - start)) -lt 10 ] || pause=1	# each sleep is a process
		sleep $pause
	done
	wait "$steps_pid" || rc=$?
	steps_stop
	[ $steps_tty = no ] || printf '\r\033[K'
	if [ $rc -eq 0 ]; then
		printf '%4d s  %s\n' $((SECONDS - start)) "$text"
	else
		printf '%4d s  %s: FAILED (exit %d)\n' $((SECONDS - start)) "$text" $rc
	fi
	return $rc
}

# steps_run NAME TEXT COMMAND... - the same; shows the end of the log on a failure.
steps_run() {
	local log=$steps_logs/$1.log
	steps_try "$@" && return 0
	printf '\n---- the last lines of %s\n' "$log" >&2
	tail -n 25 "$log" >&2
	printf -- '----\n\n' >&2
	return 1
}

# Names, one a line, the packages of the arguments that are not installed.
steps_missing() {
	local p
	for p in "$@"; do
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" = installed ] ||
			echo "$p"
	done
}

# steps_packages hard|soft PACKAGE... - install what is missing.
# hard: a package that cannot be had ends the script; soft: it is said, and the
# caller does without.
steps_packages() {
	local kind=$1 missing
	shift
	if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
		printf '        no apt on this machine: going on with the tools it has\n'
		return 0
	fi
	missing=$(steps_missing "$@" | tr '\n' ' ')
	missing=${missing% }
	if [ -z "$missing" ]; then
		printf '        packages: nothing is missing\n'
		return 0
	fi
	steps_sudo=
	if [ "$(id -u)" -ne 0 ]; then
		steps_sudo=sudo
		if ! command -v sudo >/dev/null || ! sudo -n true 2>/dev/null && [ ! -t 0 ]; then
			steps_cannot "$kind" "$missing" "this user may not install packages"
			return 0
		fi
		sudo -v || { steps_cannot "$kind" "$missing" "sudo said no"; return 0; }
	fi
	printf '        packages to install with apt: %s\n' "$missing"
	# shellcheck disable=SC2086 # one word per package
	steps_apt "$missing" && return 0
	tail -n 8 "$steps_logs/packages.log" >&2
	steps_cannot "$kind" "$missing" "apt-get failed (log: $steps_logs/packages.log)"
}

# In the foreground, because sudo may ask for a password on this terminal.
# Another apt-get, such as that of unattended upgrades, is waited for.
steps_apt() {	# "package package..."
	local start=$SECONDS apt="env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600"
	printf '        installing ...\n'
	{
		$steps_sudo $apt update -q || echo "apt-get update failed: using the lists that are here"
		# shellcheck disable=SC2086 # one word per package
		$steps_sudo $apt install -y -q --no-install-recommends $1
	} > "$steps_logs/packages.log" 2>&1 < /dev/null || return 1
	printf '%4d s  packages installed\n' $((SECONDS - start))
}

steps_cannot() {	# kind packages why
	if [ "$1" = hard ]; then
		steps_die "packages are missing and $3." \
			"Ask for them once by hand, then start again:" \
			"  sudo apt-get install $2"
	fi
	printf '        without: %s (%s)\n' "$2" "$3"
}

# A build tree is worth keeping only while it was configured from this place
# with these arguments.
steps_configured() {	# builddir arguments...
	local dir=$1
	shift
	[ -f "$dir/config.status" ] && [ -f "$dir/Makefile" ] &&
		[ "$(cat "$dir/.configured" 2>/dev/null)" = "$top $*" ] &&
		[ ! "$top/configure" -nt "$dir/config.status" ]
}

steps_autoreconf() {
	case $top in
	*[[:space:]]*) steps_die "the path of this checkout has a blank in it: '$top'." \
		"automake cannot build there. Move the checkout and start again." ;;
	esac
	if [ -f "$top/configure" ] && [ -f "$top/Makefile.in" ] &&
	   [ -z "$(find "$top" -path "$top/build*" -prune -o -path "$top/.git" -prune -o \
		\( -name configure.ac -o -name '*.m4' -o -name Makefile.am -o -name local.mk \) \
		-newer "$top/configure" ! -name aclocal.m4 -print -quit)" ]; then
		return 0
	fi
	command -v autoreconf >/dev/null && command -v libtoolize >/dev/null ||
		steps_die "autoconf, automake and libtool are needed and not all are here."
	steps_run autoreconf "generating configure" \
		bash -c 'cd "$1" && autoreconf -fi' autoreconf "$top" ||
		steps_die "autoreconf failed; the lines above say why."
}

# Prints the setting of make's LIBTOOL for these targets: programs that are never installed are linked quickly, too.
steps_libtool() {	# target...
	case $1 in
	check) printf 'LIBTOOL=/bin/sh %s/util/quick_libtool compile,link' "$top" ;;
	*) printf 'LIBTOOL=/bin/sh %s/util/quick_libtool compile' "$top" ;;
	esac
}

# steps_build NAME TEXT MAKE_TARGETS CONFIGURE_ARGUMENTS... - configure and make
# in $steps_root/NAME; non-zero, and the log shown, when either fails.
steps_build() {
	local text=$2 targets=$3 dir=$steps_root${1:+/$1} log=${1:-build}
	shift 3
	if ! steps_configured "$dir" "$@"; then
		rm -rf "${dir:?}"/{config.status,.configured,.static_libs}
		mkdir -p "$dir"
		steps_run "$log-configure" "$text: configure" \
			bash -c 'cd "$1" && shift && "$@"' configure "$dir" "$top/configure" "$@" ||
			return 1
		printf '%s\n' "$top $*" > "$dir/.configured"
	fi
	# shellcheck disable=SC2086 # one word per target
	steps_run "$log-make" "$text: build" make -C "$dir" -j"$jobs" "$(steps_libtool $targets)" $targets
}
