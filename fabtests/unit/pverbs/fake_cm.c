/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "fake_cm.h"
#include "fake_net.h"

struct fake_message fake_message;
struct fake_message fake_connect;
int fake_tos;
struct fake_join fake_join;

struct fake_channel {
	struct rdma_event_channel cm; /* its fd is a pipe with a byte for each event */
	int read_fd, write_fd;
	struct crn_list events;
};

struct fake_id {
	struct rdma_cm_id cm;
	struct ibv_context verbs; /* where cm.verbs points to */
	unsigned int joins;
	unsigned int unacked;
};

struct fake_event {
	struct crn_list entry;
	struct rdma_cm_event cm;
	uint8_t data[UINT8_MAX];
};

void fake_cm_reset(void)
{
	fake_net_reset();
	memset(&fake_message, 0, sizeof(fake_message));
	memset(&fake_join, 0, sizeof(fake_join));
	fake_tos = -1;
}

static struct fake_id *id_of(struct rdma_cm_id *id)
{
	return crn_container_of(id, struct fake_id, cm);
}

static struct fake_channel *channel_of(struct rdma_event_channel *channel)
{
	return crn_container_of(channel, struct fake_channel, cm);
}

static struct fake_event *event_of(struct crn_list *entry)
{
	return crn_container_of(entry, struct fake_event, entry);
}

/* What most calls do beside being recorded: 0, or -1 with errno. */
static int enter(enum fake_call call)
{
	int err = fake_enter(call);

	if (err)
		errno = err;
	return err ? -1 : 0;
}

struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct fake_channel *channel;
	int fds[2];

	if (enter(FAKE_CREATE_EVENT_CHANNEL))
		return NULL;
	channel = calloc(1, sizeof(*channel));
	if (!channel)
		return NULL;
	if (pipe(fds)) {
		free(channel);
		return NULL;
	}
	channel->cm.fd = fake_enter(FAKE_CHANNEL_FD) ? -1 : fds[0];
	channel->read_fd = fds[0];
	channel->write_fd = fds[1];
	crn_list_init(&channel->events);
	fake_objects++;
	return &channel->cm;
}

void rdma_destroy_event_channel(struct rdma_event_channel *cm)
{
	struct fake_channel *channel = channel_of(cm);

	CT_EXPECT_TRUE(crn_list_empty(&channel->events));
	close(channel->read_fd);
	close(channel->write_fd);
	fake_objects--;
	free(channel);
	errno = ENXIO; /* of what nobody is to look at */
}

static struct rdma_cm_id *id_new(struct rdma_event_channel *channel, void *context)
{
	struct fake_id *id = calloc(1, sizeof(*id));

	if (!id)
		return NULL;
	id->cm.channel = channel;
	id->cm.context = context;
	id->cm.ps = RDMA_PS_TCP;
	fake_objects++;
	return &id->cm;
}

static void id_free(struct rdma_cm_id *id)
{
	fake_objects--;
	free(id_of(id));
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id,
		   void *context, enum rdma_port_space ps)
{
	if (enter(FAKE_CREATE_ID))
		return -1;
	*id = id_new(channel, context);
	if (*id)
		(*id)->ps = ps;
	return *id ? 0 : -1;
}

static void event_free(struct rdma_event_channel *channel, struct fake_event *event)
{
	char byte;

	crn_list_del(&event->entry);
	CT_EXPECT_EQ(read(channel->fd, &byte, 1), 1);
	free(event);
}

/* The kernel forgets what it had to say about an id, and requests nobody saw yet. */
int rdma_destroy_id(struct rdma_cm_id *id)
{
	struct crn_list *pos, *tmp;
	struct fake_event *event;

	fake_enter(FAKE_DESTROY_ID);
	/* The real one would wait for the acknowledgement for ever. */
	CT_EXPECT_EQ(id_of(id)->unacked, 0);
	/* librdmacm forgets to free what is not left. */
	CT_EXPECT_EQ(id_of(id)->joins, 0);
	crn_list_for_each_safe (pos, tmp, &channel_of(id->channel)->events) {
		event = event_of(pos);
		if (event->cm.listen_id == id)
			id_free(event->cm.id);
		if (event->cm.id == id || event->cm.listen_id == id)
			event_free(id->channel, event);
	}
	id_free(id);
	return 0;
}

