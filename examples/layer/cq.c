/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fi_cq(3). A completion has the program's context, and so has an error: there is nothing
 * to translate. A layer that wants to see what completes does it in exl_cq_read and its
 * like.
 */
#include <stdlib.h>
#include "layer.h"

static struct fid_cq *exl_lower_cq(struct fid_cq *cq)
{
	return crn_container_of(cq, struct exl_cq, fid)->lower;
}

static ssize_t exl_cq_read(struct fid_cq *cq, void *buf, size_t count)
{
	return fi_cq_read(exl_lower_cq(cq), buf, count);
}

static ssize_t exl_cq_readfrom(struct fid_cq *cq, void *buf, size_t count,
			       fi_addr_t *src_addr)
{
	return fi_cq_readfrom(exl_lower_cq(cq), buf, count, src_addr);
}

static ssize_t exl_cq_readerr(struct fid_cq *cq, struct fi_cq_err_entry *buf,
			      uint64_t flags)
{
	return fi_cq_readerr(exl_lower_cq(cq), buf, flags);
}

static ssize_t exl_cq_sread(struct fid_cq *cq, void *buf, size_t count, const void *cond,
			    int timeout)
{
	return fi_cq_sread(exl_lower_cq(cq), buf, count, cond, timeout);
}

static ssize_t exl_cq_sreadfrom(struct fid_cq *cq, void *buf, size_t count,
				fi_addr_t *src_addr, const void *cond, int timeout)
{
	return fi_cq_sreadfrom(exl_lower_cq(cq), buf, count, src_addr, cond, timeout);
}

static int exl_cq_signal(struct fid_cq *cq)
{
	return fi_cq_signal(exl_lower_cq(cq));
}

static const char *exl_cq_strerror(struct fid_cq *cq, int prov_errno,
				   const void *err_data, char *buf, size_t len)
{
	return fi_cq_strerror(exl_lower_cq(cq), prov_errno, err_data, buf, len);
}

static struct fi_ops_cq exl_cq_ops = {
	.size = sizeof(struct fi_ops_cq),
	.read = exl_cq_read,
	.readfrom = exl_cq_readfrom,
	.readerr = exl_cq_readerr,
	.sread = exl_cq_sread,
	.sreadfrom = exl_cq_sreadfrom,
	.signal = exl_cq_signal,
	.strerror = exl_cq_strerror,
};

static int exl_cq_close(struct fid *fid)
{
	struct exl_cq *cq = crn_container_of(fid, struct exl_cq, fid.fid);
	int ret = atomic_load(&cq->refs) ? -FI_EBUSY : fi_close(&cq->lower->fid);

	if (!ret)
		free(cq);
	return ret;
}

/* An alias would be the lower provider's queue. */
static int exl_cq_control(struct fid *fid, int command, void *arg)
{
	if (command == FI_ALIAS)
		return -FI_ENOSYS;
	return fi_control(exl_cq_lower(fid), command, arg);
}

static struct fi_ops exl_cq_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = exl_cq_close,
	.bind = crn_nosys_bind,
	.control = exl_cq_control,
	.ops_open = crn_nosys_ops_open,
	.tostr = crn_nosys_tostr,
	.ops_set = crn_nosys_ops_set,
};

int exl_cq_open(struct fid_domain *fid, struct fi_cq_attr *attr, struct fid_cq **cq_fid,
		void *context)
{
	struct exl_domain *domain = crn_container_of(fid, struct exl_domain, fid);
	struct exl_cq *cq = calloc(1, sizeof(*cq));
	int ret;

	if (!cq)
		return -FI_ENOMEM;
	ret = crn_lower_opened(domain->fabric, "completion queue",
			       fi_cq_open(domain->lower, attr, &cq->lower, NULL));
	if (ret) {
		free(cq);
		return ret;
	}
	cq->fid.fid.fclass = FI_CLASS_CQ;
	cq->fid.fid.context = context;
	cq->fid.fid.ops = &exl_cq_fid_ops;
	cq->fid.ops = &exl_cq_ops;
	*cq_fid = &cq->fid;
	return 0;
}
