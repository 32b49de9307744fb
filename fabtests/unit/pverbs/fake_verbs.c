/* SPDX-License-Identifier: BSD-2-Clause */
/* The objects of libibverbs; the queues are in fake_queue.c. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/syscall.h>
#include <cairn/compat.h>
#include "cairn_test.h"
#include "device/adapter.h"
#include "fake_queue.h"

/* The header's macros wrap functions of the same name. */
#undef ibv_query_port
#undef ibv_reg_mr

struct fake_device fake_devices[FAKE_DEVICES];
atomic_int fake_objects;

static int device_count;
static atomic_uint next_number;

void __wrap_pvb_adapter_detect(const struct crn_host *host, const char *device,
			       const char *library, struct pvb_adapter *adapter);
void __real_pvb_adapter_detect(const struct crn_host *host, const char *device,
			       const char *library, struct pvb_adapter *adapter);
void __wrap_pvb_adapter_detect(const struct crn_host *host, const char *device,
			       const char *library, struct pvb_adapter *adapter)
{
	__real_pvb_adapter_detect(host, device, library, adapter);
	for (int i = 0; i < FAKE_DEVICES; i++) {
		const char *driver = fake_devices[i].driver;

		if (!driver || strcmp(fake_devices[i].ibv.name, device) != 0)
			continue;
		snprintf(adapter->driver, sizeof(adapter->driver), "%s", driver);
		adapter->software = !strcmp(driver, "rxe") || !strcmp(driver, "siw");
	}
}

void fake_device_count(int count)
{
	device_count = count;
}

static void device_reset(struct fake_device *device, int number)
{
	*device = (struct fake_device){
		.ibv = {.node_type = IBV_NODE_CA, .transport_type = IBV_TRANSPORT_IB},
		.attr =
			{
				.max_qp = 100,
				.max_qp_wr = 1000,
				.max_sge = FAKE_SGES,
				.max_cq = 200,
				.max_cqe = 4000,
				.max_mr = 300,
				.max_srq = 50,
				.max_srq_wr = 500,
				.max_srq_sge = 8,
				.max_qp_rd_atom = 16,
				.max_qp_init_rd_atom = 8,
				.phys_port_cnt = 1,
			},
		.subnet_prefix = 0xfe80000000000000,
		.max_inline = 256,
	};
	snprintf(device->ibv.name, sizeof(device->ibv.name), "fake%d", number);
	for (int i = 0; i < FAKE_PORTS; i++)
		device->port[i] = (struct ibv_port_attr){
			.state = IBV_PORT_ACTIVE,
			.max_msg_sz = 1u << 31,
			.link_layer = IBV_LINK_LAYER_ETHERNET,
		};
}

void fake_verbs_reset(void)
{
	for (int i = 0; i < FAKE_DEVICES; i++)
		device_reset(&fake_devices[i], i);
	fake_device_count(FAKE_DEVICES);
	fake_objects = 0;
}

static struct fake_device *device_of(struct ibv_context *context)
{
	return (struct fake_device *)context->device;
}

/* NULL with errno when the call is to fail or there is no memory. */
static void *make(enum fake_call call, size_t size)
{
	int err = fake_enter(call);
	void *object = err ? NULL : calloc(1, size);

	if (object)
		fake_objects++;
	else
		errno = err ? err : ENOMEM;
	return object;
}

static int unmake(void *object)
{
	fake_objects--;
	free(object);
	return 0;
}

struct ibv_device **ibv_get_device_list(int *count)
{
	struct ibv_device **list;

	list = make(FAKE_GET_DEVICE_LIST, (FAKE_DEVICES + 1) * sizeof(*list));
	if (!list)
		return NULL;
	*count = device_count;
	for (int i = 0; i < device_count; i++)
		list[i] = &fake_devices[i].ibv;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	unmake(list);
}

static struct ibv_mw *alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct ibv_mw *mw = make(FAKE_ALLOC_MW, sizeof(*mw));

	if (mw)
		*mw = (struct ibv_mw){
			.context = pd->context,
			.pd = pd,
			.type = type,
			.rkey = 0x300000ff + (next_number++ << 8),
		};
	return mw;
}

