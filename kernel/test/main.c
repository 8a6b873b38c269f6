// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * main.c - reading /sys/kernel/debug/kofi_test/run runs the tests and gives their results
 * as TAP; reading cost there gives instructions. The parameters in
 * /sys/module/kofi_test/parameters say what is tested.
 */
#include <linux/debugfs.h>
#include <linux/module.h>

#include "test.h"

static char *provider = "loop";
module_param(provider, charp, 0644);
MODULE_PARM_DESC(provider, "provider that is tested");

static char *server;
module_param(server, charp, 0644);
MODULE_PARM_DESC(server, "address that the listening side uses");

static char *client;
module_param(client, charp, 0644);
MODULE_PARM_DESC(client, "address that the connecting side uses");

static char *only;
module_param(only, charp, 0644);
MODULE_PARM_DESC(only, "run the cases whose name contains this");

unsigned int test_cycles = 50;
module_param_named(cycles, test_cycles, uint, 0644);
MODULE_PARM_DESC(cycles, "how often endpoints of atomics, multi-receive and shared contexts open and close");

static struct dentry *dir;
static DEFINE_MUTEX(running);

void test_case(struct test *t, const char *name, test_fn fn)
{
	if (t->args.only && !strstr(name, t->args.only))
		return;
	t->line = 0;
	t->cnt++;
	fn(t);
	if (!t->line) {
		seq_printf(t->out, "ok %u - %s: %s\n", t->cnt, t->args.prov, name);
		pr_info("kofi_test: ok %u - %s: %s\n", t->cnt, t->args.prov, name);
	} else {
		t->failed++;
		seq_printf(t->out, "not ok %u - %s: %s\n# line %d, value %ld\n", t->cnt,
			   t->args.prov, name, t->line, t->value);
		pr_err("kofi_test: %s: %s failed, line %d, value %ld\n", t->args.prov, name,
		       t->line, t->value);
	}
	cond_resched();
}

void test_skip(struct test *t, const char *name, const char *why)
{
	t->cnt++;
	seq_printf(t->out, "ok %u # SKIP %s: %s: %s\n", t->cnt, t->args.prov, name, why);
}

/* The text of a parameter without the newline of echo; NULL when empty. */
static const char *text(char *param)
{
	char *start = param ? strim(param) : NULL;

	return start && *start ? start : NULL;
}

static bool offers(struct test *t, enum fi_ep_type type)
{
	struct fi_info *info;

	if (info_get(t, type, 0, true, &info))
		return false;
	fi_freeinfo(info);
	return true;
}

static int args_read(struct test *t)
{
	t->args.prov = text(provider);
	t->args.server = text(server);
	t->args.client = text(client);
	t->args.only = text(only);
	return t->args.prov ? 0 : -EINVAL;
}

static int run_show(struct seq_file *seq, void *unused)
{
	struct test t = { .out = seq };

	if (args_read(&t))
		return -EINVAL;
	if (!strcmp(t.args.prov, "core")) {
		test_registry(&t);
	} else {
		test_info(&t);
		test_objects(&t);
		if (offers(&t, FI_EP_MSG)) {
			test_connect(&t);
			test_transfer(&t, FI_EP_MSG);
			test_multi(&t, FI_EP_MSG);
			test_atomic(&t, FI_EP_MSG);
		}
		if (offers(&t, FI_EP_RDM)) {
			test_rdm(&t);
			test_transfer(&t, FI_EP_RDM);
			test_multi(&t, FI_EP_RDM);
			test_atomic(&t, FI_EP_RDM);
		}
	}
	seq_printf(seq, "1..%u\n", t.cnt);
	return 0;
}

static int cost_show(struct seq_file *seq, void *unused)
{
	struct test t = { .out = seq };

	return args_read(&t) || test_cost(&t, seq) ? -EIO : 0;
}

/* The output must not be made twice when the first buffer is too small. */
static int run_open(struct inode *inode, struct file *file)
{
	return single_open_size(file, inode->i_private, NULL, 256 * 1024);
}

static ssize_t run_read(struct file *file, char __user *buf, size_t len, loff_t *pos)
{
	ssize_t ret;

	mutex_lock(&running);
	ret = seq_read(file, buf, len, pos);
	mutex_unlock(&running);
	return ret;
}

static const struct file_operations run_fops = {
	.owner = THIS_MODULE,
	.open = run_open,
	.read = run_read,
	.llseek = seq_lseek,
	.release = single_release,
};

static int __init test_init(void)
{
	dir = debugfs_create_dir("kofi_test", NULL);
	debugfs_create_file("run", 0400, dir, run_show, &run_fops);
	debugfs_create_file("cost", 0400, dir, cost_show, &run_fops);
	return 0;
}

static void __exit test_exit(void)
{
	debugfs_remove_recursive(dir);
}

module_init(test_init);
module_exit(test_exit);
MODULE_DESCRIPTION("kOFI: self tests");
MODULE_AUTHOR("the libfabric authors");
MODULE_LICENSE("Dual BSD/GPL");
