/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One sender, many receivers, over datagrams: standard libfabric calls only. Nothing is
 * sent again; each receiver knows by the numbers what it has lost, and says so meanwhile.
 *
 *	datagram_feed receive [-g GROUP] ADDRESS
 *	datagram_feed send [-g GROUP] [-n COUNT] [-r RATE] ADDRESS [RECEIVER...]
 *
 * ADDRESS is one of this machine's. With -g sender and receivers join the multicast group
 * GROUP, an IP address, and a datagram is sent once for all of them. Without, each
 * receiver prints its address when it is ready, and the sender, which is given them all,
 * sends to each. The provider is libfabric's choice, or that of FI_PROVIDER.
 * RATE: datagrams a second. A receiver ends when it is told how many there
 * were, and its last line adds up: received and lost are all that was sent.
 */
#include <getopt.h>
#include <inttypes.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>

#define RECEIVES 512u
#define RECEIVERS 64
#define PREFIX 64u   /* at most, of providers that put something before the data */
#define WINDOW 1024u /* numbers that may still arrive behind the highest one */
#define FAREWELLS 50 /* they may be lost too */
#define SILENCE_MS 20000
#define SECOND_NS 1000000000ull

/* A datagram, in the byte order of both sides. The last ones have no number, but say how
 * many there were. */
struct item {
	uint64_t session; /* of the sender: what others send is not looked at */
	uint64_t number;  /* from 0; END */
	uint64_t count;	  /* with END */
	char text[40];
};
#define END UINT64_MAX

struct slot {
	char bytes[PREFIX + sizeof(struct item)];
};

struct feed {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_eq *eq;
	struct fid_av *av;
	struct fid_cq *txcq, *rxcq;
	struct fid_ep *ep;
	struct fid_mc *mc;
	struct fid_mr *mr;
	size_t prefix;
	struct slot *slots; /* RECEIVES to receive into, one to send from */
};

/* What has arrived of one session. Every number below next is received or lost; one that
 * comes late is not lost any more. */
struct account {
	uint64_t session, next, received, lost, late, twice;
	bool begun, here[WINDOW]; /* of the WINDOW numbers below next */
};

static void need(const char *what, ssize_t ret)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "datagram_feed: %s: %s\n", what, fi_strerror((int)-ret));
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * SECOND_NS + (uint64_t)ts.tv_nsec;
}

/* --- both sides */

static void open_info(struct feed *f, const char *address, bool multicast)
{
	struct fi_info *hints = fi_allocinfo();

	need("fi_allocinfo", hints ? 0 : -FI_ENOMEM);
	hints->caps = FI_MSG | (multicast ? FI_MULTICAST : 0);
	hints->mode = FI_MSG_PREFIX | FI_CONTEXT | FI_RX_CQ_DATA;
	hints->ep_attr->type = FI_EP_DGRAM;
	hints->domain_attr->mr_mode =
		FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
	hints->rx_attr->size = RECEIVES;
	need("no provider offers datagrams there",
	     fi_getinfo(FI_VERSION(1, 17), address, "0", FI_SOURCE, hints, &f->info));
	fi_freeinfo(hints);
	if (f->info->mode & FI_MSG_PREFIX)
		f->prefix = f->info->ep_attr->msg_prefix_size;
	need("the prefix is too long", f->prefix > PREFIX ? -FI_EINVAL : 0);
}

static void open_ep(struct feed *f)
{
	struct fi_eq_attr eq = {.wait_obj = FI_WAIT_UNSPEC};
	struct fi_av_attr av = {.type = FI_AV_TABLE};
	struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_CONTEXT,
				.wait_obj = FI_WAIT_UNSPEC,
				.size = RECEIVES};

	need("fi_fabric", fi_fabric(f->info->fabric_attr, &f->fabric, NULL));
	need("fi_domain", fi_domain(f->fabric, f->info, &f->domain, NULL));
	need("fi_eq_open", fi_eq_open(f->fabric, &eq, &f->eq, NULL));
	need("fi_av_open", fi_av_open(f->domain, &av, &f->av, NULL));
	need("fi_cq_open", fi_cq_open(f->domain, &cq, &f->txcq, NULL));
	need("fi_cq_open", fi_cq_open(f->domain, &cq, &f->rxcq, NULL));
	need("fi_endpoint", fi_endpoint(f->domain, f->info, &f->ep, NULL));
	need("fi_ep_bind", fi_ep_bind(f->ep, &f->eq->fid, 0));
	need("fi_ep_bind", fi_ep_bind(f->ep, &f->av->fid, 0));
	need("fi_ep_bind", fi_ep_bind(f->ep, &f->txcq->fid, FI_TRANSMIT));
	need("fi_ep_bind", fi_ep_bind(f->ep, &f->rxcq->fid, FI_RECV));
	need("fi_enable", fi_enable(f->ep));
}

