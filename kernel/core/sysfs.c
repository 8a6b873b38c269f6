// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * sysfs.c - /sys/class/kofi/PROVIDER/{version,fabrics}.
 */
#include <linux/rwsem.h>

#include <kofi/compat.h>

#include "core.h"

static struct class *class;

static ssize_t version_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	const struct kofi_registration *reg = dev_get_drvdata(dev);

	return sysfs_emit(buf, "%u.%u\n", FI_MAJOR(reg->prov->version),
			  FI_MINOR(reg->prov->version));
}
static DEVICE_ATTR_RO(version);

static ssize_t fabrics_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	const struct kofi_registration *reg = dev_get_drvdata(dev);

	return sysfs_emit(buf, "%d\n", atomic_read(&reg->fabrics));
}
static DEVICE_ATTR_RO(fabrics);

static struct attribute *provider_attrs[] = {
	&dev_attr_version.attr,
	&dev_attr_fabrics.attr,
	NULL
};
ATTRIBUTE_GROUPS(provider);

int core_sysfs_add(struct kofi_registration *reg)
{
	struct device *dev;

	dev = device_create_with_groups(class, NULL, 0, reg, provider_groups, "%s",
					reg->prov->name);
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	reg->dev = dev;
	return 0;
}

void core_sysfs_del(struct kofi_registration *reg)
{
	device_unregister(reg->dev);
}

int core_sysfs_init(void)
{
	class = kofi_class_create("kofi");
	return PTR_ERR_OR_ZERO(class);
}

void core_sysfs_exit(void)
{
	class_destroy(class);
}
