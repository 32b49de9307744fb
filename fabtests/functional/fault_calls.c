/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calls that can be made to fail, and what libibverbs and librdmacm hand out and take
 * back. Asking for events is not among them: that there is none is no failure.
 */
#include <errno.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "fault.h"

static int objects;

int fct_fault_objects(void)
{
	return objects;
}

/* What a device without its adapter says. */
#define BROKEN EIO

#define CALL(kind, type, name, params, args, err, value) \
	static type(*real_##name) params;                \
	static type fault_##name params                  \
	{                                                \
		if (fct_fault_now(kind, #name)) {        \
			errno = err;                     \
			return value;                    \
		}                                        \
		return real_##name args;                 \
	}

/* Hands out an object. */
#define MAKE(kind, type, name, params, args, err) \
	static type *(*real_##name)params;        \
	static type *fault_##name params          \
	{                                         \
		type *made;                       \
                                                  \
		if (fct_fault_now(kind, #name)) { \
			errno = err;              \
			return NULL;              \
		}                                 \
		made = real_##name args;          \
		objects += made != NULL;          \
		return made;                      \
	}

/* Takes one back, and never fails. */
#define UNMAKE(name, params, args)          \
	static int(*real_##name) params;    \
	static int fault_##name params      \
	{                                   \
		int ret = real_##name args; \
                                            \
		objects -= !ret;            \
		return ret;                 \
	}

#define MEMORY(type, name, params, args) \
	CALL(FAULT_MEMORY, type, name, params, args, ENOMEM, NULL)
#define SYSTEM(name, params, args) CALL(FAULT_SYSTEM, int, name, params, args, EMFILE, -1)
/* Those that return -1 and set errno, and those that return an errno. */
#define DEVICE(name, params, args) CALL(FAULT_DEVICE, int, name, params, args, BROKEN, -1)
#define DEVICE_ERRNO(name, params, args) \
	CALL(FAULT_DEVICE, int, name, params, args, BROKEN, BROKEN)

MEMORY(void *, malloc, (size_t size), (size))
MEMORY(void *, calloc, (size_t count, size_t size), (count, size))
MEMORY(void *, realloc, (void *old, size_t size), (old, size))
MEMORY(void *, aligned_alloc, (size_t align, size_t size), (align, size))
MEMORY(char *, strdup, (const char *text), (text))
MEMORY(struct fi_info *, fi_dupinfo, (const struct fi_info *info), (info))

SYSTEM(epoll_create1, (int flags), (flags))
SYSTEM(eventfd, (unsigned int count, int flags), (count, flags))
SYSTEM(timerfd_create, (int clock, int flags), (clock, flags))
SYSTEM(getifaddrs, (struct ifaddrs * *list), (list))
CALL(FAULT_SYSTEM, int, getaddrinfo,
     (const char *node, const char *service, const struct addrinfo *hints,
      struct addrinfo **list),
     (node, service, hints, list), ENOMEM, EAI_MEMORY)

/* Taking a descriptor off the list again does not fail. */
static int (*real_epoll_ctl)(int epfd, int op, int fd, struct epoll_event *event);
static int fault_epoll_ctl(int epfd, int op, int fd, struct epoll_event *event)
{
	if (op == EPOLL_CTL_ADD && fct_fault_now(FAULT_SYSTEM, "epoll_ctl")) {
		errno = ENOSPC;
		return -1;
	}
	return real_epoll_ctl(epfd, op, fd, event);
}

CALL(FAULT_DEVICE, struct ibv_device **, ibv_get_device_list, (int *count), (count),
     BROKEN, NULL)
MAKE(FAULT_DEVICE, struct ibv_pd, ibv_alloc_pd, (struct ibv_context * context), (context),
     BROKEN)
MAKE(FAULT_DEVICE, struct ibv_comp_channel, ibv_create_comp_channel,
     (struct ibv_context * context), (context), BROKEN)
MAKE(FAULT_DEVICE, struct ibv_cq, ibv_create_cq,
     (struct ibv_context * context, int cqe, void *own, struct ibv_comp_channel *channel,
      int vector),
     (context, cqe, own, channel, vector), BROKEN)
MAKE(FAULT_DEVICE, struct ibv_qp, ibv_create_qp,
     (struct ibv_pd * pd, struct ibv_qp_init_attr *attr), (pd, attr), BROKEN)
MAKE(FAULT_DEVICE, struct ibv_srq, ibv_create_srq,
     (struct ibv_pd * pd, struct ibv_srq_init_attr *attr), (pd, attr), BROKEN)
MAKE(FAULT_DEVICE, struct ibv_mr, ibv_reg_mr_iova2,
     (struct ibv_pd * pd, void *addr, size_t len, uint64_t iova, unsigned int access),
     (pd, addr, len, iova, access), BROKEN)
#undef ibv_reg_mr
MAKE(FAULT_DEVICE, struct ibv_mr, ibv_reg_mr,
     (struct ibv_pd * pd, void *addr, size_t len, int access), (pd, addr, len, access),
     BROKEN)
MAKE(FAULT_DEVICE, struct rdma_event_channel, rdma_create_event_channel, (void), (),
     BROKEN)
MAKE(FAULT_DEVICE, struct ibv_ah, ibv_create_ah,
     (struct ibv_pd * pd, struct ibv_ah_attr *attr), (pd, attr), BROKEN)
UNMAKE(ibv_destroy_ah, (struct ibv_ah * ah), (ah))
UNMAKE(ibv_close_device, (struct ibv_context * context), (context))
UNMAKE(ibv_dealloc_pd, (struct ibv_pd * pd), (pd))
UNMAKE(ibv_destroy_comp_channel, (struct ibv_comp_channel * channel), (channel))
UNMAKE(ibv_destroy_cq, (struct ibv_cq * cq), (cq))
UNMAKE(ibv_destroy_qp, (struct ibv_qp * qp), (qp))
UNMAKE(ibv_destroy_srq, (struct ibv_srq * srq), (srq))
UNMAKE(ibv_dereg_mr, (struct ibv_mr * mr), (mr))
UNMAKE(rdma_destroy_id, (struct rdma_cm_id * id), (id))

static void (*real_rdma_destroy_event_channel)(struct rdma_event_channel *channel);
static void fault_rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	objects--;
	real_rdma_destroy_event_channel(channel);
}

DEVICE_ERRNO(ibv_query_device,
	     (struct ibv_context * context, struct ibv_device_attr *attr),
	     (context, attr))
DEVICE_ERRNO(ibv_query_port,
	     (struct ibv_context * context, uint8_t port,
	      struct _compat_ibv_port_attr *attr),
	     (context, port, attr))
DEVICE(ibv_query_gid,
       (struct ibv_context * context, uint8_t port, int index, union ibv_gid *gid),
       (context, port, index, gid))
DEVICE_ERRNO(_ibv_query_gid_ex,
	     (struct ibv_context * context, uint32_t port, uint32_t index,
	      struct ibv_gid_entry *entry, uint32_t flags, size_t size),
	     (context, port, index, entry, flags, size))
DEVICE_ERRNO(ibv_modify_qp, (struct ibv_qp * qp, struct ibv_qp_attr *attr, int mask),
	     (qp, attr, mask))

DEVICE(ibv_query_pkey,
       (struct ibv_context * context, uint8_t port, int index, __be16 *pkey),
       (context, port, index, pkey))
DEVICE_ERRNO(ibv_attach_mcast,
	     (struct ibv_qp * qp, const union ibv_gid *gid, uint16_t lid), (qp, gid, lid))

DEVICE(rdma_bind_addr, (struct rdma_cm_id * id, struct sockaddr *addr), (id, addr))
DEVICE(rdma_listen, (struct rdma_cm_id * id, int backlog), (id, backlog))
DEVICE(rdma_resolve_addr,
       (struct rdma_cm_id * id, struct sockaddr *src, struct sockaddr *dst, int ms),
       (id, src, dst, ms))
DEVICE(rdma_resolve_route, (struct rdma_cm_id * id, int ms), (id, ms))
DEVICE(rdma_connect, (struct rdma_cm_id * id, struct rdma_conn_param *param), (id, param))
DEVICE(rdma_accept, (struct rdma_cm_id * id, struct rdma_conn_param *param), (id, param))
DEVICE(rdma_establish, (struct rdma_cm_id * id), (id))
DEVICE(rdma_reject, (struct rdma_cm_id * id, const void *data, uint8_t len),
       (id, data, len))
DEVICE(rdma_disconnect, (struct rdma_cm_id * id), (id))
DEVICE(rdma_init_qp_attr, (struct rdma_cm_id * id, struct ibv_qp_attr *attr, int *mask),
       (id, attr, mask))
DEVICE(rdma_set_option,
       (struct rdma_cm_id * id, int level, int name, void *value, size_t len),
       (id, level, name, value, len))
DEVICE(rdma_join_multicast_ex,
       (struct rdma_cm_id * id, struct rdma_cm_join_mc_attr_ex *attr, void *context),
       (id, attr, context))
DEVICE(rdma_migrate_id, (struct rdma_cm_id * id, struct rdma_event_channel *channel),
       (id, channel))

static int (*real_rdma_create_id)(struct rdma_event_channel *channel,
				  struct rdma_cm_id **id, void *context,
				  enum rdma_port_space ps);
static int fault_rdma_create_id(struct rdma_event_channel *channel,
				struct rdma_cm_id **id, void *context,
				enum rdma_port_space ps)
{
	int ret;

	if (fct_fault_now(FAULT_DEVICE, "rdma_create_id")) {
		errno = BROKEN;
		return -1;
	}
	ret = real_rdma_create_id(channel, id, context, ps);
	objects += !ret;
	return ret;
}

/* A request brings an id with it. */
static int (*real_rdma_get_cm_event)(struct rdma_event_channel *channel,
				     struct rdma_cm_event **event);
static int fault_rdma_get_cm_event(struct rdma_event_channel *channel,
				   struct rdma_cm_event **event)
{
	int ret = real_rdma_get_cm_event(channel, event);

	objects += !ret && (*event)->event == RDMA_CM_EVENT_CONNECT_REQUEST;
	return ret;
}

/* The calls of the data path are addresses in the device's context. */
static struct ibv_context_ops ops;

#define OPS(name, params, args)                                \
	static int fault_##name params                         \
	{                                                      \
		if (fct_fault_now(FAULT_DEVICE, "ibv_" #name)) \
			return BROKEN;                         \
		return ops.name args;                          \
	}

#define OPS_POST(name, type)                                                 \
	static int fault_##name(struct ibv_##type *queue, struct OPS_WR *wr, \
				struct OPS_WR **bad)                         \
	{                                                                    \
		if (fct_fault_now(FAULT_DEVICE, "ibv_" #name)) {             \
			*bad = wr;                                           \
			return BROKEN;                                       \
		}                                                            \
		return ops.name(queue, wr, bad);                             \
	}

OPS(req_notify_cq, (struct ibv_cq * cq, int solicited), (cq, solicited))
#define OPS_WR ibv_send_wr
OPS_POST(post_send, qp)
#undef OPS_WR
#define OPS_WR ibv_recv_wr
OPS_POST(post_recv, qp)
OPS_POST(post_srq_recv, srq)

static struct ibv_context *(*real_ibv_open_device)(struct ibv_device *device);
static struct ibv_context *fault_ibv_open_device(struct ibv_device *device)
{
	struct ibv_context *context;

	if (fct_fault_now(FAULT_DEVICE, "ibv_open_device")) {
		errno = BROKEN;
		return NULL;
	}
	context = real_ibv_open_device(device);
	if (!context)
		return NULL;
	objects++;
	if (context->ops.post_send != fault_post_send)
		ops = context->ops;
	context->ops.post_send = fault_post_send;
	context->ops.post_recv = fault_post_recv;
	context->ops.post_srq_recv = fault_post_srq_recv;
	context->ops.req_notify_cq = fault_req_notify_cq;
	return context;
}

#define ROW(name)                                                                        \
	{                                                                                \
#name, (void *)(uintptr_t)fault_##name, (void **)(uintptr_t)&real_##name \
	}

const struct fault_row fct_fault_rows[] = {
	ROW(malloc),
	ROW(calloc),
	ROW(realloc),
	ROW(aligned_alloc),
	ROW(strdup),
	ROW(fi_dupinfo),
	ROW(epoll_create1),
	ROW(eventfd),
	ROW(timerfd_create),
	ROW(getifaddrs),
	ROW(getaddrinfo),
	ROW(epoll_ctl),
	ROW(ibv_get_device_list),
	ROW(ibv_open_device),
	ROW(ibv_close_device),
	ROW(ibv_alloc_pd),
	ROW(ibv_dealloc_pd),
	ROW(ibv_create_comp_channel),
	ROW(ibv_destroy_comp_channel),
	ROW(ibv_create_cq),
	ROW(ibv_destroy_cq),
	ROW(ibv_create_qp),
	ROW(ibv_destroy_qp),
	ROW(ibv_create_srq),
	ROW(ibv_destroy_srq),
	ROW(ibv_reg_mr),
	ROW(ibv_reg_mr_iova2),
	ROW(ibv_dereg_mr),
	ROW(ibv_query_device),
	ROW(ibv_query_port),
	ROW(ibv_query_gid),
	ROW(_ibv_query_gid_ex),
	ROW(ibv_modify_qp),
	ROW(ibv_create_ah),
	ROW(ibv_destroy_ah),
	ROW(ibv_query_pkey),
	ROW(ibv_attach_mcast),
	ROW(rdma_create_event_channel),
	ROW(rdma_destroy_event_channel),
	ROW(rdma_create_id),
	ROW(rdma_destroy_id),
	ROW(rdma_get_cm_event),
	ROW(rdma_bind_addr),
	ROW(rdma_listen),
	ROW(rdma_resolve_addr),
	ROW(rdma_resolve_route),
	ROW(rdma_connect),
	ROW(rdma_accept),
	ROW(rdma_establish),
	ROW(rdma_reject),
	ROW(rdma_disconnect),
	ROW(rdma_init_qp_attr),
	ROW(rdma_set_option),
	ROW(rdma_migrate_id),
	ROW(rdma_join_multicast_ex),
};
const size_t fct_fault_row_count = sizeof(fct_fault_rows) / sizeof(fct_fault_rows[0]);
