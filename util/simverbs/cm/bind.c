/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses of ids: binding, listening, and finding the way to a destination. */
#include <errno.h>
#include <ifaddrs.h>
#include <string.h>
#include <unistd.h>
#include "cm.h"

static struct sockaddr *svb_cm_src(struct svb_cm_id *id)
{
	return &id->id.route.addr.src_addr;
}

static struct sockaddr *svb_cm_dst(struct svb_cm_id *id)
{
	return &id->id.route.addr.dst_addr;
}

/* No device has the address: does this machine have it? As the kernel tells them apart.
 */
static int svb_cm_no_device(const struct sockaddr *sa)
{
	struct ifaddrs *list, *at;
	int ret = EADDRNOTAVAIL;

	if (sa->sa_family == AF_IB)
		return ENODEV;
	if (getifaddrs(&list))
		return ret;
	for (at = list; at; at = at->ifa_next)
		if (at->ifa_addr && svb_cm_addr_ok(at->ifa_addr) &&
		    svb_cm_addr_same(at->ifa_addr, sa))
			ret = ENODEV;
	freeifaddrs(list);
	return ret;
}

static bool svb_cm_addr_multicast(const struct sockaddr *sa)
{
	size_t len;
	const uint8_t *ip = svb_cm_addr_ip(sa, &len);

	return len == 4 ? ip[0] >> 4 == 14 : ip[0] == 0xff;
}

int svb_cm_bind(struct svb_cm_id *id, const struct sockaddr *addr)
{
	const struct svb_port *port = NULL;
	uint32_t gid;
	int ret;

	if (id->state != SVB_CM_IDLE)
		return EINVAL;
	if (!svb_cm_addr_ok(addr))
		return EAFNOSUPPORT;
	if (!svb_cm_addr_any(addr)) {
		port = svb_cm_addr_find(addr, &gid);
		if (!port)
			return svb_cm_no_device(addr);
	}
	memcpy(svb_cm_src(id), addr, svb_cm_addr_len(addr));
	if (addr->sa_family == AF_IB)
		id->ps = svb_cm_addr_space(svb_cm_src(id), id->id.ps);
	ret = id->ps ? svb_cm_port_bind(id) : EPROTONOSUPPORT;
	if (!ret && port)
		ret = svb_cm_attach(id, port, gid);
	if (!ret && port && addr->sa_family == AF_IB)
		svb_cm_set_pkey(id, svb_cm_addr_pkey(addr));
	if (ret) {
		svb_cm_port_release(id);
		id->ps = id->id.ps;
		memset(&id->id.route.addr.src_storage, 0,
		       sizeof(struct sockaddr_storage));
		return ret;
	}
	id->state = SVB_CM_BOUND;
	return 0;
}

SVB_API int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	int ret;

	svb_cm_lock();
	ret = svb_self.joined ? svb_cm_bind(svb_cm_id(id), addr) : ENODEV;
	svb_cm_unlock();
	return svb_cm_result(ret);
}

/* dst: where to, for the family and the partition; NULL: IPv4. */
static int svb_cm_bind_any(struct svb_cm_id *id, const struct sockaddr *dst)
{
	struct sockaddr_storage any = {.ss_family = dst ? dst->sa_family : AF_INET};

	if (any.ss_family == AF_IB)
		((struct sockaddr_ib *)&any)->sib_pkey =
			((const struct sockaddr_ib *)dst)->sib_pkey;
	return svb_cm_bind(id, (struct sockaddr *)&any);
}

SVB_API int rdma_listen(struct rdma_cm_id *cm_id, int backlog)
{
	/* The kernel's default and limit: /proc/sys/net/rdma_ucm/max_backlog. */
	const int most = 1024;
	struct svb_cm_id *id = svb_cm_id(cm_id);
	int ret = 0;

	svb_cm_lock();
	if (id->state == SVB_CM_IDLE)
		ret = svb_cm_bind_any(id, NULL);
	if (!ret && id->state != SVB_CM_BOUND)
		ret = EINVAL;
	if (!ret)
		ret = svb_cm_start();
	if (!ret)
		ret = svb_cm_port_listen(id);
	if (!ret) {
		id->state = SVB_CM_LISTEN;
		id->backlog = backlog > 0 && backlog < most ? backlog : most;
	}
	svb_cm_unlock();
	return svb_cm_result(ret);
}

