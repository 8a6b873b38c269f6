/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Kernels of the code of posts.h, for the driver alone: compiled without the CUDA toolkit. */
#include "posts.h"

extern "C" __attribute__((global)) void put_kernel(struct device *d, int *ret)
{
	*ret = put_and_signal(d);
}

extern "C" __attribute__((global)) void send_kernel(struct device *d, int *ret)
{
	*ret = send_and_receive(d);
}

extern "C" __attribute__((global)) void expect_kernel(struct device *d, int *ret)
{
	*ret = expect_message(d);
}

extern "C" __attribute__((global)) void parts_kernel(struct device *d, int *ret)
{
	*ret = parts_and_signal(d);
}

extern "C" __attribute__((global)) void await_kernel(struct device *d, int *ret)
{
	*ret = await_message(d);
}

extern "C" __attribute__((global)) void rest_kernel(struct device *d, int *ret)
{
	*ret = take_rest(d);
}
