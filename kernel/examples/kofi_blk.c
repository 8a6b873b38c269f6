// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * kofi_blk.c - a block device whose data lies in another machine's memory, by reads and writes
 * of remote memory.  The other side is "peer server PROVIDER ADDRESS PORT blk"
 * (test/peer.c), a user-space program on libfabric.
 *
 *   insmod kofi_blk.ko provider=tcp server=ADDRESS port=PORT
 *
 * The client's first message is empty: on iWARP a server that speaks first loses its connection.
 * The server's describes its region.  A request of the block layer is one read or write of its
 * pages.  When the connection ends, requests end with an error; there is no second connection.
 *
 * With FI_DELIVERY_COMPLETE a write is in the server's memory when it completes; where the
 * provider has it not, the device of the server acknowledges.
 */
#define pr_fmt(fmt) "kofi_blk: " fmt

#include <linux/blk-mq.h>
#include <linux/module.h>
#include <linux/version.h>

#include <kofi/fi_cm.h>
#include <kofi/fi_rma.h>

#define QUEUE_DEPTH	128
#define SEGMENTS	8
#define WAIT_MS		20000

static char *provider = "tcp";
module_param(provider, charp, 0444);
static char *server = "127.0.0.1";
module_param(server, charp, 0444);
static char *port = "7300";
module_param(port, charp, 0444);

/* What the server tells, in little endian. */
struct hello {
	__le64	addr;
	__le64	key;
	__le64	len;
};

/* A request; private data of the block layer's. */
struct cmd {
	struct bio_vec	bvec[SEGMENTS];
};

static struct {
	struct fi_info		*info;
	struct fid_fabric	*fabric;
	struct fid_domain	*domain;
	struct fid_eq		*eq;
	struct fid_cq		*cq;
	struct fid_ep		*ep;
	struct hello		*hello;
	struct completion	greeted;	/* the hello has come, or failed */
	int			error;
	u64			addr, key, len;
	bool			up;
	struct blk_mq_tag_set	tags;
	struct gendisk		*disk;
	int			major;
} dev;

/* ---- requests ---- */

static unsigned int blk_fill(struct request *rq, struct cmd *cmd)
{
	struct req_iterator iter;
	struct bio_vec bvec;
	unsigned int cnt = 0;

	rq_for_each_bvec(bvec, rq, iter) {
		if (cnt == SEGMENTS)
			return 0;
		cmd->bvec[cnt++] = bvec;
	}
	return cnt;
}

static blk_status_t queue_rq(struct blk_mq_hw_ctx *hctx, const struct blk_mq_queue_data *bd)
{
	struct request *rq = bd->rq;
	struct cmd *cmd = blk_mq_rq_to_pdu(rq);
	struct fi_rma_iov range = {
		.addr = dev.addr + (blk_rq_pos(rq) << SECTOR_SHIFT),
		.len = blk_rq_bytes(rq), .key = dev.key,
	};
	struct fi_msg_rma msg = {
		.msg_bvec = cmd->bvec, .rma_iov = &range, .rma_iov_count = 1, .context = rq,
	};
	ssize_t ret;

	blk_mq_start_request(rq);
	if (!READ_ONCE(dev.up))
		return BLK_STS_IOERR;
	switch (req_op(rq)) {
	case REQ_OP_READ:
		msg.iov_count = blk_fill(rq, cmd);
		ret = fi_readmsg(dev.ep, &msg, FI_BVEC);
		break;
	case REQ_OP_WRITE:
		msg.iov_count = blk_fill(rq, cmd);
		ret = fi_writemsg(dev.ep, &msg, FI_BVEC | (dev.info->tx_attr->op_flags &
							   FI_DELIVERY_COMPLETE));
		break;
	default:
		return BLK_STS_NOTSUPP;
	}
	if (ret == -FI_EAGAIN)
		return BLK_STS_RESOURCE;
	return ret ? BLK_STS_IOERR : BLK_STS_OK;
}

