# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 the libfabric authors.
#
# Starts and ends a scene (scene.c).  Sourced by bash, after tests/tap.sh.

scene=$top_builddir/tests/top/scene

# begin PROVIDER COUNT SCENE [threads] - start a scene; the pids of its ranks, in order, in $pids.
begin() {
	coproc SCENE { "$scene" "$@"; }
	scene_pid=$SCENE_PID
	tap_pids+=($scene_pid)
	pids=
	read -r -t 60 pids <&"${SCENE[0]}"
}

end() {
	local fd=${SCENE[1]}
	exec {fd}>&-
	wait "$scene_pid" 2> /dev/null
}