static int dealloc_mw(struct ibv_mw *mw)
{
	return unmake(mw);
}

static int query_device_ex(struct ibv_context *context,
			   const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attr, size_t size)
{
	attr->orig_attr = device_of(context)->attr;
	attr->device_cap_flags_ex = device_of(context)->caps_ex;
	return fake_enter(FAKE_QUERY_DEVICE);
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct fake_context *fake = make(FAKE_OPEN_DEVICE, sizeof(*fake));
	struct ibv_context *context;
	int fds[2];

	if (!fake)
		return NULL;
	if (pipe(fds)) {
		unmake(fake);
		return NULL;
	}
	fake->write_fd = fds[1];
	fake->verbs.sz = sizeof(fake->verbs);
	fake->verbs.query_device_ex = query_device_ex;
	context = &fake->verbs.context;
	context->abi_compat = __VERBS_ABI_IS_EXTENDED;
	context->async_fd = fds[0];
	context->device = device;
	context->ops.alloc_mw = alloc_mw;
	context->ops.dealloc_mw = dealloc_mw;
	context->ops.poll_cq = fake_poll_cq;
	context->ops.req_notify_cq = fake_req_notify_cq;
	context->ops.post_send = fake_post_send;
	context->ops.post_recv = fake_post_recv;
	context->ops.post_srq_recv = fake_post_srq_recv;
	return context;
}

int ibv_close_device(struct ibv_context *context)
{
	struct fake_context *fake =
		crn_container_of(context, struct fake_context, verbs.context);

	close(context->async_fd);
	close(fake->write_fd);
	return unmake(fake);
}

/* What comes over the descriptor does not matter: only that it is readable. */
int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	CT_EXPECT_TRUE(fcntl(context->async_fd, F_GETFL) & O_NONBLOCK);
	errno = fake_async(device_of(context), event);
	return errno ? -1 : 0;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	if (event->event_type == IBV_EVENT_QP_LAST_WQE_REACHED)
		event->element.qp->events_completed++;
}

void fake_remove(struct fake_device *device, struct ibv_context *context)
{
	struct fake_context *fake =
		crn_container_of(context, struct fake_context, verbs.context);
	const struct ibv_async_event event = {.event_type = IBV_EVENT_DEVICE_FATAL};

	device->gone = true;
	fake_async_add(device, &event);
	CT_EXPECT_EQ(write(fake->write_fd, "", 1), 1);
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	*attr = device_of(context)->attr;
	return fake_enter(FAKE_QUERY_DEVICE);
}

/* The caller's structure is a whole ibv_port_attr: the macro in verbs.h sees to that. */
int ibv_query_port(struct ibv_context *context, uint8_t port,
		   struct _compat_ibv_port_attr *attr)
{
	memcpy(attr, &device_of(context)->port[port - 1], sizeof(struct ibv_port_attr));
	return fake_enter(FAKE_QUERY_PORT);
}

int ibv_query_gid(struct ibv_context *context, uint8_t port, int index,
		  union ibv_gid *gid)
{
	if (index < 0 || index >= FAKE_GIDS)
		return EINVAL;
	*gid = device_of(context)->gid[index].gid;
	if (!index)
		gid->global.subnet_prefix = htobe64(device_of(context)->subnet_prefix);
	return 0;
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port, uint32_t index,
		      struct ibv_gid_entry *entry, uint32_t flags, size_t size)
{
	const int err = fake_enter(FAKE_QUERY_GID);

	if (err)
		return err;
	if (index >= FAKE_GIDS || size != sizeof(*entry))
		return EINVAL;
	*entry = device_of(context)->gid[index];
	return 0;
}

int ibv_fork_init(void)
{
	return fake_enter(FAKE_FORK_INIT);
}

