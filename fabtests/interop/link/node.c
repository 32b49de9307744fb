/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_ext_cairn.h>
#include "node.h"

#define API FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION)
#define NODES 3
#define GROUPS 8
#define SLOTS 64
#define LONGEST 4096
#define GROUP_TEXT 64
#define SETTLE 20
/* ms: nothing takes so long. */
#define LIMIT 20000

struct member {
	struct fid_mc *mc; /* NULL: unused */
	char group[GROUP_TEXT];
};

static struct node {
	struct fi_info *info; /* NULL: not open */
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_eq *eq;
	struct fid_av *av;
	struct fid_cq *txcq, *rxcq;
	struct fid_ep *ep;
	struct fid_mr *mr;
	struct member member[GROUPS];
	char memory[SLOTS + 1][LONGEST]; /* the last one is sent */
} nodes[NODES];

static void check(const char *what, long ret)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "fi_cairn_link: %s: %s\n", what, fi_strerror((int)-ret));
	exit(1);
}

static void answer_text(char *answer, const char *text)
{
	snprintf(answer, FCL_TEXT, "%s", text);
}

/* An error of a call. */
static void answer_error(char *answer, long ret)
{
	answer_text(answer, fi_strerror((int)-ret));
}

/* The devices of fabtests/interop/subnet: the first one is the manager's. */
static void ask_info(struct node *node)
{
	struct fi_info *hints = fi_allocinfo();
	char name[16];

	snprintf(name, sizeof(name), "sim%d", (int)(node - nodes) + 1);
	if (!hints)
		exit(1);
	hints->caps = FI_MSG | FI_MULTICAST;
	hints->ep_attr->type = FI_EP_DGRAM;
	hints->domain_attr->mr_mode = FI_MR_LOCAL;
	hints->domain_attr->name = strdup(name);
	hints->fabric_attr->prov_name = strdup("pverbs");
	check(name, fi_getinfo(API, NULL, NULL, 0, hints, &node->info));
	fi_freeinfo(hints);
}

static void post(struct node *node, size_t slot)
{
	check("fi_recv",
	      fi_recv(node->ep, node->memory[slot], LONGEST, fi_mr_desc(node->mr),
		      FI_ADDR_UNSPEC, node->memory[slot]));
}

static void open_endpoint(struct node *node)
{
	size_t i;

	check("fi_endpoint", fi_endpoint(node->domain, node->info, &node->ep, NULL));
	check("fi_ep_bind", fi_ep_bind(node->ep, &node->eq->fid, 0));
	check("fi_ep_bind", fi_ep_bind(node->ep, &node->av->fid, 0));
	check("fi_ep_bind", fi_ep_bind(node->ep, &node->txcq->fid, FI_TRANSMIT));
	check("fi_ep_bind", fi_ep_bind(node->ep, &node->rxcq->fid, FI_RECV));
	check("fi_enable", fi_enable(node->ep));
	check("fi_mr_reg", fi_mr_reg(node->domain, node->memory, sizeof(node->memory),
				     FI_SEND | FI_RECV, 0, 0, 0, &node->mr, NULL));
	for (i = 0; i < SLOTS; i++)
		post(node, i);
}

static struct node *node_of(char name)
{
	struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_MSG, .size = 2 * SLOTS};
	struct fi_eq_attr eq = {.wait_obj = FI_WAIT_FD};
	struct fi_av_attr av = {.type = FI_AV_TABLE};
	struct node *node = &nodes[name - 'A'];

	if (node->info)
		return node;
	ask_info(node);
	check("fi_fabric", fi_fabric(node->info->fabric_attr, &node->fabric, NULL));
	check("fi_domain", fi_domain(node->fabric, node->info, &node->domain, NULL));
	check("fi_eq_open", fi_eq_open(node->fabric, &eq, &node->eq, NULL));
	check("fi_av_open", fi_av_open(node->domain, &av, &node->av, NULL));
	check("fi_cq_open", fi_cq_open(node->domain, &cq, &node->txcq, NULL));
	check("fi_cq_open", fi_cq_open(node->domain, &cq, &node->rxcq, NULL));
	open_endpoint(node);
	return node;
}

static struct member *member_of(struct node *node, const char *group)
{
	int i;

	for (i = 0; i < GROUPS; i++)
		if (node->member[i].mc && !strcmp(node->member[i].group, group))
			return &node->member[i];
	fprintf(stderr, "fi_cairn_link: %s is not joined\n", group);
	exit(1);
}

static struct member *member_new(struct node *node, const char *group)
{
	int i = 0;

	while (i < GROUPS - 1 && node->member[i].mc)
		i++;
	snprintf(node->member[i].group, GROUP_TEXT, "%s", group);
	return &node->member[i];
}

void fcl_ask(char name, const char *group, const char *how, char *answer)
{
	const uint64_t flags = !how ? 0 : strcmp(how, "send") == 0 ? FI_SEND : FI_RECV;
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
	struct sockaddr_in in = {.sin_family = AF_INET};
	struct node *node = node_of(name);
	struct member *member = member_new(node, group);
	const void *addr = &in6;
	long ret;

	if (inet_pton(AF_INET, group, &in.sin_addr) == 1)
		addr = &in;
	else if (inet_pton(AF_INET6, group, &in6.sin6_addr) != 1)
		check(group, -FI_EINVAL);
	ret = fi_join(node->ep, addr, flags, &member->mc, member);
	answer_text(answer, ret ? fi_strerror((int)-ret) : "asked");
}

