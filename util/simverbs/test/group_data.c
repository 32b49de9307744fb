/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Datagrams to the groups of the subnet, as draft-ietf-ipoib-link-multicast section 8 has
 * them sent: to the group if it exists, else to the all-router group, and after trap 66
 * to the group again; with a copy to the all-router group (section 9). The sender is at
 * sim0, a member of the all-router group by a MAD at sim1, a receiver by rdma_cm at sim2.
 * Prints what happens, for test-simverbs.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/ib.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sa_ask.h"

#define GROUP "ff12:401b:ffff::f01:203"
#define ROUTERS "ff12:401b:ffff::2"
#define QKEY 0xb1b
#define QPN_GROUPS 0xffffff
#define RECEIVES 16
#define SLOT 64 /* bytes: the GRH and a number */
#define GRH 40

struct node {
	const char *what;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	char *memory;
	union ibv_gid gid;
};

/* A group, and the LID that it had when it was asked for. */
struct group {
	union ibv_gid mgid;
	uint16_t lid;
};

static struct node nodes[] = {{.what = "sender"},
			      {.what = "router"},
			      {.what = "receiver"}};
enum { SENDER, ROUTER, RECEIVER, NODES };

static void need(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "group_data: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void node_start(struct node *node)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};

	need(!ibv_modify_qp(node->qp, &attr,
			    IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_QKEY),
	     "INIT");
	attr.qp_state = IBV_QPS_RTR;
	need(!ibv_modify_qp(node->qp, &attr, IBV_QP_STATE), "RTR");
	attr.qp_state = IBV_QPS_RTS;
	need(!ibv_modify_qp(node->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN), "RTS");
}

static void node_receive(struct node *node, int slot)
{
	struct ibv_sge sge = {(uintptr_t)node->memory + (size_t)slot * SLOT, SLOT,
			      node->mr->lkey};
	struct ibv_recv_wr *bad,
		wr = {.wr_id = (uint64_t)slot, .sg_list = &sge, .num_sge = 1};

	need(!ibv_post_recv(node->qp, &wr, &bad), "ibv_post_recv");
}

static void node_open(struct node *node, struct ibv_device *device)
{
	struct ibv_context *verbs = ibv_open_device(device);
	struct ibv_qp_init_attr init = {.cap = {4, RECEIVES, 1, 1, 16},
					.qp_type = IBV_QPT_UD};
	int i;

	need(verbs, "ibv_open_device");
	node->pd = ibv_alloc_pd(verbs);
	node->cq = ibv_create_cq(verbs, 2 * RECEIVES, NULL, NULL, 0);
	init.send_cq = init.recv_cq = node->cq;
	node->memory = calloc(RECEIVES, SLOT);
	node->mr = ibv_reg_mr(node->pd, node->memory, RECEIVES * SLOT,
			      IBV_ACCESS_LOCAL_WRITE);
	node->qp = ibv_create_qp(node->pd, &init);
	need(node->qp && node->mr, "a queue pair");
	need(!ibv_query_gid(verbs, 1, 0, &node->gid), "ibv_query_gid");
	node_start(node);
	for (i = 0; i < RECEIVES; i++)
		node_receive(node, i);
}

static void nodes_open(void)
{
	int i, count;
	struct ibv_device **devices = ibv_get_device_list(&count);

	need(devices && count >= NODES, "three devices");
	for (i = 0; i < NODES; i++)
		node_open(&nodes[i], devices[i]);
	ibv_free_device_list(devices);
}

static void send_to(const struct group *group, uint32_t number)
{
	struct node *node = &nodes[SENDER];
	struct ibv_ah_attr attr = {.dlid = group->lid,
				   .is_global = 1,
				   .port_num = 1,
				   .grh.dgid = group->mgid};
	struct ibv_ah *ah = ibv_create_ah(node->pd, &attr);
	struct ibv_sge sge = {(uintptr_t)&number, sizeof(number), 0};
	struct ibv_send_wr *bad, wr = {.sg_list = &sge,
				       .num_sge = 1,
				       .opcode = IBV_WR_SEND,
				       .send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED,
				       .wr.ud = {ah, QPN_GROUPS, QKEY}};
	struct ibv_wc wc;
	int got;

	need(ah && !ibv_post_send(node->qp, &wr, &bad), "ibv_post_send");
	while (!(got = ibv_poll_cq(node->cq, 1, &wc)))
		;
	need(got == 1 && wc.status == IBV_WC_SUCCESS, "a send");
	ibv_destroy_ah(ah);
}

/* Who has got something: the device delivers at once. */
static void show(void)
{
	uint32_t number;
	struct ibv_wc wc;
	int i;

	for (i = 0; i < NODES; i++) {
		while (ibv_poll_cq(nodes[i].cq, 1, &wc) == 1) {
			memcpy(&number, nodes[i].memory + wc.wr_id * SLOT + GRH,
			       sizeof(number));
			printf("  %s has %u\n", nodes[i].what, number);
			node_receive(&nodes[i], (int)wc.wr_id);
		}
	}
}

