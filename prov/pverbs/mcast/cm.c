/* SPDX-License-Identifier: BSD-2-Clause */
/* What rdma_cm does for a membership. Its ids have no queue pair. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/ib.h>
#include "device/device.h"
#include "internal.h"

/* Membership in a partition is not part of its number (IB specification 1.7, 10.9.1). */
#define MC_PKEY_NUMBER 0x7fff
/* The kernel's ENOTSUPP, which is no errno. */
#define MC_ENOTSUPP 524

static bool mc_is_source(const struct pvb_domain *domain,
			 const struct pvb_device_addr *entry)
{
	const struct pvb_ud_path *path = &domain->ud->path;

	return !strcmp(entry->device, pvb_domain_device(domain)) &&
	       entry->port == path->port &&
	       !memcmp(entry->gid, path->addr.gid, sizeof(entry->gid)) &&
	       (path->ethernet || !((entry->pkey ^ path->addr.pkey) & MC_PKEY_NUMBER));
}

/* The GID itself; rdma_cm finds the port space in the id. */
static void mc_source_gid(const struct pvb_domain *domain, union pvb_mc_sockaddr *out)
{
	struct sockaddr_ib *ib = (struct sockaddr_ib *)&out->storage;

	ib->sib_family = AF_IB;
	ib->sib_pkey = htons(domain->ud->path.addr.pkey);
	memcpy(&ib->sib_addr, domain->ud->path.addr.gid, sizeof(ib->sib_addr));
}

/* Which decides a group's Q_Key, and the MGID of an IP address. */
static enum rdma_port_space mc_port_space(const struct pvb_domain *domain)
{
	const bool ipoib = pvb_params.multicast == PVB_MULTICAST_IPOIB;

	return ipoib || domain->ud->link.on ? RDMA_PS_IPOIB : RDMA_PS_UDP;
}

/*
 * The address that datagrams of the domain leave from. On InfiniBand the kernel takes a
 * group's attributes from the broadcast group of the IPoIB interface that the id is bound
 * to (cma_join_ib_multicast), so the interface's address is better than the GID, and
 * RDMA_PS_IPOIB takes no GID (cma_select_ib_ps).
 */
static int mc_source(const struct pvb_domain *domain, union pvb_mc_sockaddr *out)
{
	struct pvb_device_addr *list;
	size_t i, count;
	int ret = pvb_device_addrs(&list, &count);

	if (ret && ret != -FI_ENODATA)
		return ret;
	memset(out, 0, sizeof(*out));
	for (i = 0; !ret && i < count && !out->sa.sa_family; i++) {
		if (mc_is_source(domain, &list[i]))
			memcpy(out, &list[i].addr, sizeof(list[i].addr));
	}
	if (!ret)
		free(list);
	if (out->sa.sa_family)
		return 0;
	if (domain->ud->path.ethernet || mc_port_space(domain) == RDMA_PS_IPOIB)
		return -FI_EADDRNOTAVAIL;
	mc_source_gid(domain, out);
	return 0;
}

int pvb_mc_cm_bindable(const struct pvb_domain *domain)
{
	union pvb_mc_sockaddr source;

	return mc_source(domain, &source);
}

static bool mc_source_known(const struct pvb_mc_group *group)
{
	return group->eq->mcs.source_of == group->domain;
}

static void mc_source_forget(struct pvb_mc_group *group)
{
	if (mc_source_known(group))
		group->eq->mcs.source_of = NULL;
}

/* To look is to ask for all addresses of the machine: once for many groups. */
static int mc_source_get(struct pvb_mc_group *group, union pvb_mc_sockaddr *out)
{
	struct pvb_eq_mcs *mcs = &group->eq->mcs;
	int ret;

	if (mc_source_known(group)) {
		out->storage = mcs->source;
		return 0;
	}
	ret = mc_source(group->domain, out);
	if (ret)
		return ret;
	mcs->source = out->storage;
	mcs->source_of = group->domain;
	return 0;
}

static int mc_ask(struct pvb_mc_group *group)
{
	union pvb_mc_sockaddr addr;
	struct rdma_cm_join_mc_attr_ex attr = {
		.comp_mask =
			RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS,
		.join_flags = group->send_only ? RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER
					       : RDMA_MC_JOIN_FLAG_FULLMEMBER,
		.addr = &addr.sa,
	};

	pvb_mc_sockaddr(&group->name, &addr);
	return rdma_join_multicast_ex(group->id, &attr, NULL);
}

static const char *mc_advice(int err)
{
	switch (err) {
	case FI_EACCES:
		return "; the process may need CAP_NET_RAW";
	case FI_EADDRNOTAVAIL:
		return "; rdma_cm needs an address of the port, on InfiniBand of an "
		       "IPoIB interface of the partition that is up";
	default:
		return "";
	}
}

static void mc_explain(const struct pvb_mc_group *group, int err)
{
	char text[PVB_MC_STRLEN];

	PVB_WARN(FI_LOG_EP_CTRL, "%s: group %s cannot be joined: %s%s\n",
		 pvb_domain_device(group->domain), pvb_mc_text(&group->name, text),
		 fi_strerror(err), mc_advice(err));
}

static int mc_try(struct pvb_mc_group *group)
{
	const enum rdma_port_space ps = mc_port_space(group->domain);
	union pvb_mc_sockaddr source;
	int ret = mc_source_get(group, &source);

	if (ret)
		return ret;
	if (rdma_create_id(group->eq->channel, &group->id, &group->fid, ps)) {
		group->id = NULL;
		return pvb_errno();
	}
	if (!rdma_bind_addr(group->id, &source.sa) && !mc_ask(group))
		return 0;
	ret = -pvb_mc_cm_error(errno);
	rdma_destroy_id(group->id);
	group->id = NULL;
	return ret;
}

int pvb_mc_cm_begin(struct pvb_mc_group *group)
{
	const bool known = mc_source_known(group);
	int ret = mc_try(group);

	/* The port may have another address by now. */
	if (ret)
		mc_source_forget(group);
	if (ret && known)
		ret = mc_try(group);
	if (ret) {
		mc_source_forget(group);
		mc_explain(group, -ret);
	}
	return ret;
}

void pvb_mc_cm_end(struct pvb_mc_group *group)
{
	union pvb_mc_sockaddr addr;

	crn_mutex_assert_held(&group->eq->cm_lock);
	mc_source_forget(group);
	if (!group->id)
		return;
	pvb_mc_sockaddr(&group->name, &addr);
	rdma_leave_multicast(group->id, &addr.sa);
	rdma_destroy_id(group->id);
	group->id = NULL;
}

int pvb_mc_cm_error(int status)
{
	const int err = abs(status);

	switch (err) {
	case EPERM:
		return FI_EACCES;
	case ENETRESET:
		return FI_ECONNRESET;
	case MC_ENOTSUPP:
		return FI_EOPNOTSUPP;
	default:
		return err && err < FI_ERRNO_OFFSET ? err : FI_EIO;
	}
}
