/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What one operation costs with its completion, both ends of the connection in this
 * process and thread: so every instruction of it is counted, and nobody waits for
 * anybody. util/bench runs it beside the same operation in verbs (bench_verbs).
 *
 * One line: "OPERATION provider=NAME threading=LEVEL size=BYTES ns=NS", the median of the
 * rounds.
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#define MAX_ROUNDS 1001
#define MOST (1 << 20)
#define PATIENCE_MS 10000
#define DEPTH 64

struct end {
	struct fid_ep *ep;
	struct fid_cq *cq;
};

static const char *provider = "pverbs", *address;
static enum fi_threading threading = FI_THREAD_DOMAIN;
static size_t size = 8;
static long count = 20000, rounds = 31;

static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_eq *eq;
static struct fid_mr *mr;
static struct end ends[2]; /* who connected, and who was asked */
static char *memory;	   /* the second half is the target */
static void *desc;
static uint64_t target, key;

static void need(ssize_t ret, const char *what)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "fi_cairn_op: %s: %s\n", what, fi_strerror((int)-ret));
	exit(1);
}

static struct fi_info *hints(void)
{
	struct fi_info *info = fi_allocinfo();

	need(info ? 0 : -FI_ENOMEM, "fi_allocinfo");
	info->caps = FI_MSG | FI_RMA;
	info->ep_attr->type = FI_EP_MSG;
	info->domain_attr->threading = threading;
	info->domain_attr->mr_mode =
		FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
	info->tx_attr->size = info->rx_attr->size = DEPTH;
	info->fabric_attr->prov_name = strdup(provider);
	return info;
}

