/* SPDX-License-Identifier: BSD-2-Clause */
/* The devices as rdma_cm gives them out: one context and one domain each in a process. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cm.h"
#include "verbs/verbs.h"

static struct {
	pthread_mutex_t mutex;
	struct {
		struct ibv_context *verbs;
		struct ibv_pd *pd;
		/* Of a child of fork: its parent's, unused. */
		struct ibv_context *inherited;
		struct ibv_pd *inherited_pd;
	} of[SVB_MAX_DEVICES];
} svb_cm_devices = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* The child of a fork opens its own. */
static void svb_cm_device_forked(void)
{
	uint32_t i;

	pthread_mutex_init(&svb_cm_devices.mutex, NULL);
	for (i = 0; i < SVB_MAX_DEVICES; i++) {
		if (svb_cm_devices.of[i].verbs)
			svb_cm_devices.of[i].inherited = svb_cm_devices.of[i].verbs;
		if (svb_cm_devices.of[i].pd)
			svb_cm_devices.of[i].inherited_pd = svb_cm_devices.of[i].pd;
		svb_cm_devices.of[i].verbs = NULL;
		svb_cm_devices.of[i].pd = NULL;
	}
}

/* What the first device asks for. */
static int svb_cm_device_begin(void)
{
	static bool begun;
	int ret = begun ? 0 : pthread_atfork(NULL, NULL, svb_cm_device_forked);

	begun |= !ret;
	svb_cm_removal_watch();
	svb_cm_port_event_watch();
	return ret;
}

static int svb_cm_device_open(uint32_t index)
{
	struct ibv_device **list;
	int i, count, ret = ENODEV;

	if (svb_removed(index))
		return ENODEV;
	if (svb_cm_devices.of[index].verbs)
		return 0;
	if (svb_cm_device_begin())
		return ENOMEM;
	list = ibv_get_device_list(&count);
	if (!list)
		return errno;
	for (i = 0; i < count; i++) {
		if (ibv_get_device_index(list[i]) != (int)index)
			continue;
		svb_cm_devices.of[index].verbs = ibv_open_device(list[i]);
		ret = svb_cm_devices.of[index].verbs ? 0 : errno;
	}
	ibv_free_device_list(list);
	return ret;
}

static int svb_cm_device_get(uint32_t index, struct ibv_context **verbs,
			     struct ibv_pd **pd)
{
	int ret;

	pthread_mutex_lock(&svb_cm_devices.mutex);
	ret = svb_cm_device_open(index);
	*verbs = svb_cm_devices.of[index].verbs;
	if (!ret && pd && !svb_cm_devices.of[index].pd) {
		svb_cm_devices.of[index].pd = ibv_alloc_pd(*verbs);
		ret = svb_cm_devices.of[index].pd ? 0 : errno;
	}
	if (pd)
		*pd = svb_cm_devices.of[index].pd;
	pthread_mutex_unlock(&svb_cm_devices.mutex);
	return ret;
}

int svb_cm_attach(struct svb_cm_id *id, const struct svb_port *port, uint32_t gid)
{
	const struct svb_address *address = svb_port_address(port, gid);
	struct ibv_context *verbs;
	struct ibv_pd *pd;
	int ret = svb_cm_device_get(port->index / SVB_MAX_PORTS, &verbs, &pd);

	if (ret)
		return ret;
	id->id.verbs = verbs;
	if (!id->id.pd)
		id->id.pd = pd;
	id->id.port_num = (uint8_t)(port->index % SVB_MAX_PORTS + 1);
	id->id.route.addr.addr.ibaddr.sgid = port->gid[gid];
	id->port = port;
	id->gid = gid;
	svb_cm_set_pkey(id, port->pkey[address ? address->pkey : 0]);
	return 0;
}

void svb_cm_set_pkey(struct svb_cm_id *id, uint16_t pkey)
{
	struct svb_group_attr attr;

	id->id.route.addr.addr.ibaddr.pkey = htons(pkey);
	id->pkey = svb_pkey_index(id->port, pkey);
	/* cma_set_qkey of the kernel's cma.c. */
	if (svb_self.settings.link != SVB_LINK_IB || id->id.ps != RDMA_PS_IPOIB)
		return;
	svb_subnet_ipoib(pkey, &attr);
	id->qkey = attr.qkey;
}

void svb_cm_fill_path(struct svb_cm_id *id)
{
	struct ibv_sa_path_rec *path = &id->path;

	id->id.route.addr.addr.ibaddr.dgid = id->peer_port->gid[id->peer_gid];
	if (svb_cm_iwarp())
		return;
	*path = (struct ibv_sa_path_rec){
		.dgid = id->peer_port->gid[id->peer_gid],
		.sgid = id->port->gid[id->gid],
		.dlid = htons(id->peer_port->lid),
		.slid = htons(id->port->lid),
		.traffic_class = id->tos,
		.hop_limit = svb_self.settings.link == SVB_LINK_IB ? 0 : 64,
		.reversible = 1,
		.numb_path = 1,
		.pkey = id->id.route.addr.addr.ibaddr.pkey,
		.mtu_selector = 2, /* exactly */
		.mtu = (uint8_t)svb_self.settings.mtu,
		.rate_selector = 2,
		.rate = IBV_RATE_100_GBPS,
		.packet_life_time_selector = 2,
		.packet_life_time = 18,
	};
	id->id.route.path_rec = path;
	id->id.route.num_paths = 1;
}

SVB_API struct ibv_context **rdma_get_devices(int *num_devices)
{
	struct ibv_context **list;
	uint32_t i, count, n = 0;
	int ret = svb_join();

	if (num_devices)
		*num_devices = 0;
	if (ret) {
		errno = ret;
		return NULL;
	}
	count = svb_self.settings.devices;
	list = calloc(count + 1, sizeof(*list));
	for (i = 0; list && i < count; i++) {
		ret = svb_cm_device_get(i, &list[n], NULL);
		if (!ret) {
			n++;
		} else if (!svb_removed(i)) {
			free(list);
			errno = ret;
			return NULL;
		}
	}
	if (list && num_devices)
		*num_devices = (int)n;
	if (list)
		list[n] = NULL;
	return list;
}

SVB_API void rdma_free_devices(struct ibv_context **list)
{
	free(list);
}
