// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * main.c - the module.
 */
#include <linux/module.h>
#include <linux/rwsem.h>

#include "core.h"

static int __init kofi_init(void)
{
	int ret = core_sysfs_init();

	if (!ret)
		core_listing_init();
	return ret;
}

static void __exit kofi_exit(void)
{
	core_listing_exit();
	core_sysfs_exit();
}

module_init(kofi_init);
module_exit(kofi_exit);
MODULE_DESCRIPTION("kOFI: the fabric interface for kernel clients");
MODULE_AUTHOR("the libfabric authors");
MODULE_LICENSE("Dual BSD/GPL");