int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel)
{
	struct crn_list *pos, *tmp;

	if (enter(FAKE_MIGRATE))
		return -1;
	crn_list_for_each_safe (pos, tmp, &channel_of(id->channel)->events) {
		if (event_of(pos)->cm.id != id)
			continue;
		crn_list_del(pos);
		crn_list_add_tail(&channel_of(channel)->events, pos);
		CT_EXPECT_EQ(read(id->channel->fd, &(char){0}, 1), 1);
		CT_EXPECT_EQ(write(channel_of(channel)->write_fd, "", 1), 1);
	}
	id->channel = channel;
	return 0;
}

static struct fake_event *event_new(struct rdma_cm_id *id, enum rdma_cm_event_type type,
				    const void *data, size_t len)
{
	struct fake_event *event = calloc(1, sizeof(*event));

	event->cm.id = id;
	event->cm.event = type;
	if (data) {
		memcpy(event->data, data, len);
		event->cm.param.conn.private_data = event->data;
		event->cm.param.conn.private_data_len = (uint8_t)len;
	}
	return event;
}

static void event_send(struct fake_event *event)
{
	struct fake_channel *channel = channel_of(event->cm.id->channel);

	crn_list_add_tail(&channel->events, &event->entry);
	CT_EXPECT_EQ(write(channel->write_fd, "", 1), 1);
}

void fake_event(struct rdma_cm_id *id, enum rdma_cm_event_type type, int status,
		const void *data, size_t len)
{
	struct fake_event *event = event_new(id, type, data, len);

	event->cm.status = status;
	event_send(event);
}

void fake_join_event(struct rdma_cm_id *id, const uint8_t gid[16], uint16_t lid,
		     uint32_t qkey)
{
	struct fake_event *event = event_new(id, RDMA_CM_EVENT_MULTICAST_JOIN, NULL, 0);
	struct rdma_ud_param *ud = &event->cm.param.ud;

	ud->qkey = qkey;
	ud->qp_num = 0xffffff;
	ud->ah_attr.is_global = 1;
	ud->ah_attr.dlid = lid;
	ud->ah_attr.port_num = 1;
	ud->ah_attr.grh.sgid_index = 1;
	memcpy(ud->ah_attr.grh.dgid.raw, gid, 16);
	event_send(event);
}

int rdma_join_multicast_ex(struct rdma_cm_id *id, struct rdma_cm_join_mc_attr_ex *attr,
			   void *context)
{
	if (enter(FAKE_JOIN))
		return -1;
	CT_EXPECT_EQ(attr->comp_mask,
		     RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS);
	fake_join = (struct fake_join){.id = id, .flags = attr->join_flags};
	memcpy(&fake_join.addr, attr->addr, sizeof(struct sockaddr_in6));
	id_of(id)->joins++;
	return 0;
}

int rdma_leave_multicast(struct rdma_cm_id *id, struct sockaddr *addr)
{
	fake_enter(FAKE_LEAVE);
	CT_EXPECT_EQ(id_of(id)->unacked, 0);
	id_of(id)->joins--;
	return 0;
}

struct rdma_cm_id *fake_request(struct rdma_cm_id *listen_id,
				const struct fake_request *request)
{
	struct rdma_cm_id *id = id_new(listen_id->channel, listen_id->context);
	struct fake_event *event =
		event_new(id, RDMA_CM_EVENT_CONNECT_REQUEST, request->data, request->len);

	if (request->device)
		fake_id_device(id, request->device);
	memcpy(&id->route.addr.src_storage, &request->src, sizeof(request->src));
	memcpy(&id->route.addr.dst_storage, &request->peer, sizeof(request->peer));
	event->cm.listen_id = listen_id;
	event->cm.param.conn.responder_resources = request->responder_resources;
	event->cm.param.conn.initiator_depth = request->initiator_depth;
	event_send(event);
	return id;
}

int rdma_get_cm_event(struct rdma_event_channel *cm, struct rdma_cm_event **out)
{
	struct crn_list *events = &channel_of(cm)->events;
	struct fake_event *event;

	CT_EXPECT_TRUE(fcntl(cm->fd, F_GETFL) & O_NONBLOCK);
	if (enter(FAKE_GET_EVENT))
		return -1;
	if (crn_list_empty(events)) {
		errno = EAGAIN;
		return -1;
	}
	event = event_of(events->next);
	crn_list_del(&event->entry);
	CT_EXPECT_EQ(read(cm->fd, &(char){0}, 1), 1);
	id_of(event->cm.id)->unacked++;
	*out = &event->cm;
	return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *cm)
{
	id_of(cm->id)->unacked--;
	free(crn_container_of(cm, struct fake_event, cm));
	return 0;
}

