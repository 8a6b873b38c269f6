#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 the libfabric authors.
#
# release.sh DIR - the commit of the sources in DIR: "78579b7a12c4", with "-dirty" behind it where a
# file that git tracks has been changed; in a tarball what `make dist` wrote; else "unknown".

top=${1:-.}
if [ -e "$top/.git" ] && commit=$(git -C "$top" rev-parse --short=12 HEAD 2>/dev/null); then
	[ -z "$(git -C "$top" status --porcelain --untracked-files=no 2>/dev/null)" ] ||
		commit=$commit-dirty
elif [ -s "$top/.commit" ]; then
	read -r commit < "$top/.commit"
else
	commit=unknown
fi
printf '%s\n' "$commit"
