/* SPDX-License-Identifier: BSD-2-Clause */
/* Address vectors of FI_ADDR_IB_UD addresses. An entry's peer is what a send needs. */
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <cairn/nosys.h>
#include "dgram.h"
#include "internal.h"

static struct pvb_av *av_of(struct crn_av *av)
{
	return crn_container_of(av, struct pvb_av, av);
}

static size_t ud_len(const void *addr)
{
	return sizeof(struct pvb_ud_addr);
}

/* Elements of a program's array need not be aligned. */
static bool ud_valid(const void *addr, size_t len)
{
	struct pvb_ud_addr ud;

	memcpy(&ud, addr, sizeof(ud));
	return pvb_ud_valid(&ud);
}

static uint32_t ud_hash(const void *addr)
{
	return pvb_ud_hash(addr);
}

static bool ud_same(const void *a, const void *b)
{
	return pvb_ud_same(a, b);
}

static int ud_text(const void *addr, char *buf, size_t size)
{
	struct pvb_ud_addr ud;

	memcpy(&ud, addr, sizeof(ud));
	return pvb_ud_text(&ud, buf, size);
}

/* A node is a text of FI_ADDR_STR, or an IP address or host name, whose GID is known on
 * RoCE. */
static int ud_resolve_node(const char *node, size_t nth, struct pvb_ud_addr *out)
{
	union crn_addr found;
	uint64_t low;
	int ret;

	if (!strncmp(node, PVB_UD_PREFIX, strlen(PVB_UD_PREFIX)))
		return nth ? -FI_EINVAL : pvb_ud_parse(node, out);
	ret = crn_addr_resolve(node, NULL, AF_UNSPEC, false, false, &found);
	if (ret)
		return ret;
	*out = (struct pvb_ud_addr){0};
	pvb_gid_of_addr(&found.sa, out->gid);
	memcpy(&low, &out->gid[8], sizeof(low));
	low = htobe64(be64toh(low) + nth);
	memcpy(&out->gid[8], &low, sizeof(low));
	return 0;
}

static int ud_resolve_service(const char *service, size_t nth, struct pvb_ud_addr *out)
{
	unsigned long qpn;
	char *end;

	errno = 0;
	qpn = strtoul(service, &end, 0);
	if (errno || end == service || *end || *service == '-' || qpn > UINT32_MAX - nth)
		return -FI_EINVAL;
	out->qpn = (uint32_t)(qpn + nth);
	return 0;
}

static int ud_resolve(const char *node, size_t node_nth, const char *service,
		      size_t service_nth, union crn_av_addr *out)
{
	struct pvb_ud_addr ud;
	int ret = node ? ud_resolve_node(node, node_nth, &ud) : -FI_EINVAL;

	if (!ret && service)
		ret = ud_resolve_service(service, service_nth, &ud);
	if (!ret && !pvb_ud_valid(&ud))
		ret = -FI_EINVAL;
	if (!ret)
		memcpy(out, &ud, sizeof(ud));
	return ret;
}

static const struct crn_av_form ud_form = {
	.format = FI_ADDR_IB_UD,
	.len = ud_len,
	.valid = ud_valid,
	.hash = ud_hash,
	.same = ud_same,
	.text = ud_text,
	.resolve = ud_resolve,
};

static int av_added(struct crn_av *av, const void *addr, void **peer)
{
	struct pvb_ud_peer *made = malloc(sizeof(*made));
	int ret;

	if (!made)
		return -FI_ENOMEM;
	ret = pvb_ah_get(av_of(av)->domain, addr, made);
	if (ret)
		free(made);
	else
		*peer = made;
	return ret;
}

static void av_removed(struct crn_av *av, void *peer)
{
	pvb_ah_put(av_of(av)->domain, peer);
	free(peer);
}

/* The vector's lock is not held any more. */
static int av_remove(struct fid_av *fid, fi_addr_t *fi_addr, size_t count, uint64_t flags)
{
	struct pvb_av *av = crn_container_of(fid, struct pvb_av, av.fid);
	int ret = av->remove(fid, fi_addr, count, flags);

	pvb_ahs_sweep(av->domain);
	return ret;
}

static int av_close(struct fid *fid)
{
	struct pvb_av *av = crn_container_of(fid, struct pvb_av, av.fid.fid);
	struct pvb_domain *domain = av->domain;
	int ret;

	if (pvb_inherited(domain->fabric))
		return 0;
	ret = crn_av_fini(&av->av);
	if (ret)
		return ret;
	free(av);
	pvb_ahs_sweep(domain);
	atomic_fetch_sub(&domain->refs, 1);
	return 0;
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

int pvb_av_open(struct fid_domain *domain_fid, struct fi_av_attr *attr,
		struct fid_av **fid, void *context)
{
	struct pvb_domain *domain = crn_container_of(domain_fid, struct pvb_domain, fid);
	struct pvb_av *av;
	int ret;

	if (!domain->ud)
		return -FI_ENOSYS;
	av = calloc(1, sizeof(*av));
	if (!av)
		return -FI_ENOMEM;
	/* A send and a receive of any endpoint may look at it. */
	ret = crn_av_init_form(&av->av, domain_fid, attr, &ud_form, true, context);
	if (ret) {
		free(av);
		return ret;
	}
	av->domain = domain;
	av->av.fabric = &domain->fabric->fid;
	av->av.added = av_added;
	av->av.removed = av_removed;
	av->av.fid.fid.ops = &av_fid_ops;
	av->ops = *av->av.fid.ops;
	av->remove = av->ops.remove;
	av->ops.remove = av_remove;
	av->av.fid.ops = &av->ops;
	atomic_fetch_add(&domain->refs, 1);
	*fid = &av->av.fid;
	return 0;
}

int pvb_dgram_bind_av(struct pvb_ep *ep, struct pvb_av *av)
{
	if (!ep->dgram)
		return -FI_EINVAL;
	if (ep->dgram->av)
		return -FI_EINVAL;
	if (av->domain != ep->domain)
		return -FI_EDOMAIN;
	ep->dgram->av = av;
	ep->dgram->peers = &av->av.peers;
	atomic_fetch_add(&av->av.refs, 1);
	return 0;
}
