/* SPDX-License-Identifier: BSD-2-Clause */
/* The target: takes connections and messages, and says what has come. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "failover.h"

struct guest;

struct receive {
	struct fi_context2 context; /* first: the provider's */
	struct guest *guest;
	bool busy;
	uint8_t *buf;
};

struct guest {
	struct guest *next;
	struct fid_ep *ep;
	struct fvo_hello hello;
	uint64_t number; /* of the message that comes next */
	bool over;
	uint32_t busy; /* receives */
	struct receive receive[FVO_RECEIVES];
	uint8_t buf[FVO_RECEIVES][FVO_LEN];
};

struct target {
	struct fvo_link link;
	struct fid_pep *pep;
	struct fid_mr *mr;
	struct fvo_ledger *ledger;
	struct guest *guests;
};

static void bad(struct target *t, const struct guest *g, const char *what)
{
	fprintf(stderr, "target: connection %u.%u, message %llu: %s\n", g->hello.conn,
		g->hello.gen, (unsigned long long)g->number, what);
	t->ledger->target_bad++;
}

static void post(struct target *t, struct receive *receive)
{
	struct guest *g = receive->guest;
	const ssize_t ret =
		fi_recv(g->ep, receive->buf, FVO_LEN, NULL, 0, &receive->context);

	receive->busy = !ret;
	g->busy += !ret;
	if (ret && ret != -FI_EAGAIN && ret != -FI_ENOTCONN && ret != -FI_ESHUTDOWN)
		bad(t, g, fi_strerror((int)-ret));
}

/* --- What arrives --- */

static void count(struct target *t, struct guest *g)
{
	struct fvo_arrived *arrived =
		&t->ledger->arrived[g->hello.conn][g->hello.gen % FVO_GENS];

	g->number++;
	__atomic_store_n(&arrived->number, g->number, __ATOMIC_RELEASE);
}

static void arrived(struct target *t, struct receive *receive, size_t len)
{
	struct guest *g = receive->guest;
	const struct fvo_head head = {g->hello.conn, g->hello.gen, g->number, len};
	const struct fvo_head *got = (const struct fvo_head *)receive->buf;

	if (fvo_is(receive->buf, &head)) {
		count(t, g);
		return;
	}
	if (got->number != g->number)
		bad(t, g, got->number < g->number ? "it comes again" : "one is missing");
	else
		bad(t, g, "it is damaged");
}

static struct receive *take(struct target *t, void *context)
{
	struct receive *receive = context;

	if (!receive->busy) {
		bad(t, receive->guest, "a receive completes twice");
		return NULL;
	}
	receive->busy = false;
	receive->guest->busy--;
	return receive;
}

static bool look(struct target *t)
{
	struct fi_cq_data_entry entry;
	struct fi_cq_err_entry err = {0};
	struct receive *receive;
	ssize_t got = fi_cq_read(t->link.cq, &entry, 1);

	if (got == 1) {
		receive = take(t, entry.op_context);
		if (!receive)
			return true;
		arrived(t, receive, entry.len);
		if (!receive->guest->over)
			post(t, receive);
		return true;
	}
	if (got == -FI_EAVAIL && fi_cq_readerr(t->link.cq, &err, 0) == 1) {
		take(t, err.op_context);
		return true;
	}
	return false;
}

/* --- Who comes and goes --- */

