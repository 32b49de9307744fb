/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs/device.c, verbs/device_attr.c, verbs/ah.c: what verbs say of each link layer. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <unistd.h>
#include "cm/cm.h"
#include "../world.h"

static const struct layer {
	const char *name;
	uint8_t link_layer;
	enum ibv_transport_type transport;
	enum ibv_node_type node;
	bool lid;		 /* ports have one, and address handles need no GRH */
	uint8_t flags;		 /* struct ibv_port_attr */
	int gids;		 /* length of the table */
	uint32_t gid_type;	 /* enum ibv_gid_type */
	int ah_local, ah_global; /* errno of ibv_create_ah */
	enum ibv_atomic_cap atomics;
} layers[] = {
	{"infiniband", IBV_LINK_LAYER_INFINIBAND, IBV_TRANSPORT_IB, IBV_NODE_CA, true, 0,
	 SVB_MAX_GIDS, IBV_GID_TYPE_IB, 0, 0, IBV_ATOMIC_HCA},
	{"roce", IBV_LINK_LAYER_ETHERNET, IBV_TRANSPORT_IB, IBV_NODE_CA, false,
	 IBV_QPF_GRH_REQUIRED, SVB_MAX_GIDS, IBV_GID_TYPE_ROCE_V2, EINVAL, 0,
	 IBV_ATOMIC_HCA},
	{"iwarp", IBV_LINK_LAYER_ETHERNET, IBV_TRANSPORT_IWARP, IBV_NODE_RNIC, false, 0,
	 1, IBV_GID_TYPE_IB, EOPNOTSUPP, EOPNOTSUPP, IBV_ATOMIC_NONE},
};
static const struct layer *layer;

/* The errno of making an address handle to the own port, 0 when it is made. */
static int make_ah(struct ibv_pd *pd, const struct ibv_port_attr *port,
		   const union ibv_gid *gid, bool global)
{
	struct ibv_ah_attr attr = {
		.dlid = port->lid,
		.port_num = 1,
		.is_global = global,
		.grh = {.dgid = *gid},
	};
	struct ibv_ah *ah;

	errno = 0;
	ah = ibv_create_ah(pd, &attr);
	if (ah)
		ibv_destroy_ah(ah);
	return errno;
}

/* Which statement does not hold; 0: all do. */
static int says(int fd)
{
	struct ibv_gid_entry entry;
	struct ibv_device **list;
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	struct ibv_context *ctx;
	union ibv_gid gid, none;
	struct ibv_pd *pd;
	int ret = 0;

	svb_self.settings.devices = 0;
	setenv("SIMVERBS_LINK_LAYER", layer->name, 1);
	list = ibv_get_device_list(NULL);
	ctx = list ? ibv_open_device(list[0]) : NULL;
	pd = ctx ? ibv_alloc_pd(ctx) : NULL;
	if (!pd || ibv_query_device(ctx, &attr) || ibv_query_port(ctx, 1, &port) ||
	    ibv_query_gid(ctx, 1, 0, &gid) || ibv_query_gid_ex(ctx, 1, 0, &entry, 0))
		return 1;
	if (list[0]->transport_type != layer->transport ||
	    list[0]->node_type != layer->node)
		ret = 2;
	if (port.link_layer != layer->link_layer || port.flags != layer->flags)
		ret = 3;
	if (!!port.lid != layer->lid || !!port.sm_lid != layer->lid)
		ret = 4;
	if (port.gid_tbl_len != layer->gids || entry.gid_type != layer->gid_type ||
	    !ibv_query_gid(ctx, 1, layer->gids, &none))
		ret = 5;
	if (make_ah(pd, &port, &gid, false) != layer->ah_local ||
	    make_ah(pd, &port, &gid, true) != layer->ah_global)
		ret = 6;
	if (attr.atomic_cap != layer->atomics)
		ret = 7;
	ibv_dealloc_pd(pd);
	ibv_close_device(ctx);
	ibv_free_device_list(list);
	return ret;
}

