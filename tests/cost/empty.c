/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* empty - the run time of a process that links the library and does not call it. */

#include <rdma/fabric.h>

int main(int argc, char **argv)
{
	/* never true: the reference keeps the library linked */
	return argc > 1000 ? (int) fi_version() : 0;
}