static void open_memory(struct feed *f)
{
	f->slots = calloc(RECEIVES + 1, sizeof(*f->slots));
	need("memory", f->slots ? 0 : -FI_ENOMEM);
	need("fi_mr_reg",
	     fi_mr_reg(f->domain, f->slots, (RECEIVES + 1) * sizeof(*f->slots),
		       FI_SEND | FI_RECV, 0, 1, 0, &f->mr, NULL));
}

static void close_all(struct feed *f)
{
	if (f->mc)
		need("fi_close", fi_close(&f->mc->fid));
	need("fi_close", fi_close(&f->ep->fid));
	need("fi_close", fi_close(&f->txcq->fid));
	need("fi_close", fi_close(&f->rxcq->fid));
	need("fi_close", fi_close(&f->mr->fid));
	need("fi_close", fi_close(&f->av->fid));
	need("fi_close", fi_close(&f->eq->fid));
	need("fi_close", fi_close(&f->domain->fid));
	need("fi_close", fi_close(&f->fabric->fid));
	fi_freeinfo(f->info);
	free(f->slots);
}

/* One event, or why there is none. */
static ssize_t event(struct feed *f, uint32_t *type, int ms)
{
	struct fi_eq_err_entry err = {.err = 0};
	struct fi_eq_entry entry;
	ssize_t ret = fi_eq_sread(f->eq, type, &entry, sizeof(entry), ms, 0);

	if (ret == -FI_EAVAIL && fi_eq_readerr(f->eq, &err, 0) > 0)
		return -err.err;
	return ret;
}

/* direction: FI_SEND or FI_RECV. The address can be used when the join is complete. */
static void join(struct feed *f, const char *group, uint64_t direction)
{
	struct addrinfo *ai, hints = {.ai_flags = AI_NUMERICHOST};
	uint32_t type = 0;

	need(group, getaddrinfo(group, NULL, &hints, &ai) ? -FI_EINVAL : 0);
	need("fi_join", fi_join(f->ep, ai->ai_addr, direction, &f->mc, NULL));
	freeaddrinfo(ai);
	need("the group", event(f, &type, SILENCE_MS));
	need("the event of fi_join", type == FI_JOIN_COMPLETE ? 0 : -FI_EOTHER);
}

/* --- the receiver */

static void post(struct feed *f, struct slot *slot)
{
	need("fi_recv", fi_recv(f->ep, slot, f->prefix + sizeof(struct item),
				fi_mr_desc(f->mr), FI_ADDR_UNSPEC, slot));
}

static void count_one(struct account *a, uint64_t number)
{
	if (number >= a->next) {
		a->lost += number - a->next;
		for (; a->next <= number; a->next++)
			a->here[a->next % WINDOW] = a->next == number;
		a->received++;
		return;
	}
	/* Of one that is older than that nobody knows whether it is the first. */
	if (a->next - number > WINDOW || a->here[number % WINDOW]) {
		a->twice++;
		return;
	}
	a->here[number % WINDOW] = true;
	a->received++;
	a->late++;
	a->lost--;
}

/* Was it the last one? */
static bool take(struct account *a, const struct item *item)
{
	if (!a->begun) {
		a->session = item->session;
		a->begun = true;
	}
	if (item->session != a->session)
		return false;
	if (item->number != END) {
		count_one(a, item->number);
		return false;
	}
	if (item->count > a->next)
		a->lost += item->count - a->next;
	return true;
}

static void show(const struct account *a, const char *what)
{
	const uint64_t all = a->received + a->lost;

	printf("%s received=%" PRIu64 " lost=%" PRIu64 " (%.2f %%) late=%" PRIu64
	       " twice=%" PRIu64 "\n",
	       what, a->received, a->lost, all ? 100. * (double)a->lost / (double)all : 0,
	       a->late, a->twice);
	fflush(stdout);
}

static void receive_all(struct feed *f)
{
	uint64_t heard = now_ns(), shown = heard, now;
	static struct account account;
	struct fi_cq_entry entry;
	struct item item;
	bool ended = false;
	uint32_t type;
	ssize_t ret;

	while (!ended) {
		ret = fi_cq_sread(f->rxcq, &entry, 1, NULL, 100);
		now = now_ns();
		if (now - shown >= SECOND_NS && account.begun) {
			show(&account, "so far:");
			shown = now;
		}
		if (ret == -FI_EAGAIN) {
			/* Lost memberships are joined again where events are read. */
			event(f, &type, 0);
			need("no sender",
			     now - heard > SILENCE_MS * 1000000ull ? -FI_ETIMEDOUT : 0);
			continue;
		}
		need("a receive", ret);
		heard = now;
		memcpy(&item, (char *)entry.op_context + f->prefix, sizeof(item));
		ended = take(&account, &item);
		post(f, entry.op_context);
	}
	show(&account, "all:");
}