void fake_id_device(struct rdma_cm_id *id, struct fake_device *device)
{
	id_of(id)->verbs.device = &device->ibv;
	id->verbs = &id_of(id)->verbs;
	if (!id->port_num)
		id->port_num = 1;
}

/* A wildcard address gives no device (rdma_bind_addr(3)). */
int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	const struct fake_interface *interface;

	if (enter(FAKE_BIND_ADDR))
		return -1;
	memcpy(&id->route.addr.src_storage, addr, crn_addr_len(addr));
	if (!crn_addr_port(addr))
		crn_addr_set_port(&id->route.addr.src_addr, 40000);
	if (crn_addr_is_any(addr))
		return 0;
	interface = fake_interface_of(addr);
	if (!interface) {
		errno = EADDRNOTAVAIL;
		return -1;
	}
	if (!interface->device) {
		errno = ENODEV;
		return -1;
	}
	fake_id_device(id, interface->device);
	id->port_num = interface->port;
	id->route.addr.addr.ibaddr.pkey = htons(0xffff);
	return 0;
}

static void record(enum fake_call call, const void *data, size_t len)
{
	fake_message = (struct fake_message){.call = call, .len = len};
	if (len)
		memcpy(fake_message.data, data, len);
}

int rdma_listen(struct rdma_cm_id *id, int backlog)
{
	record(FAKE_LISTEN, NULL, 0);
	fake_message.backlog = backlog;
	return enter(FAKE_LISTEN);
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src, struct sockaddr *dest,
		      int timeout_ms)
{
	record(FAKE_RESOLVE_ADDR, NULL, 0);
	if (src)
		memcpy(&fake_message.src, src, crn_addr_len(src));
	memcpy(&fake_message.dest, dest, crn_addr_len(dest));
	fake_message.timeout_ms = timeout_ms;
	memcpy(&id->route.addr.dst_storage, dest, crn_addr_len(dest));
	return enter(FAKE_RESOLVE_ADDR);
}

int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
	record(FAKE_RESOLVE_ROUTE, NULL, 0);
	fake_message.timeout_ms = timeout_ms;
	return enter(FAKE_RESOLVE_ROUTE);
}

static int send_param(enum fake_call call, const struct rdma_conn_param *param)
{
	record(call, param->private_data, param->private_data_len);
	fake_message.param = *param;
	fake_message.param.private_data = NULL;
	if (call == FAKE_CONNECT)
		fake_connect = fake_message;
	return enter(call);
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	return send_param(FAKE_CONNECT, param);
}

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	return send_param(FAKE_ACCEPT, param);
}

int rdma_reject(struct rdma_cm_id *id, const void *data, uint8_t len)
{
	record(FAKE_REJECT, data, len);
	return enter(FAKE_REJECT);
}

int rdma_establish(struct rdma_cm_id *id)
{
	record(FAKE_ESTABLISH, NULL, 0);
	return enter(FAKE_ESTABLISH);
}

int rdma_disconnect(struct rdma_cm_id *id)
{
	record(FAKE_DISCONNECT, NULL, 0);
	return enter(FAKE_DISCONNECT);
}

/* With the depths that the CM messages named, 3 and 5 here. */
int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
	*mask = IBV_QP_STATE;
	switch (attr->qp_state) {
	case IBV_QPS_INIT:
		attr->port_num = id->port_num;
		attr->pkey_index = 9;
		*mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
		break;
	case IBV_QPS_RTR:
		attr->max_dest_rd_atomic = 3;
		attr->path_mtu = IBV_MTU_2048;
		attr->min_rnr_timer = 12;
		attr->ah_attr.is_global = 1;
		attr->ah_attr.port_num = id->port_num;
		attr->ah_attr.grh.sgid_index = 1;
		*mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_PATH_MTU |
			 IBV_QP_MIN_RNR_TIMER | IBV_QP_AV;
		break;
	case IBV_QPS_RTS:
		attr->max_rd_atomic = 5;
		attr->timeout = 14;
		*mask |= IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_TIMEOUT;
		break;
	default:
		errno = EINVAL;
		return -1;
	}
	return enter(FAKE_INIT_QP_ATTR);
}

int rdma_set_option(struct rdma_cm_id *id, int level, int optname, void *optval,
		    size_t optlen)
{
	if (level != RDMA_OPTION_ID || optname != RDMA_OPTION_ID_TOS || optlen != 1) {
		errno = ENOSYS;
		return -1;
	}
	fake_tos = *(uint8_t *)optval;
	return enter(FAKE_SET_OPTION);
}