static void end_open(struct end *end, struct fi_info *info)
{
	struct fi_cq_attr attr = {.size = 4 * DEPTH, .format = FI_CQ_FORMAT_CONTEXT};

	need(fi_cq_open(domain, &attr, &end->cq, NULL), "fi_cq_open");
	need(fi_endpoint(domain, info, &end->ep, NULL), "fi_endpoint");
	need(fi_ep_bind(end->ep, &eq->fid, 0), "fi_ep_bind");
	need(fi_ep_bind(end->ep, &end->cq->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
	need(fi_enable(end->ep), "fi_enable");
}

/* The next event, which has to be that one; *info of a connection request. */
static void event(uint32_t want, struct fi_info **info)
{
	struct fi_eq_cm_entry entry;
	uint32_t got = 0;
	ssize_t ret = fi_eq_sread(eq, &got, &entry, sizeof(entry), PATIENCE_MS, 0);

	need(ret, "fi_eq_sread");
	need(got == want ? 0 : -FI_EOTHER, "the next event");
	if (info)
		*info = entry.info;
}

/* The listener, and in *info what connects to it. */
static struct fid_pep *listener(struct fi_info **info)
{
	struct fi_eq_attr eq_attr = {.wait_obj = FI_WAIT_UNSPEC};
	struct fi_info *wish = hints(), *local;
	size_t len = sizeof(struct sockaddr_storage);
	struct fid_pep *pep;

	need(fi_getinfo(fi_version(), address, NULL, FI_SOURCE, wish, &local),
	     "fi_getinfo");
	need(fi_fabric(local->fabric_attr, &fabric, NULL), "fi_fabric");
	need(fi_eq_open(fabric, &eq_attr, &eq, NULL), "fi_eq_open");
	need(fi_passive_ep(fabric, local, &pep, NULL), "fi_passive_ep");
	need(fi_pep_bind(pep, &eq->fid, 0), "fi_pep_bind");
	need(fi_listen(pep), "fi_listen");
	wish->dest_addr = calloc(1, len);
	need(wish->dest_addr ? 0 : -FI_ENOMEM, "memory");
	need(fi_getname(&pep->fid, wish->dest_addr, &len), "fi_getname");
	wish->dest_addrlen = len;
	wish->addr_format = local->addr_format;
	need(fi_getinfo(fi_version(), NULL, NULL, 0, wish, info), "fi_getinfo");
	fi_freeinfo(local);
	fi_freeinfo(wish);
	return pep;
}

/* One object after the other, and both sides of each step. */
static void open_all(void)
{
	struct fi_info *info, *request;
	struct fid_pep *pep = listener(&info);

	need(fi_domain(fabric, info, &domain, NULL), "fi_domain");
	memory = aligned_alloc(4096, 2 * MOST);
	need(memory ? 0 : -FI_ENOMEM, "memory");
	memset(memory, 1, 2 * MOST);
	need(fi_mr_reg(domain, memory, 2 * MOST,
		       FI_SEND | FI_RECV | FI_WRITE | FI_REMOTE_WRITE, 0, 1, 0, &mr,
		       NULL),
	     "fi_mr_reg");
	desc = fi_mr_desc(mr);
	key = fi_mr_key(mr);
	target = MOST;
	if (info->domain_attr->mr_mode & FI_MR_VIRT_ADDR)
		target += (uintptr_t)memory;
	end_open(&ends[0], info);
	need(fi_connect(ends[0].ep, info->dest_addr, NULL, 0), "fi_connect");
	event(FI_CONNREQ, &request);
	end_open(&ends[1], request);
	need(fi_accept(ends[1].ep, NULL, 0), "fi_accept");
	event(FI_CONNECTED, NULL);
	event(FI_CONNECTED, NULL);
	need(fi_close(&pep->fid), "fi_close");
	fi_freeinfo(request);
	fi_freeinfo(info);
}

static void close_all(void)
{
	need(fi_close(&ends[0].ep->fid), "fi_close");
	need(fi_close(&ends[1].ep->fid), "fi_close");
	need(fi_close(&ends[0].cq->fid), "fi_close");
	need(fi_close(&ends[1].cq->fid), "fi_close");
	need(fi_close(&mr->fid), "fi_close");
	need(fi_close(&domain->fid), "fi_close");
	need(fi_close(&eq->fid), "fi_close");
	need(fi_close(&fabric->fid), "fi_close");
}

static void await(struct fid_cq *cq)
{
	struct fi_cq_entry entry;
	ssize_t ret;

	do {
		ret = fi_cq_read(cq, &entry, 1);
	} while (ret == -FI_EAGAIN);
	need(ret, "fi_cq_read");
}

static void write_once(void)
{
	need(fi_write(ends[0].ep, memory, size, desc, 0, target, key, &ends[0]),
	     "fi_write");
	await(ends[0].cq);
}

static void writemsg_once(void)
{
	struct iovec iov = {.iov_base = memory, .iov_len = size};
	struct fi_rma_iov rma_iov = {.addr = target, .len = size, .key = key};
	struct fi_msg_rma msg = {.msg_iov = &iov,
				 .desc = &desc,
				 .iov_count = 1,
				 .rma_iov = &rma_iov,
				 .rma_iov_count = 1,
				 .context = &ends[0]};

	need(fi_writemsg(ends[0].ep, &msg, FI_COMPLETION), "fi_writemsg");
	await(ends[0].cq);
}

/* Never completes; reading is what frees its queue entry. */
static void inject_once(void)
{
	struct fi_cq_entry entry;
	ssize_t ret;

	do {
		ret = fi_inject_write(ends[0].ep, memory, size, 0, target, key);
		fi_cq_read(ends[0].cq, &entry, 1);
	} while (ret == -FI_EAGAIN);
	need(ret, "fi_inject_write");
}

static void send_once(void)
{
	need(fi_recv(ends[1].ep, memory + MOST, size, desc, 0, &ends[1]), "fi_recv");
	need(fi_send(ends[0].ep, memory, size, desc, 0, &ends[0]), "fi_send");
	await(ends[0].cq);
	await(ends[1].cq);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) -
	       (*(const double *)a < *(const double *)b);
}

static double measure(void (*once)(void))
{
	static double times[MAX_ROUNDS];
	double start;
	long round, i;

	for (round = 0; round < rounds; round++) {
		start = now();
		for (i = 0; i < count; i++)
			once();
		times[round] = (now() - start) / (double)count;
	}
	qsort(times, (size_t)rounds, sizeof(times[0]), ascending);
	return times[rounds / 2];
}

static const struct operation {
	const char *name;
	void (*once)(void);
} operations[] = {
	{"write", write_once},
	{"writemsg", writemsg_once},
	{"inject", inject_once},
	{"send", send_once},
};

static void usage(FILE *to)
{
	fputs("Usage: fi_cairn_op [OPTION...] ADDRESS\n"
	      "The cost of one operation and its completion, both ends in this process.\n"
	      "ADDRESS is one of this machine's that the provider can use.\n"
	      "  -p PROVIDER   default: pverbs\n"
	      "  -o OPERATION  write (default), writemsg, inject (fi_inject_write) or\n"
	      "                send (with the receive)\n"
	      "  -z BYTES      of a write or message (default 8)\n"
	      "  -t LEVEL      threading: domain (default) or safe\n"
	      "  -n COUNT      operations of a round (default 20000)\n"
	      "  -r ROUNDS     of which the median is taken (default 31)\n",
	      to);
}

static long number(const char *text, long most)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (*end || value < 1 || value > most) {
		fprintf(stderr, "fi_cairn_op: %s is no number from 1 to %ld\n", text,
			most);
		exit(2);
	}
	return value;
}

static const struct operation *operation(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
		if (!strcmp(operations[i].name, name))
			return &operations[i];
	fprintf(stderr, "fi_cairn_op: there is no operation %s\n", name);
	exit(2);
}

static enum fi_threading level(const char *name)
{
	if (!strcmp(name, "domain"))
		return FI_THREAD_DOMAIN;
	if (!strcmp(name, "safe"))
		return FI_THREAD_SAFE;
	fprintf(stderr, "fi_cairn_op: threading is domain or safe\n");
	exit(2);
}

int main(int argc, char **argv)
{
	const struct operation *op = &operations[0];
	int option;

	while ((option = getopt(argc, argv, "p:o:z:t:n:r:h")) != -1) {
		switch (option) {
		case 'p':
			provider = optarg;
			break;
		case 'o':
			op = operation(optarg);
			break;
		case 'z':
			size = (size_t)number(optarg, MOST);
			break;
		case 't':
			threading = level(optarg);
			break;
		case 'n':
			count = number(optarg, 1000000000);
			break;
		case 'r':
			rounds = number(optarg, MAX_ROUNDS);
			break;
		default:
			usage(option == 'h' ? stdout : stderr);
			return option == 'h' ? 0 : 2;
		}
	}
	if (optind + 1 != argc) {
		usage(stderr);
		return 2;
	}
	address = argv[optind];
	open_all();
	printf("%s provider=%s threading=%s size=%zu ns=%.1f\n", op->name, provider,
	       threading == FI_THREAD_SAFE ? "safe" : "domain", size, measure(op->once));
	close_all();
	return 0;
}