CT_TEST(link, verbs_tell_the_layers_apart)
{
	size_t i;
	pid_t pid;
	int fd;

	for (i = 0; i < sizeof(layers) / sizeof(layers[0]); i++) {
		layer = &layers[i];
		CT_NOTE("%s", layer->name);
		fd = world_child(says, &pid);
		CT_EXPECT_EQ(world_reap(pid), 0);
		close(fd);
	}
}

/* Messages both ways and a write, addressed by GID. */
static int roce(int fd)
{
	struct address to;
	struct end a, b;

	svb_self.settings.devices = 0;
	setenv("SIMVERBS_LINK_LAYER", "roce", 1);
	if (!world_pair(&a, &b))
		return 1;
	to = world_address(&b);
	strcpy(a.memory, "over Ethernet");
	if (world_recv(&b, 1, 64, 64) || world_send(&a, 2, 0, 14) || world_status(a.cq) ||
	    world_status(b.cq) || strcmp(b.memory + 64, "over Ethernet"))
		return 2;
	if (world_rdma(&a, IBV_WR_RDMA_WRITE, 0, 14, &to, 256) || world_status(a.cq) ||
	    strcmp(b.memory + 256, "over Ethernet"))
		return 3;
	world_pair_close(&a, &b);
	return 0;
}

CT_TEST(link, traffic_on_roce_is_addressed_by_gid)
{
	pid_t pid;
	int fd = world_child(roce, &pid);

	CT_EXPECT_EQ(world_reap(pid), 0);
	close(fd);
}

static const char *gid_types;

/* With each type of GIDs: what verbs show, and the GID of an id that is bound to one of
 * two addresses. */
static int typed(int fd)
{
	const bool both = !strcmp(gid_types, "both"), v2 = strcmp(gid_types, "v1");
	struct sockaddr_in addr = {.sin_family = AF_INET};
	const uint32_t at = both ? 5 : 2;
	struct ibv_gid_entry entry[8];
	union ibv_gid gid;
	struct rdma_cm_id *id;

	(void)fd;
	svb_self.settings.devices = 0;
	setenv("SIMVERBS_LINK_LAYER", "roce", 1);
	setenv("SIMVERBS_GID_TYPES", gid_types, 1);
	setenv("SIMVERBS_SIM0_ADDRESS", "10.77.0.1/24 10.77.0.2/24", 1);
	inet_pton(AF_INET, "10.77.0.2", &addr.sin_addr);
	if (rdma_create_id(NULL, &id, NULL, RDMA_PS_UDP) ||
	    rdma_bind_addr(id, (struct sockaddr *)&addr))
		return 1;
	if (ibv_query_gid_table(id->verbs, entry, 8, 0) != (both ? 6 : 3))
		return 2;
	if (entry[at].gid_type != (v2 ? IBV_GID_TYPE_ROCE_V2 : IBV_GID_TYPE_ROCE_V1) ||
	    (both && entry[at - 1].gid_type != IBV_GID_TYPE_ROCE_V1))
		return 3;
	if (ibv_query_gid(id->verbs, 1, (int)at, &gid) ||
	    memcmp(&gid, &entry[at].gid, sizeof(gid)) ||
	    memcmp(&gid, &id->route.addr.addr.ibaddr.sgid, sizeof(gid)) ||
	    memcmp(gid.raw + 12, &addr.sin_addr, 4))
		return 4;
	if (svb_cm_id(id)->gid != at)
		return 5;
	return rdma_destroy_id(id);
}

CT_TEST(link, an_id_has_the_gid_of_its_address_in_the_type_it_prefers)
{
	static const char *const rows[] = {"v1", "v2", "both"};
	size_t i;
	pid_t pid;
	int fd;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		gid_types = rows[i];
		CT_NOTE("%s", rows[i]);
		fd = world_child(typed, &pid);
		CT_EXPECT_EQ(world_reap(pid), 0);
		close(fd);
	}
}