/* The address from which this process's network reaches dst. */
static bool svb_cm_routed_src(const struct sockaddr *dst, struct sockaddr_storage *src)
{
	socklen_t len = sizeof(*src);
	int fd = socket(dst->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool ok = fd >= 0 && !connect(fd, dst, svb_cm_addr_len(dst)) &&
		  !getsockname(fd, (struct sockaddr *)src, &len);

	if (fd >= 0)
		close(fd);
	return ok;
}

/*
 * cma_resolve_ib_dev of the kernel's cma.c: a port of this machine that has the GID
 * itself is the one to send from, in the partition that the program named.
 */
static int svb_cm_own_gid(struct svb_cm_id *id, const struct svb_port *port, uint32_t gid)
{
	struct sockaddr_ib *src = (struct sockaddr_ib *)svb_cm_src(id);
	uint16_t pkey = svb_cm_addr_pkey(svb_cm_src(id));
	int ret = svb_pkey_index(port, pkey) < 0 ? ENODEV : svb_cm_attach(id, port, gid);

	if (ret)
		return ret;
	memcpy(&src->sib_addr, &port->gid[gid], sizeof(src->sib_addr));
	svb_cm_set_pkey(id, pkey);
	return 0;
}

/*
 * The program left the source open. The system chooses the address from which it sends
 * to the destination; where that is no device's, the destination's own will do.
 */
static int svb_cm_choose_src(struct svb_cm_id *id, const struct svb_port *port,
			     uint32_t gid)
{
	uint16_t number = svb_cm_addr_port(svb_cm_src(id));
	const struct sockaddr *from = svb_cm_dst(id);
	const struct svb_port *own = NULL;
	struct sockaddr_storage src;
	uint32_t own_gid;

	if (from->sa_family == AF_IB)
		return svb_cm_own_gid(id, port, gid);
	if (svb_cm_routed_src(svb_cm_dst(id), &src))
		own = svb_cm_addr_find((struct sockaddr *)&src, &own_gid);
	if (own) {
		from = (struct sockaddr *)&src;
		port = own;
		gid = own_gid;
	}
	memcpy(svb_cm_src(id), from, svb_cm_addr_len(from));
	svb_cm_addr_set_port(svb_cm_src(id), number);
	return svb_cm_attach(id, port, gid);
}

/* A group is reached through the port that the id is bound to, or the first. */
static int svb_cm_way_to_group(struct svb_cm_id *id)
{
	const struct svb_port *port = svb_port_by_index(0);
	uint16_t number = svb_cm_addr_port(svb_cm_src(id));
	struct svb_cm_wire_addr wire = {.port = number};
	uint32_t i;
	int ret;

	wire.family = svb_cm_src(id)->sa_family == AF_INET6 ? SVB_CM_INET6 : SVB_CM_INET;
	for (i = 0; !id->port && port && i < port->addresses; i++) {
		if (port->address[i].family != svb_cm_src(id)->sa_family)
			continue;
		memcpy(wire.addr, port->address[i].addr, sizeof(wire.addr));
		ret = svb_cm_attach(id, port, port->address[i].gid);
		if (ret)
			return ret;
		svb_cm_addr_of_wire(&id->id.route.addr.src_storage, &wire, id->ps);
	}
	id->peer_port = id->port;
	id->peer_gid = id->gid;
	return id->port ? 0 : ENODEV;
}

/* Finds the way to id's destination. Returns 0 or the errno that an event tells. */
static int svb_cm_find_way(struct svb_cm_id *id)
{
	struct sockaddr *dst = svb_cm_dst(id);
	uint16_t number = svb_cm_addr_port(dst);

	if (svb_cm_addr_multicast(dst))
		return svb_cm_way_to_group(id);
	if (svb_cm_addr_any(dst)) {
		if (dst->sa_family == AF_INET)
			((struct sockaddr_in *)dst)->sin_addr.s_addr =
				htonl(INADDR_LOOPBACK);
		else if (dst->sa_family == AF_IB)
			((struct sockaddr_ib *)dst)->sib_addr.sib_addr8[15] = 1;
		else
			((struct sockaddr_in6 *)dst)->sin6_addr = in6addr_loopback;
		svb_cm_addr_set_port(dst, number);
	}
	id->peer_port = svb_cm_addr_find(dst, &id->peer_gid);
	if (!id->peer_port)
		return EHOSTUNREACH;
	return id->port ? 0 : svb_cm_choose_src(id, id->peer_port, id->peer_gid);
}

static int svb_cm_resolve(struct svb_cm_id *id, const struct sockaddr *src,
			  const struct sockaddr *dst)
{
	int ret = 0;

	if (!svb_cm_addr_ok(dst))
		return EAFNOSUPPORT;
	if (id->state == SVB_CM_IDLE)
		ret = src && src->sa_family ? svb_cm_bind(id, src)
					    : svb_cm_bind_any(id, dst);
	if (ret)
		return ret;
	if (id->state != SVB_CM_BOUND || svb_cm_src(id)->sa_family != dst->sa_family)
		return EINVAL;
	memcpy(svb_cm_dst(id), dst, svb_cm_addr_len(dst));
	ret = svb_cm_find_way(id);
	/* The kernel looks AF_IB up in the call itself. */
	if (ret && dst->sa_family == AF_IB)
		return ENODEV;
	if (!svb_cm_report(id,
			   ret ? RDMA_CM_EVENT_ADDR_ERROR : RDMA_CM_EVENT_ADDR_RESOLVED,
			   -ret))
		return ENOMEM;
	if (!ret)
		id->state = SVB_CM_ADDR;
	return 0;
}

SVB_API int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src_addr,
			      struct sockaddr *dst_addr, int timeout_ms)
{
	int ret;

	if (!dst_addr)
		return svb_cm_result(EINVAL);
	svb_cm_lock();
	ret = svb_self.joined ? svb_cm_resolve(svb_cm_id(id), src_addr, dst_addr)
			      : ENODEV;
	svb_cm_unlock();
	return ret ? svb_cm_result(ret) : svb_cm_complete(svb_cm_id(id));
}

/* On InfiniBand the SA knows the path, which nothing reaches from a port that is down. */
static int svb_cm_find_route(struct svb_cm_id *id)
{
	if (svb_self.settings.link == SVB_LINK_IB && svb_port_down(id->port->index))
		return svb_cm_report(id, RDMA_CM_EVENT_ROUTE_ERROR, -ETIMEDOUT) ? 0
										: ENOMEM;
	svb_cm_fill_path(id);
	if (!svb_cm_report(id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0))
		return ENOMEM;
	id->state = SVB_CM_ROUTE;
	return 0;
}

SVB_API int rdma_resolve_route(struct rdma_cm_id *cm_id, int timeout_ms)
{
	struct svb_cm_id *id = svb_cm_id(cm_id);
	int ret = EINVAL;

	svb_cm_lock();
	if (id->state == SVB_CM_ADDR) {
		ret = svb_cm_find_route(id);
	}
	svb_cm_unlock();
	return ret ? svb_cm_result(ret) : svb_cm_complete(id);
}
