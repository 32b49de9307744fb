/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs/device.c, verbs/device_attr.c, verbs/ah.c: what verbs say of each link layer. */
#include <arpa/inet.h>
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
	struct ibv_ah_attr attr = {.dlid = port->lid,
				   .port_num = 1,
				   .is_global = global,
				   .grh = {.dgid = *gid}};
	struct ibv_ah *ah;

	errno = 0;
	ah = ibv_create_ah(pd, &attr);
	if (ah)
		ibv_destroy_ah(ah);
	return errno;
}

static void shows(void)
{
	struct ibv_gid_entry entry;
	struct ibv_device **list;
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	struct ibv_context *ctx;
	union ibv_gid gid, none;
	struct ibv_pd *pd;

	world_settings("SIMVERBS_LINK_LAYER", layer->name, NULL);
	list = ibv_get_device_list(NULL);
	ctx = list ? ibv_open_device(list[0]) : NULL;
	pd = ctx ? ibv_alloc_pd(ctx) : NULL;
	CT_ASSERT_TRUE(pd && !ibv_query_device(ctx, &attr) &&
		       !ibv_query_port(ctx, 1, &port) &&
		       !ibv_query_gid(ctx, 1, 0, &gid) &&
		       !ibv_query_gid_ex(ctx, 1, 0, &entry, 0));
	CT_EXPECT_EQ(list[0]->transport_type, layer->transport);
	CT_EXPECT_EQ(list[0]->node_type, layer->node);
	CT_EXPECT_EQ(port.link_layer, layer->link_layer);
	CT_EXPECT_EQ(port.flags, layer->flags);
	CT_EXPECT_EQ(!!port.lid, layer->lid);
	CT_EXPECT_EQ(!!port.sm_lid, layer->lid);
	CT_EXPECT_EQ(port.gid_tbl_len, layer->gids);
	CT_EXPECT_EQ(entry.gid_type, layer->gid_type);
	CT_EXPECT_NE(ibv_query_gid(ctx, 1, layer->gids, &none), 0);
	CT_EXPECT_EQ(make_ah(pd, &port, &gid, false), layer->ah_local);
	CT_EXPECT_EQ(make_ah(pd, &port, &gid, true), layer->ah_global);
	CT_EXPECT_EQ(attr.atomic_cap, layer->atomics);
	ibv_dealloc_pd(pd);
	ibv_close_device(ctx);
	ibv_free_device_list(list);
}

CT_TEST(link, verbs_tell_the_layers_apart)
{
	for (size_t i = 0; i < sizeof(layers) / sizeof(layers[0]); i++) {
		layer = &layers[i];
		CT_NOTE("%s", layer->name);
		world_run(shows);
	}
}

/* Messages both ways and a write, addressed by GID. */
WORLD_CHILD(link, traffic_on_roce_is_addressed_by_gid)
{
	struct pair p;

	world_settings("SIMVERBS_LINK_LAYER", "roce", NULL);
	pair_open(&p);
	strcpy(p.a.memory, "over Ethernet");
	CT_ASSERT_TRUE(!world_recv(&p.b, 1, 64, 64) && !world_send(&p.a, 2, 0, 14));
	CT_EXPECT_TRUE(!world_status(p.a.cq) && !world_status(p.b.cq));
	CT_EXPECT_STREQ(p.b.memory + 64, "over Ethernet");
	CT_ASSERT_EQ(world_rdma(&p.a, IBV_WR_RDMA_WRITE, 0, 14, &p.to, 256), 0);
	CT_EXPECT_EQ(world_status(p.a.cq), IBV_WC_SUCCESS);
	CT_EXPECT_STREQ(p.b.memory + 256, "over Ethernet");
	pair_close(&p);
}

static const char *gid_types;

/* With each type of GIDs: what verbs show, and the GID of an id that is bound to one of
 * two addresses. */
static void typed(void)
{
	const bool both = !strcmp(gid_types, "both"), v2 = strcmp(gid_types, "v1");
	struct sockaddr_in addr = {.sin_family = AF_INET};
	const uint32_t at = both ? 5 : 2;
	struct ibv_gid_entry entry[8];
	union ibv_gid gid;
	struct rdma_cm_id *id;

	world_settings("SIMVERBS_LINK_LAYER", "roce", "SIMVERBS_GID_TYPES", gid_types,
		       "SIMVERBS_SIM0_ADDRESS", "10.77.0.1/24 10.77.0.2/24", NULL);
	inet_pton(AF_INET, "10.77.0.2", &addr.sin_addr);
	CT_ASSERT_TRUE(!rdma_create_id(NULL, &id, NULL, RDMA_PS_UDP) &&
		       !rdma_bind_addr(id, (struct sockaddr *)&addr));
	CT_ASSERT_EQ(ibv_query_gid_table(id->verbs, entry, 8, 0), both ? 6 : 3);
	CT_EXPECT_EQ(entry[at].gid_type,
		     v2 ? IBV_GID_TYPE_ROCE_V2 : IBV_GID_TYPE_ROCE_V1);
	CT_EXPECT_TRUE(!both || entry[at - 1].gid_type == IBV_GID_TYPE_ROCE_V1);
	CT_EXPECT_EQ(ibv_query_gid(id->verbs, 1, (int)at, &gid), 0);
	CT_EXPECT_MEMEQ(&gid, &entry[at].gid, sizeof(gid));
	CT_EXPECT_MEMEQ(&gid, &id->route.addr.addr.ibaddr.sgid, sizeof(gid));
	CT_EXPECT_MEMEQ(gid.raw + 12, &addr.sin_addr, 4);
	CT_EXPECT_EQ(svb_cm_id(id)->gid, at);
	CT_EXPECT_EQ(rdma_destroy_id(id), 0);
}

CT_TEST(link, an_id_has_the_gid_of_its_address_in_the_type_it_prefers)
{
	static const char *const rows[] = {"v1", "v2", "both"};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		gid_types = rows[i];
		CT_NOTE("%s", rows[i]);
		world_run(typed);
	}
}