static enum blk_eh_timer_return on_timeout(struct request *rq)
{
	pr_err("a request takes too long: the connection is ended\n");
	WRITE_ONCE(dev.up, false);
	fi_shutdown(dev.ep, 0);
	return BLK_EH_RESET_TIMER;
}

static void request_ended(void *context, int err)
{
	if (!context) {
		dev.error = err;
		complete(&dev.greeted);
	} else {
		blk_mq_end_request(context, err ? BLK_STS_IOERR : BLK_STS_OK);
	}
}

/* Completions, in process context. */
static void on_cq(struct fid_cq *cq, void *context)
{
	struct fi_cq_err_entry err = {};
	struct fi_cq_entry e[16];
	ssize_t n, i;

	for (;;) {
		n = fi_cq_read(cq, e, ARRAY_SIZE(e));
		for (i = 0; i < n; i++)
			request_ended(e[i].op_context, 0);
		if (n == -FI_EAVAIL && fi_cq_readerr(cq, &err, 0) == 1) {
			WRITE_ONCE(dev.up, false);
			request_ended(err.op_context, err.err);
			continue;
		}
		if (n <= 0)
			return;
	}
}

static const struct blk_mq_ops mq_ops = {
	.queue_rq = queue_rq,
	.timeout = on_timeout,
};

static const struct block_device_operations disk_ops = {
	.owner = THIS_MODULE,
};

/* ---- connecting ---- */

static int blk_discover(void)
{
	struct fi_info *hints = fi_allocinfo();
	int ret = -FI_ENOMEM;

	if (!hints)
		return ret;
	hints->caps = FI_MSG | FI_RMA;
	hints->mode = FI_RX_CQ_DATA;
	hints->ep_attr->type = FI_EP_MSG;
	hints->tx_attr->size = QUEUE_DEPTH;
	hints->domain_attr->mr_mode = FI_MR_ENDPOINT | FI_MR_PROV_KEY;
	hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
	hints->fabric_attr->prov_name = kstrdup(provider, GFP_KERNEL);
	if (hints->fabric_attr->prov_name) {
		ret = fi_getinfo(FI_VERSION(2, 6), server, port, 0, hints, &dev.info);
		hints->tx_attr->op_flags = 0;
		if (ret == -FI_ENODATA)
			ret = fi_getinfo(FI_VERSION(2, 6), server, port, 0, hints, &dev.info);
	}
	fi_freeinfo(hints);
	return ret;
}

static int blk_open(void)
{
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_CONTEXT, .handler = on_cq };
	int ret;

	ret = fi_fabric(dev.info->fabric_attr, &dev.fabric, NULL);
	if (!ret)
		ret = fi_eq_open(dev.fabric, NULL, &dev.eq, NULL);
	if (!ret)
		ret = fi_domain(dev.fabric, dev.info, &dev.domain, NULL);
	if (!ret)
		ret = fi_cq_open(dev.domain, &attr, &dev.cq, NULL);
	if (!ret)
		ret = fi_endpoint(dev.domain, dev.info, &dev.ep, NULL);
	if (!ret)
		ret = fi_ep_bind(dev.ep, &dev.cq->fid, FI_TRANSMIT | FI_RECV);
	if (!ret)
		ret = fi_ep_bind(dev.ep, &dev.eq->fid, 0);
	return ret ? ret : fi_enable(dev.ep);
}

/* The hello's receive is the only operation without a context. */
static int blk_connect(void)
{
	struct fi_eq_cm_entry entry;
	uint32_t event;
	ssize_t ret;

	dev.hello = kzalloc(sizeof(*dev.hello), GFP_KERNEL);
	if (!dev.hello)
		return -FI_ENOMEM;
	ret = fi_recv(dev.ep, dev.hello, sizeof(*dev.hello), NULL, 0, NULL);
	if (!ret)
		ret = fi_connect(dev.ep, dev.info->dest_addr, NULL, 0);
	if (ret)
		return ret;
	ret = fi_eq_sread(dev.eq, &event, &entry, sizeof(entry), WAIT_MS, 0);
	if (ret < 0 || event != FI_CONNECTED)
		return -FI_ECONNREFUSED;
	ret = fi_inject(dev.ep, dev.hello, 0, 0);
	if (ret)
		return ret;
	if (!wait_for_completion_timeout(&dev.greeted, msecs_to_jiffies(WAIT_MS)) || dev.error)
		return -FI_ETIMEDOUT;
	dev.addr = le64_to_cpu(dev.hello->addr);
	dev.key = le64_to_cpu(dev.hello->key);
	dev.len = le64_to_cpu(dev.hello->len);
	dev.up = true;
	return 0;
}