static void event_error(struct node *node, char *answer)
{
	struct fi_eq_err_entry err = {0};
	const struct member *member;

	check("fi_eq_readerr", fi_eq_readerr(node->eq, &err, 0));
	member = err.context;
	snprintf(answer, FCL_TEXT, "%s: %s, status 0x%04x", member ? member->group : "?",
		 fi_strerror(err.err), (unsigned int)err.prov_errno);
}

void fcl_event(char name, char *answer)
{
	struct node *node = node_of(name);
	struct fi_eq_entry entry;
	uint32_t event;
	const ssize_t ret =
		fi_eq_sread(node->eq, &event, &entry, sizeof(entry), LIMIT, 0);

	if (ret == -FI_EAVAIL)
		event_error(node, answer);
	else if (ret < 0)
		answer_error(answer, ret);
	else
		snprintf(answer, FCL_TEXT, "%s: %s",
			 ((struct member *)entry.context)->group,
			 event == FI_JOIN_COMPLETE ? "joined" : "another event");
}

void fcl_join(char name, const char *group, const char *how, char *answer)
{
	char event[FCL_TEXT];

	fcl_ask(name, group, how, answer);
	if (strcmp(answer, "asked") != 0)
		return;
	fcl_event(name, event);
	if (!strncmp(event, group, strlen(group)))
		answer_text(answer, event + strlen(group) + 2);
	else
		answer_text(answer, event);
}

void fcl_leave(char name, const char *group, char *answer)
{
	struct member *member = member_of(node_of(name), group);
	const int ret = fi_close(&member->mc->fid);

	member->mc = NULL;
	answer_text(answer, ret ? fi_strerror(-ret) : "left");
}

void fcl_send_long(char name, const char *group, size_t len, char *answer)
{
	struct node *node = node_of(name);
	const struct member *member = member_of(node, group);
	struct fi_cq_msg_entry comp;
	long ret = fi_send(node->ep, node->memory[SLOTS], len, fi_mr_desc(node->mr),
			   fi_mc_addr(member->mc), NULL);

	if (!ret)
		while ((ret = fi_cq_read(node->txcq, &comp, 1)) == -FI_EAGAIN)
			;
	answer_text(answer, ret < 0 ? fi_strerror((int)-ret) : "sent");
}

void fcl_send(char name, const char *group, const char *text, char *answer)
{
	snprintf(node_of(name)->memory[SLOTS], LONGEST, "%s", text);
	fcl_send_long(name, group, strlen(text) + 1, answer);
}

/* The device delivers at once. */
void fcl_take(char name, char *answer)
{
	struct node *node = node_of(name);
	struct fi_cq_msg_entry comp;
	const ssize_t ret = fi_cq_read(node->rxcq, &comp, 1);

	if (ret == -FI_EAGAIN) {
		answer_text(answer, "nothing");
		return;
	}
	check("fi_cq_read", ret);
	answer_text(answer, comp.op_context);
	post(node, (size_t)((char *)comp.op_context - node->memory[0]) / LONGEST);
}

static void progress(void)
{
	const struct timespec moment = {0, 1000000};
	struct fi_eq_entry entry;
	uint32_t event;
	int i;

	for (i = 0; i < NODES; i++)
		if (nodes[i].info)
			fi_eq_read(nodes[i].eq, &event, &entry, sizeof(entry), FI_PEEK);
	nanosleep(&moment, NULL);
}

void fcl_settle(char *answer)
{
	int i;

	for (i = 0; i < SETTLE; i++)
		progress();
	answer_text(answer, "done");
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static bool take_text(char name, const char *text)
{
	char got[FCL_TEXT];

	do {
		fcl_take(name, got);
		if (!strcmp(got, text))
			return true;
	} while (strcmp(got, "nothing") != 0);
	return false;
}

void fcl_reach(char from, const char *group, char to, char *answer)
{
	const char other = (char)('A' + 'B' + 'C' - from - to);
	const uint64_t end = now_ms() + LIMIT;
	unsigned int number = 0;
	bool here, there;
	char text[32];

	answer_text(answer, "never");
	while (now_ms() < end) {
		snprintf(text, sizeof(text), "number %u", ++number);
		fcl_send(from, group, text, answer);
		if (strcmp(answer, "sent") != 0)
			return;
		here = take_text(to, text);
		there = take_text(other, text);
		if (here)
			answer_text(answer, there ? "reaches both" : "reaches");
		else
			answer_text(answer, "never");
		if (here)
			return;
		progress();
	}
}

void fcl_dropped(char name, char *answer)
{
	struct node *node = node_of(name);
	struct fi_cairn_stats stats = {0};
	struct fi_cairn_ops_stats *ops;

	check("fi_open_ops",
	      fi_open_ops(&node->ep->fid, FI_CAIRN_STATS, 0, (void **)&ops, NULL));
	check("read", ops->read(node->ep, &stats, sizeof(stats)));
	snprintf(answer, FCL_TEXT, "%llu", (unsigned long long)stats.mc_dropped);
}

void fcl_close(char name)
{
	struct node *node = &nodes[name - 'A'];
	int i;

	if (!node->info)
		return;
	for (i = 0; i < GROUPS; i++)
		if (node->member[i].mc)
			check("fi_close", fi_close(&node->member[i].mc->fid));
	check("fi_close", fi_close(&node->ep->fid));
	check("fi_close", fi_close(&node->mr->fid));
	check("fi_close", fi_close(&node->txcq->fid));
	check("fi_close", fi_close(&node->rxcq->fid));
	check("fi_close", fi_close(&node->av->fid));
	check("fi_close", fi_close(&node->eq->fid));
	check("fi_close", fi_close(&node->domain->fid));
	check("fi_close", fi_close(&node->fabric->fid));
	fi_freeinfo(node->info);
	memset(node, 0, sizeof(*node));
}
