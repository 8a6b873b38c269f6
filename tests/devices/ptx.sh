# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 the libfabric authors.

# kernels_compile FILE - the kernels of posts.cu as PTX, which the driver compiles for its device.
kernels_compile() {
	clang -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-gpu-arch=sm_70 -Wall -Wextra -Werror \
		-Wno-unknown-cuda-version -O2 -S -o "$1" -I"$top_srcdir/include" "$top_srcdir/tests/devices/posts.cu" &&
	grep -q 'entry put_kernel' "$1" && grep -q 'entry send_kernel' "$1"
}