static void blk_disconnect(void)
{
	if (dev.ep)
		fi_close(&dev.ep->fid);
	if (dev.cq)
		fi_close(&dev.cq->fid);
	if (dev.domain)
		fi_close(&dev.domain->fid);
	if (dev.eq)
		fi_close(&dev.eq->fid);
	if (dev.fabric)
		fi_close(&dev.fabric->fid);
	fi_freeinfo(dev.info);
	kfree(dev.hello);
}

/* ---- the disk ---- */

static int disk_add(void)
{
	int ret;

	dev.tags.ops = &mq_ops;
	dev.tags.nr_hw_queues = 1;
	dev.tags.queue_depth = QUEUE_DEPTH;
	dev.tags.numa_node = NUMA_NO_NODE;
	dev.tags.cmd_size = sizeof(struct cmd);
	dev.tags.timeout = 60 * HZ;
	ret = blk_mq_alloc_tag_set(&dev.tags);
	if (ret)
		return ret;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 9, 0)
	{
		struct queue_limits limits = {
			.logical_block_size = 4096, .max_segments = SEGMENTS,
			.max_hw_sectors = 2048, .max_segment_size = 1 << 20,
		};

		dev.disk = blk_mq_alloc_disk(&dev.tags, &limits, NULL);
	}
#else
	dev.disk = blk_mq_alloc_disk(&dev.tags, NULL);
#endif
	if (IS_ERR(dev.disk)) {
		blk_mq_free_tag_set(&dev.tags);
		return PTR_ERR(dev.disk);
	}
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 9, 0)
	blk_queue_logical_block_size(dev.disk->queue, 4096);
	blk_queue_max_segments(dev.disk->queue, SEGMENTS);
	blk_queue_max_hw_sectors(dev.disk->queue, 2048);
	blk_queue_max_segment_size(dev.disk->queue, 1 << 20);
#endif
	dev.disk->major = dev.major;
	dev.disk->first_minor = 0;
	dev.disk->minors = 1;
	dev.disk->fops = &disk_ops;
	strscpy(dev.disk->disk_name, "kofi0", sizeof(dev.disk->disk_name));
	set_capacity(dev.disk, dev.len >> SECTOR_SHIFT);
	ret = add_disk(dev.disk);
	if (ret) {
		put_disk(dev.disk);
		blk_mq_free_tag_set(&dev.tags);
	}
	return ret;
}

static int __init blk_init(void)
{
	int ret;

	init_completion(&dev.greeted);
	ret = register_blkdev(0, "kofi");
	if (ret < 0)
		return ret;
	dev.major = ret;
	ret = blk_discover();
	if (!ret)
		ret = blk_open();
	if (!ret)
		ret = blk_connect();
	if (!ret)
		ret = disk_add();
	if (ret) {
		pr_err("no device: %d\n", ret);
		blk_disconnect();
		unregister_blkdev(dev.major, "kofi");
		return ret > -MAX_ERRNO ? -EIO : ret;
	}
	pr_info("kofi0: %llu MiB by %s\n", dev.len >> 20, provider);
	return 0;
}

static void __exit blk_exit(void)
{
	del_gendisk(dev.disk);
	put_disk(dev.disk);
	blk_mq_free_tag_set(&dev.tags);
	blk_disconnect();
	unregister_blkdev(dev.major, "kofi");
}

module_init(blk_init);
module_exit(blk_exit);
MODULE_DESCRIPTION("kOFI: a block device in another machine's memory, an example");
MODULE_AUTHOR("the libfabric authors");
MODULE_LICENSE("Dual BSD/GPL");
