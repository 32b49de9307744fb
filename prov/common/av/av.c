/* SPDX-License-Identifier: BSD-2-Clause */
/* Address vectors as objects, and what is asked of them; fi_av(3). */
#include <stdio.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/nosys.h>
#include "internal.h"

static struct crn_av *av_of(struct fid_av *fid)
{
	return crn_container_of(fid, struct crn_av, fid);
}

/* All that can be removed is; an address that is not there fails the call. */
static int av_remove(struct fid_av *fid, fi_addr_t *fi_addr, size_t count, uint64_t flags)
{
	struct crn_av *av = av_of(fid);
	int one, ret = 0;
	size_t i;

	if (flags)
		return -FI_EINVAL;
	crn_lock(&av->lock);
	for (i = 0; i < count; i++) {
		one = crn_av_table_del(av, fi_addr[i]);
		if (!ret)
			ret = one;
	}
	crn_unlock(&av->lock);
	return ret;
}

/* fi_av(3): an address that does not fit "will be truncated", which is no error. */
static int av_lookup(struct fid_av *fid, fi_addr_t fi_addr, void *addr, size_t *addrlen)
{
	struct crn_av *av = av_of(fid);
	const void *found = crn_av_addr(av, fi_addr);
	size_t len;

	if (!found)
		return -FI_EINVAL;
	len = av->form->len(found);
	if (*addrlen)
		memcpy(addr, found, CRN_MIN(len, *addrlen));
	*addrlen = len;
	return 0;
}

/* As fi_getinfo(3) has FI_ADDR_STR, so that programs can read it again. */
static const char *av_straddr(struct fid_av *fid, const void *addr, char *buf,
			      size_t *len)
{
	*len = (size_t)av_of(fid)->form->text(addr, buf, *len) + 1;
	return buf;
}

/* Address sets are for collective operations. */
static int av_set(struct fid_av *fid, struct fi_av_set_attr *attr,
		  struct fid_av_set **set, void *context)
{
	return -FI_ENOSYS;
}

int crn_av_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct crn_av *av = crn_container_of(fid, struct crn_av, fid.fid);
	struct crn_eq *eq = crn_container_of(bfid, struct crn_eq, fid.fid);

	if (bfid->fclass != FI_CLASS_EQ)
		return -FI_ENOSYS;
	if (flags || av->eq || (av->fabric && eq->fabric != av->fabric))
		return -FI_EINVAL;
	av->eq = eq;
	atomic_fetch_add(&eq->refs, 1);
	return 0;
}

static int av_close(struct fid *fid)
{
	return crn_av_fini(crn_container_of(fid, struct crn_av, fid.fid));
}

static struct fi_ops av_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = av_close,
	.bind = crn_av_bind,
	.control = crn_nosys_control,
	.ops_open = crn_nosys_ops_open,
	.tostr = crn_nosys_tostr,
	.ops_set = crn_nosys_ops_set,
};

static struct fi_ops_av av_ops = {
	.size = sizeof(struct fi_ops_av),
	.insert = crn_av_insert,
	.insertsvc = crn_av_insertsvc,
	.insertsym = crn_av_insertsym,
	.remove = av_remove,
	.lookup = av_lookup,
	.straddr = av_straddr,
	.av_set = av_set,
};

static int av_check(const struct fi_av_attr *attr)
{
	/* FI_AV_TABLE is the last one. */
	if (!attr || attr->type > FI_AV_TABLE)
		return -FI_EINVAL;
	if (attr->name)
		return -FI_ENOSYS;
	/* FI_READ opens one that another process named; bits for receive contexts are of
	 * scalable endpoints. */
	if ((attr->flags & ~(FI_EVENT | FI_SYMMETRIC)) || attr->rx_ctx_bits)
		return -FI_EINVAL;
	return 0;
}

int crn_av_init_form(struct crn_av *av, struct fid_domain *domain,
		     struct fi_av_attr *attr, const struct crn_av_form *form, bool locked,
		     void *context)
{
	int ret = av_check(attr);

	if (ret)
		return ret;
	memset(av, 0, sizeof(*av));
	ret = crn_av_table_init(av, attr->count);
	if (ret)
		return ret;
	ret = crn_lock_init(&av->lock, locked);
	if (ret) {
		crn_av_table_fini(av);
		return ret;
	}
	if (attr->type == FI_AV_UNSPEC)
		attr->type = FI_AV_TABLE;
	av->type = attr->type;
	av->form = form;
	av->async = attr->flags & FI_EVENT;
	av->domain = domain;
	av->fid.fid.fclass = FI_CLASS_AV;
	av->fid.fid.context = context;
	av->fid.fid.ops = &av_fid_ops;
	av->fid.ops = &av_ops;
	return 0;
}

int crn_av_init(struct crn_av *av, struct fid_domain *domain, struct fi_av_attr *attr,
		uint32_t format, bool locked, void *context)
{
	const struct crn_av_form *form = crn_av_sockaddr(format);
	const int ret = av_check(attr);

	if (ret)
		return ret;
	return form ? crn_av_init_form(av, domain, attr, form, locked, context)
		    : -FI_ENOSYS;
}

int crn_av_fini(struct crn_av *av)
{
	if (atomic_load(&av->refs))
		return -FI_EBUSY;
	if (av->eq)
		atomic_fetch_sub(&av->eq->refs, 1);
	crn_av_table_fini(av);
	crn_lock_fini(&av->lock);
	return 0;
}