/* What the SA says of it now: false, there is no such group. */
static bool look_up(const char *mgid, struct group *group)
{
	const struct sa_request get = {.name = mgid,
				       .method = PVB_SA_GET,
				       .mask = PVB_MCM_HAS_MGID,
				       .mgid = mgid};
	struct pvb_mcm found;
	const int status = sa_tell(&get, &found);

	need(inet_pton(AF_INET6, mgid, &group->mgid) == 1 && status >= 0, "an answer");
	if (status)
		return false;
	group->lid = found.mlid;
	return true;
}

/* By a MAD; the queue pair receives. */
static void join_by_mad(struct node *node, const char *mgid, uint8_t state)
{
	const struct sa_request join = {
		.name = node->what,
		.method = PVB_SA_SET,
		.mask = SA_CREATE,
		.mgid = mgid,
		.state = state,
		.qkey = QKEY,
		.pkey = 0xffff,
		.port_gid = node->gid.raw,
	};
	struct pvb_mcm found;
	struct group group;

	need(!sa_tell(&join, &found), "joining");
	group.lid = found.mlid;
	inet_pton(AF_INET6, mgid, &group.mgid);
	need(!ibv_attach_mcast(node->qp, &group.mgid, group.lid), "ibv_attach_mcast");
}

/* At the address of sim2: the kernel takes what a group has from its interface. */
static struct rdma_cm_id *id_at(const char *address)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct sockaddr_in from = {.sin_family = AF_INET};
	struct rdma_cm_id *id;

	need(channel && inet_pton(AF_INET, address, &from.sin_addr) == 1 &&
		     !rdma_create_id(channel, &id, NULL, RDMA_PS_IPOIB) &&
		     !rdma_bind_addr(id, (struct sockaddr *)&from),
	     "an id");
	return id;
}

/* By rdma_cm; the queue pair receives. */
static void join_by_cm(struct rdma_cm_id *id, struct node *node, const char *mgid)
{
	struct sockaddr_ib to = {.sib_family = AF_IB};
	struct rdma_cm_event *event;
	struct ibv_ah_attr *ah;

	inet_pton(AF_INET6, mgid, &to.sib_addr);
	need(!rdma_join_multicast(id, (struct sockaddr *)&to, NULL) &&
		     !rdma_get_cm_event(id->channel, &event),
	     "rdma_join_multicast");
	printf("%s: %s\n", node->what, rdma_event_str(event->event));
	ah = &event->param.ud.ah_attr;
	need(event->param.ud.qkey == QKEY &&
		     !ibv_attach_mcast(node->qp, &ah->grh.dgid, ah->dlid),
	     "ibv_attach_mcast");
	rdma_ack_cm_event(event);
}

static void leave_by_cm(struct rdma_cm_id *id, const char *mgid)
{
	struct sockaddr_ib to = {.sib_family = AF_IB};

	inet_pton(AF_INET6, mgid, &to.sib_addr);
	need(!rdma_leave_multicast(id, (struct sockaddr *)&to), "rdma_leave_multicast");
}

static void hear(void)
{
	need(sa_hear(SA_WAIT_MS), "a report");
}

/* The receiver comes and goes. */
static void by_cm(const char *address, const struct group *routers)
{
	struct rdma_cm_id *id = id_at(address);
	struct group group, wrong;

	join_by_cm(id, &nodes[RECEIVER], GROUP);
	hear();
	need(look_up(GROUP, &group), GROUP);
	send_to(&group, 2);
	show();
	puts("and a copy");
	send_to(&group, 3);
	send_to(routers, 3);
	show();
	puts("with the other group's LID");
	wrong = group;
	wrong.lid = routers->lid;
	send_to(&wrong, 4);
	show();
	leave_by_cm(id, GROUP);
	hear();
	puts("after it has left");
	send_to(&group, 5);
	show();
}

/* What comes back has another LID; who only sends receives nothing. */
static void by_mad(const struct group *routers)
{
	struct group group;

	join_by_mad(&nodes[SENDER], GROUP, PVB_MCM_SEND_ONLY_FULL);
	hear();
	need(look_up(GROUP, &group), GROUP);
	puts("with a member that only sends");
	send_to(&group, 6);
	show();
	join_by_mad(&nodes[RECEIVER], GROUP, PVB_MCM_FULL);
	send_to(&group, 7);
	show();
	need(group.lid != routers->lid, "two LIDs");
}

/* The number of groups at the sender's own port is no queue pair's: it is sent all the
 * same, and nobody receives it. */
static void to_nobody(void)
{
	struct group nobody = {.mgid = nodes[SENDER].gid};
	struct ibv_port_attr port;

	need(!ibv_query_port(nodes[SENDER].qp->context, 1, &port), "ibv_query_port");
	nobody.lid = port.lid;
	puts("to nobody");
	send_to(&nobody, 8);
	show();
}

int main(int argc, char **argv)
{
	struct group group, routers;

	need(argc == 2, "usage: group_data ADDRESS-OF-SIM2");
	need(sa_open("sim0") && sa_subscribe(0), "subnet administration");
	nodes_open();
	join_by_mad(&nodes[ROUTER], ROUTERS, PVB_MCM_FULL);
	hear();
	need(!look_up(GROUP, &group) && look_up(ROUTERS, &routers), "one group");
	send_to(&routers, 1);
	show();
	by_cm(argv[1], &routers);
	by_mad(&routers);
	to_nobody();
	return 0;
}