/* The links of the devices in sysfs; everything else there is left alone. */
ssize_t readlink(const char *path, char *buf, size_t size)
{
	const char *text = NULL;
	char device[IBV_SYSFS_NAME_MAX], name[16];

	if (sscanf(path, "/sys/class/infiniband/%63[^/]/%15s", device, name) != 2)
		return syscall(SYS_readlink, path, buf, size);
	for (int i = 0; i < FAKE_DEVICES; i++) {
		if (strcmp(fake_devices[i].ibv.name, device) != 0)
			continue;
		text = strcmp(name, "device") ? fake_devices[i].sysfs_driver
					      : fake_devices[i].sysfs_device;
	}
	if (!text) {
		errno = ENOENT;
		return -1;
	}
	size = strlen(text) < size ? strlen(text) : size;
	memcpy(buf, text, size);
	return (ssize_t)size;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *pd = make(FAKE_ALLOC_PD, sizeof(*pd));

	if (pd)
		pd->context = context;
	return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	return unmake(pd);
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t len, uint64_t iova,
				unsigned int access)
{
	struct fake_mr *mr = make(FAKE_REG_MR, sizeof(*mr));

	if (!mr)
		return NULL;
	if (device_of(pd->context)->gone) {
		unmake(mr);
		errno = EIO;
		return NULL;
	}
	if (access & device_of(pd->context)->refused_access) {
		unmake(mr);
		errno = EINVAL;
		return NULL;
	}
	mr->access = access;
	mr->ibv = (struct ibv_mr){
		.context = pd->context,
		.pd = pd,
		.addr = addr,
		.length = len,
		.lkey = 0x1000 + next_number,
		.rkey = 0x2000 + next_number++,
	};
	return &mr->ibv;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t len, int access)
{
	return ibv_reg_mr_iova2(pd, addr, len, (uintptr_t)addr, (unsigned int)access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	struct fake_device *device = device_of(mr->context);
	int err = fake_enter(FAKE_DEREG_MR);

	if (device->dereg_hook)
		device->dereg_hook(device->dereg_hook_arg);
	if (err)
		return err;
	err = device->gone ? EIO : 0;
	unmake(mr);
	return err;
}

/* Its events are pointers to completion queues, in a pipe. */
struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct fake_comp_channel *channel;
	int fds[2];

	channel = make(FAKE_CREATE_COMP_CHANNEL, sizeof(*channel));
	if (!channel)
		return NULL;
	if (pipe(fds)) {
		unmake(channel);
		return NULL;
	}
	channel->ibv.context = context;
	channel->ibv.fd = fds[0];
	channel->write_fd = fds[1];
	return &channel->ibv;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *ibv)
{
	struct fake_comp_channel *channel = (struct fake_comp_channel *)ibv;

	if (ibv->refcnt)
		return EBUSY;
	close(ibv->fd);
	close(channel->write_fd);
	return unmake(channel);
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context)
{
	CT_EXPECT_TRUE(fcntl(channel->fd, F_GETFL) & O_NONBLOCK);
	if (read(channel->fd, cq, sizeof(*cq)) != sizeof(*cq))
		return -1;
	((struct fake_cq *)*cq)->events++;
	*context = (*cq)->cq_context;
	return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int count)
{
	cq->comp_events_completed += count;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
			     struct ibv_comp_channel *channel, int vector)
{
	struct fake_cq *cq;

	if (cqe < 1 || cqe > device_of(context)->attr.max_cqe) {
		errno = EINVAL;
		return NULL;
	}
	cq = make(FAKE_CREATE_CQ, sizeof(*cq));
	if (!cq)
		return NULL;
	cq->ibv.context = context;
	cq->ibv.cq_context = cq_context;
	cq->ibv.channel = channel;
	cq->ibv.cqe = cqe;
	if (channel)
		channel->refcnt++;
	return &cq->ibv;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	if (((struct fake_cq *)cq)->qps)
		return EBUSY;
	/* Events that were taken and not acknowledged would be waited for for ever. */
	CT_EXPECT_EQ(cq->comp_events_completed, ((struct fake_cq *)cq)->events);
	if (cq->channel)
		cq->channel->refcnt--;
	return unmake(cq);
}