/* The address as text, which the sender takes. */
static void introduce(struct feed *f)
{
	char name[128], text[256];
	size_t len = sizeof(name);

	need("fi_getname", fi_getname(&f->ep->fid, name, &len));
	len = sizeof(text);
	fi_av_straddr(f->av, name, text, &len);
	printf("%s\n", text);
}

static void receive(const char *address, const char *group)
{
	struct feed f = {0};
	unsigned int i;

	open_info(&f, address, group != NULL);
	open_ep(&f);
	open_memory(&f);
	for (i = 0; i < RECEIVES; i++)
		post(&f, &f.slots[i]);
	if (group)
		join(&f, group, FI_RECV);
	else
		introduce(&f);
	puts("ready");
	fflush(stdout);
	receive_all(&f);
	close_all(&f);
}

/* --- the sender */

static void send_to(struct feed *f, fi_addr_t to, const struct item *item)
{
	struct slot *slot = &f->slots[RECEIVES];
	struct fi_cq_err_entry err = {.err = 0};
	struct fi_cq_entry entry;
	ssize_t ret;

	memcpy(slot->bytes, item, sizeof(*item));
	need("fi_send", fi_send(f->ep, slot, sizeof(*item), fi_mr_desc(f->mr), to, slot));
	ret = fi_cq_sread(f->txcq, &entry, 1, NULL, SILENCE_MS);
	if (ret == -FI_EAVAIL && fi_cq_readerr(f->txcq, &err, 0) == 1)
		ret = -err.err;
	need("a send", ret);
}

static void sleep_until(uint64_t ns)
{
	const struct timespec ts = {(time_t)(ns / SECOND_NS), (long)(ns % SECOND_NS)};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

static void send_all(struct feed *f, const fi_addr_t *to, unsigned int receivers,
		     uint64_t count, uint64_t rate)
{
	struct item item = {.session = now_ns() ^ (uint64_t)getpid() << 48};
	const uint64_t start = now_ns();
	unsigned int n;
	uint64_t i;

	for (i = 0; i < count + FAREWELLS; i++) {
		item.number = i < count ? i : END;
		item.count = count;
		snprintf(item.text, sizeof(item.text), "tick %" PRIu64, i);
		for (n = 0; n < receivers; n++)
			send_to(f, to[n], &item);
		sleep_until(start + (i + 1) * SECOND_NS / rate);
	}
	printf("sent=%" PRIu64 "\n", count);
}

static void send_feed(const char *address, const char *group, char **names,
		      unsigned int receivers, uint64_t count, uint64_t rate)
{
	fi_addr_t to[RECEIVERS];
	struct feed f = {0};
	unsigned int i;

	open_info(&f, address, group != NULL);
	open_ep(&f);
	open_memory(&f);
	for (i = 0; i < receivers; i++)
		need(names[i], fi_av_insertsvc(f.av, names[i], NULL, &to[i], 0, NULL) == 1
				       ? 0
				       : -FI_EINVAL);
	if (group) {
		join(&f, group, FI_SEND);
		to[0] = fi_mc_addr(f.mc);
		receivers = 1;
	}
	send_all(&f, to, receivers, count, rate);
	close_all(&f);
}

static int usage(FILE *out)
{
	fputs("Usage: datagram_feed receive [-g GROUP] ADDRESS\n"
	      "       datagram_feed send [-g GROUP] [-n COUNT] [-r RATE] ADDRESS "
	      "[RECEIVER...]\n"
	      "COUNT datagrams (default 10000), RATE of them a second (default 1000), to "
	      "all members of the multicast\n"
	      "group GROUP, or to each RECEIVER, by the address that it printed.\n",
	      out);
	return out == stdout ? 0 : 2;
}

int main(int argc, char **argv)
{
	unsigned long count = 10000, rate = 1000;
	const char *group = NULL;
	bool sends;
	int option;

	if (argc < 2)
		return usage(stderr);
	sends = !strcmp(argv[1], "send");
	if (!sends && strcmp(argv[1], "receive") != 0)
		return usage(stderr);
	optind = 2;
	while ((option = getopt(argc, argv, "g:n:r:h")) != -1) {
		if (option == 'g')
			group = optarg;
		else if (option == 'n')
			count = strtoul(optarg, NULL, 10);
		else if (option == 'r')
			rate = strtoul(optarg, NULL, 10);
		else
			return usage(option == 'h' ? stdout : stderr);
	}
	argc -= optind;
	if (!count || !rate || argc < 1 || argc > RECEIVERS ||
	    (argc > 1) != (sends && !group))
		return usage(stderr);
	if (sends)
		send_feed(argv[optind], group, &argv[optind + 1], (unsigned int)argc - 1,
			  count, rate);
	else
		receive(argv[optind], group);
	return 0;
}
