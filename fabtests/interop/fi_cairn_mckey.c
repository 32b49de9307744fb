/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fi_cairn_mckey ADDRESS GROUP COUNT SIZE [send]: the other side of mckey(1), which
 * counts datagrams of one size. ADDRESS is of this host's device, GROUP an IPv4 address
 * or, on InfiniBand, a GID. Receives COUNT of them, or sends until it is killed.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>

#define API FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION)
#define MR_MODE (FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR)
#define SIZE_MAX_HERE 4096
#define SLOTS 64
#define EVENT_MS 60000
#define SEND_EVERY_US 20000

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_eq *eq;
static struct fid_av *av;
static struct fid_cq *cq;
static struct fid_ep *ep;
static struct fid_mr *mr;
static struct fid_mc *mc;
static char buffer[SLOTS][SIZE_MAX_HERE];

static void check(const char *what, long ret)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "fi_cairn_mckey: %s: %s\n", what, fi_strerror((int)-ret));
	exit(1);
}

static void ask(const char *address)
{
	struct fi_info *hints = fi_allocinfo();

	if (!hints)
		exit(1);
	hints->caps = FI_MSG | FI_MULTICAST;
	hints->ep_attr->type = FI_EP_DGRAM;
	hints->domain_attr->mr_mode = MR_MODE;
	hints->fabric_attr->prov_name = strdup("pverbs");
	check("fi_getinfo", fi_getinfo(API, address, NULL, FI_SOURCE, hints, &info));
	fi_freeinfo(hints);
}

static void open_all(void)
{
	struct fi_eq_attr eq_attr = {.wait_obj = FI_WAIT_UNSPEC};
	struct fi_cq_attr cq_attr = {.format = FI_CQ_FORMAT_DATA,
				     .wait_obj = FI_WAIT_UNSPEC};
	struct fi_av_attr av_attr = {.type = FI_AV_TABLE};

	check("fi_fabric", fi_fabric(info->fabric_attr, &fabric, NULL));
	check("fi_eq_open", fi_eq_open(fabric, &eq_attr, &eq, NULL));
	check("fi_domain", fi_domain(fabric, info, &domain, NULL));
	check("fi_av_open", fi_av_open(domain, &av_attr, &av, NULL));
	check("fi_cq_open", fi_cq_open(domain, &cq_attr, &cq, NULL));
	check("fi_mr_reg", fi_mr_reg(domain, buffer, sizeof(buffer), FI_SEND | FI_RECV, 0,
				     0, 0, &mr, NULL));
	check("fi_endpoint", fi_endpoint(domain, info, &ep, NULL));
	check("fi_ep_bind", fi_ep_bind(ep, &eq->fid, 0));
	check("fi_ep_bind", fi_ep_bind(ep, &av->fid, 0));
	check("fi_ep_bind", fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
	check("fi_enable", fi_enable(ep));
}

static void post(unsigned int slot)
{
	check("fi_recv", fi_recv(ep, buffer[slot], SIZE_MAX_HERE, fi_mr_desc(mr),
				 FI_ADDR_UNSPEC, buffer[slot]));
}

static void join(const char *text, uint64_t flags)
{
	struct sockaddr_in in = {.sin_family = AF_INET};
	struct fi_eq_entry entry;
	uint8_t gid[32] = {0};
	const void *group = &in;
	uint32_t event;

	if (inet_pton(AF_INET, text, &in.sin_addr) != 1) {
		if (inet_pton(AF_INET6, text, gid) != 1)
			check("the group", -FI_EINVAL);
		group = gid;
	}
	check("fi_join", fi_join(ep, group, flags, &mc, NULL));
	check("FI_JOIN_COMPLETE",
	      fi_eq_sread(eq, &event, &entry, sizeof(entry), EVENT_MS, 0));
	printf("joined\n");
	fflush(stdout);
}

static void receive(unsigned long count, size_t size)
{
	struct fi_cq_data_entry entry;
	unsigned long i;

	for (i = 0; i < count; i++) {
		check("a datagram", fi_cq_sread(cq, &entry, 1, NULL, EVENT_MS));
		if (entry.len != size) {
			fprintf(stderr, "fi_cairn_mckey: %zu bytes\n", entry.len);
			exit(1);
		}
		post((unsigned int)(i % SLOTS));
	}
	printf("%lu received\n", count);
}

static void send_on(size_t size)
{
	struct fi_cq_data_entry entry;

	for (;;) {
		check("fi_send", fi_send(ep, buffer[0], size, fi_mr_desc(mr),
					 fi_mc_addr(mc), buffer[0]));
		check("a send", fi_cq_sread(cq, &entry, 1, NULL, EVENT_MS));
		usleep(SEND_EVERY_US);
	}
}

static void close_all(void)
{
	fid_t fids[] = {&mc->fid, &ep->fid,	&mr->fid, &cq->fid,
			&av->fid, &domain->fid, &eq->fid, &fabric->fid};
	size_t i;

	for (i = 0; i < sizeof(fids) / sizeof(fids[0]); i++)
		check("fi_close", fi_close(fids[i]));
	fi_freeinfo(info);
}

int main(int argc, char **argv)
{
	const size_t size = argc > 4 ? strtoul(argv[4], NULL, 10) : 0;
	unsigned int slot;

	if (argc < 5 || size > SIZE_MAX_HERE) {
		fprintf(stderr,
			"usage: fi_cairn_mckey ADDRESS GROUP COUNT SIZE [send]\n");
		return 2;
	}
	ask(argv[1]);
	open_all();
	if (argc > 5) {
		join(argv[2], FI_SEND);
		send_on(size);
	}
	for (slot = 0; slot < SLOTS; slot++)
		post(slot);
	join(argv[2], FI_RECV);
	receive(strtoul(argv[3], NULL, 10), size);
	close_all();
	return 0;
}