static int qp_limits(const struct fake_device *device, const struct ibv_qp_cap *cap)
{
	const uint32_t wrs = (uint32_t)device->attr.max_qp_wr;
	const uint32_t sges = (uint32_t)device->attr.max_sge;

	return cap->max_send_wr > wrs || cap->max_recv_wr > wrs ||
			       cap->max_send_sge > sges || cap->max_recv_sge > sges ||
			       cap->max_inline_data > device->max_inline
		       ? EINVAL
		       : 0;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	struct fake_device *device = device_of(pd->context);
	struct fake_qp *qp;
	int err = qp_limits(device, &init->cap);

	if (err) {
		errno = err;
		return NULL;
	}
	qp = make(FAKE_CREATE_QP, sizeof(*qp));
	if (!qp)
		return NULL;
	qp->device = device;
	qp->init = *init;
	qp->ibv.context = pd->context;
	qp->ibv.pd = pd;
	qp->ibv.send_cq = init->send_cq;
	qp->ibv.recv_cq = init->recv_cq;
	qp->ibv.qp_type = init->qp_type;
	qp->ibv.qp_context = init->qp_context;
	qp->ibv.srq = init->srq;
	if (init->srq)
		((struct fake_srq *)init->srq)->qps++;
	qp->ibv.qp_num = 0x100 + next_number++;
	((struct fake_cq *)init->send_cq)->qps++;
	((struct fake_cq *)init->recv_cq)->qps++;
	return &qp->ibv;
}

int ibv_destroy_qp(struct ibv_qp *ibv)
{
	struct fake_qp *qp = (struct fake_qp *)ibv;

	fake_forget(qp);
	((struct fake_cq *)ibv->send_cq)->qps--;
	((struct fake_cq *)ibv->recv_cq)->qps--;
	if (ibv->srq)
		((struct fake_srq *)ibv->srq)->qps--;
	return unmake(qp);
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init)
{
	const struct ibv_device_attr *attr = &device_of(pd->context)->attr;
	struct fake_srq *srq;

	if (init->attr.max_wr > (uint32_t)attr->max_srq_wr ||
	    init->attr.max_sge > (uint32_t)attr->max_srq_sge) {
		errno = EINVAL;
		return NULL;
	}
	srq = make(FAKE_CREATE_SRQ, sizeof(*srq));
	if (!srq)
		return NULL;
	srq->ibv.context = pd->context;
	srq->ibv.pd = pd;
	srq->init = *init;
	return &srq->ibv;
}

int ibv_destroy_srq(struct ibv_srq *srq)
{
	const bool gone = device_of(srq->context)->gone;
	int err = fake_enter(FAKE_DESTROY_SRQ);

	if (err)
		return err;
	if (((struct fake_srq *)srq)->qps)
		return EBUSY;
	unmake(srq);
	return gone ? EIO : 0;
}

int ibv_query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *pkey)
{
	errno = fake_enter(FAKE_QUERY_PKEY);
	if (errno)
		return -1;
	if (index < 0 || index >= FAKE_PKEYS)
		return EINVAL;
	*pkey = htobe16(device_of(context)->pkey[index]);
	return 0;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct fake_ah *ah = make(FAKE_CREATE_AH, sizeof(*ah));

	if (!ah)
		return NULL;
	ah->ibv.context = pd->context;
	ah->ibv.pd = pd;
	ah->attr = *attr;
	return &ah->ibv;
}

int ibv_attach_mcast(struct ibv_qp *ibv, const union ibv_gid *gid, uint16_t lid)
{
	const int err = fake_enter(FAKE_ATTACH);

	if (!err)
		fake_objects++;
	return err;
}

int ibv_detach_mcast(struct ibv_qp *ibv, const union ibv_gid *gid, uint16_t lid)
{
	fake_enter(FAKE_DETACH);
	fake_objects--;
	return 0;
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
	/* A device may look at it until the send has completed. */
	CT_EXPECT_EQ(((struct fake_ah *)ah)->outstanding, 0);
	return unmake(ah);
}

int ibv_modify_qp(struct ibv_qp *ibv, struct ibv_qp_attr *attr, int mask)
{
	int err = fake_enter(FAKE_MODIFY_QP);

	if (((struct fake_qp *)ibv)->device->gone)
		return EIO;
	return err ? err : fake_modify((struct fake_qp *)ibv, attr, mask);
}