static void welcome(struct target *t, struct fi_eq_cm_entry *entry)
{
	const struct fvo_region region = {t->link.info->domain_attr->mr_mode &
							  FI_MR_VIRT_ADDR
						  ? (uint64_t)(uintptr_t)t->ledger
						  : 0,
					  fi_mr_key(t->mr)};
	struct guest *g = calloc(1, sizeof(*g));
	struct fvo_arrived *mine;
	uint32_t i;

	if (!g || fvo_endpoint(&t->link, entry->info, g, &g->ep)) {
		fi_reject(t->pep, entry->info->handle, NULL, 0);
		free(g);
		return;
	}
	memcpy(&g->hello, entry->data, sizeof(g->hello));
	g->hello.conn %= FVO_CONNS;
	mine = &t->ledger->arrived[g->hello.conn][g->hello.gen % FVO_GENS];
	mine->gen = g->hello.gen;
	mine->number = 0;
	for (i = 0; i < FVO_RECEIVES; i++) {
		g->receive[i].guest = g;
		g->receive[i].buf = g->buf[i];
		post(t, &g->receive[i]);
	}
	g->next = t->guests;
	t->guests = g;
	if (fi_accept(g->ep, &region, sizeof(region)))
		g->over = true;
}

static bool hear(struct target *t)
{
	struct {
		struct fi_eq_cm_entry cm;
		uint8_t data[1024];
	} entry;
	struct fi_eq_err_entry err = {0};
	struct guest *g;
	uint32_t event;
	ssize_t got = fi_eq_read(t->link.eq, &event, &entry, sizeof(entry), 0);

	if (got == -FI_EAVAIL && fi_eq_readerr(t->link.eq, &err, 0) > 0) {
		g = err.fid && err.fid != &t->pep->fid ? err.fid->context : NULL;
		if (g)
			g->over = true;
		return true;
	}
	if (got < (ssize_t)sizeof(entry.cm))
		return false;
	if (event == FI_CONNREQ) {
		welcome(t, &entry.cm);
		fi_freeinfo(entry.cm.info);
	} else if (event == FI_SHUTDOWN) {
		g = entry.cm.fid->context;
		if (g->over)
			bad(t, g, "it ends twice");
		g->over = true;
	}
	return true;
}

/* Those that are over, once their receives have ended, too. */
static void sweep(struct target *t)
{
	struct guest **link = &t->guests, *g;

	while ((g = *link)) {
		if (!g->over || g->busy) {
			link = &g->next;
			continue;
		}
		*link = g->next;
		fi_close(&g->ep->fid);
		free(g);
	}
}

static int open_target(struct target *t, const struct fvo_options *options)
{
	int ret = fvo_link_open(&t->link, options->node, options->port, true);

	if (!ret)
		ret = fi_mr_reg(t->link.domain, t->ledger, sizeof(*t->ledger),
				FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 1, 0, &t->mr, NULL);
	if (!ret)
		ret = fi_passive_ep(t->link.fabric, t->link.info, &t->pep, NULL);
	if (!ret)
		ret = fi_pep_bind(t->pep, &t->link.eq->fid, 0);
	if (!ret)
		ret = fi_listen(t->pep);
	if (ret)
		fprintf(stderr, "target: %s\n", fi_strerror(-ret));
	return ret;
}

static void close_target(struct target *t)
{
	struct guest *g;

	while ((g = t->guests)) {
		t->guests = g->next;
		fi_close(&g->ep->fid);
		free(g);
	}
	if (t->pep)
		fi_close(&t->pep->fid);
	if (t->mr)
		fi_close(&t->mr->fid);
	fvo_link_close(&t->link);
}

int fvo_serve(const struct fvo_options *options)
{
	static struct target target;
	struct target *t = &target;
	size_t i;
	bool busy;

	t->ledger = fvo_ledger_open(options->ledger, true);
	if (!t->ledger)
		return 1;
	for (i = 0; i < FVO_LEN; i++)
		t->ledger->pattern[i] = (uint8_t)(i * 7 + 3);
	if (open_target(t, options)) {
		close_target(t);
		return 1;
	}
	t->ledger->starts++;
	t->ledger->magic = FVO_MAGIC;
	printf("serves\n");
	fflush(stdout);
	while (!fvo_ends) {
		busy = look(t);
		busy = hear(t) || busy;
		sweep(t);
		if (!busy)
			usleep(options->idle);
	}
	close_target(t);
	return t->ledger->target_bad ? 1 : 0;
}
