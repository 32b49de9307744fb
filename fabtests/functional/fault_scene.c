/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A life of fabric objects. Whatever call fails, it goes on until something tells: a
 * call, an event or a completion; then everything is closed.
 */
#include "fault_step.h"

#define MESSAGE 64u /* bytes; words[] begins with the source, goes on with the target */

/* What a scene asks for, and goes without where it is not offered. */
static const struct fct_setup setups[] = {
	{.caps = FI_MSG | FI_RMA | FI_ATOMIC, .shared_rx = true},
	{.caps = FI_MSG | FI_RMA, .shared_rx = true},
	{.caps = FI_MSG | FI_RMA},
};

int fct_scene_fails(struct scene *s, const char *doing, int err)
{
	if (s->err)
		return s->err;
	s->doing = doing;
	s->err = err;
	return err;
}

static void scene_wrong(struct scene *s, const char *what, long value)
{
	if (!s->wrong[0])
		snprintf(s->wrong, sizeof(s->wrong), "%s (%ld) at \"%s\"", what, value,
			 s->doing);
}

/* ---- what is told ---- */

static struct scene_end *scene_end_of(struct scene *s, fid_t fid)
{
	struct scene_end *end[] = {&s->active, &s->passive, &s->refused};
	size_t i;

	for (i = 0; i < sizeof(end) / sizeof(end[0]); i++)
		if (end[i]->ep && &end[i]->ep->fid == fid)
			return end[i];
	return NULL;
}

static void scene_event(struct scene *s, uint32_t event, const struct fi_eq_cm_entry *cm)
{
	struct scene_end *end = scene_end_of(s, cm->fid);

	if (event == FI_CONNREQ && cm->fid == &s->pep->fid) {
		if (s->request)
			scene_wrong(s, "two requests", 0);
		s->request = cm->info;
	} else if (event == FI_CONNECTED && end) {
		if (end->connected)
			scene_wrong(s, "FI_CONNECTED twice", 0);
		end->connected = true;
	} else if (event == FI_SHUTDOWN && end) {
		if (end->shut)
			scene_wrong(s, "FI_SHUTDOWN twice", 0);
		end->shut = true;
	} else if (event == FI_JOIN_COMPLETE && s->mc && cm->fid == &s->mc->fid) {
		if (s->joined)
			scene_wrong(s, "FI_JOIN_COMPLETE twice", 0);
		s->joined = true;
	} else {
		scene_wrong(s, "an event for nobody", (long)event);
	}
}

static void scene_look_at_eq(struct scene *s)
{
	struct fi_eq_err_entry err = {0};
	struct fct_event e = {0};
	ssize_t n = fi_eq_read(s->eq, &e.event, e.room, sizeof(e.room), 0);

	if (n >= 0) {
		scene_event(s, e.event, &e.cm);
	} else if (n == -FI_EAVAIL) {
		if (fi_eq_readerr(s->eq, &err, 0) != sizeof(err) || err.err <= 0)
			scene_wrong(s, "fi_eq_readerr", err.err);
		if (s->refused.ep && err.fid == &s->refused.ep->fid &&
		    err.err == FI_ECONNREFUSED)
			s->turned_down = true;
		else
			fct_scene_fails(s, s->doing, -err.err);
	} else if (n != -FI_EAGAIN) {
		fct_scene_fails(s, s->doing, (int)n);
	}
}

static void scene_count(struct scene *s, void *context)
{
	struct scene_op *op = context;

	if (op < s->op || op >= s->op + SCENE_OPS)
		scene_wrong(s, "a completion for nobody", 0);
	else if (++op->ended > op->posted)
		scene_wrong(s, "a completion too many of operation", op - s->op);
}

/* 1: there was something. */
static int scene_look_at_cq(struct scene *s)
{
	struct fi_cq_err_entry err = {0};
	struct fi_cq_data_entry e;
	ssize_t n = fi_cq_read(s->cq, &e, 1);

	if (n == 1) {
		scene_count(s, e.op_context);
	} else if (n == -FI_EAVAIL) {
		if (fi_cq_readerr(s->cq, &err, 0) != 1 || err.err <= 0)
			scene_wrong(s, "fi_cq_readerr", err.err);
		scene_count(s, err.op_context);
		fct_scene_fails(s, s->doing, -err.err);
	} else if (n != -FI_EAGAIN) {
		fct_scene_fails(s, s->doing, (int)n);
		return 0;
	}
	return n != -FI_EAGAIN;
}

/* As programs do that sleep: they ask first. */
void fct_scene_look(struct scene *s)
{
	struct fid *fids[] = {&s->cq->fid, &s->eq->fid};
	int ret;

	scene_look_at_eq(s);
	scene_look_at_cq(s);
	ret = fi_trywait(s->fabric, fids, 2);
	if (ret && ret != -FI_EAGAIN)
		fct_scene_fails(s, s->doing, ret);
}

int fct_scene_until(struct scene *s, const char *what,
		    bool (*there)(const struct scene *s))
{
	const uint64_t end = fct_now_ms() + SCENE_WAIT_MS;

	if (!s->err)
		s->doing = what;
	while (!s->err && !there(s)) {
		fct_scene_look(s);
		if (!s->err && !there(s) && fct_now_ms() >= end) {
			s->silent = true;
			s->err = -FI_ETIMEDOUT;
		}
	}
	return s->err;
}

/* A request that the listener has no memory for is turned down without it. */
static bool scene_asked(const struct scene *s)
{
	return s->request || s->turned_down;
}

static bool scene_connected(const struct scene *s)
{
	return s->active.connected && s->passive.connected;
}

bool fct_scene_ended(const struct scene *s)
{
	size_t i;

	for (i = 0; i < SCENE_OPS && s->op[i].ended == s->op[i].posted; i++)
		;
	return i == SCENE_OPS;
}

static bool scene_turned_down(const struct scene *s)
{
	return s->turned_down;
}

/*
 * A peer that cannot answer a disconnection leaves it to the asking side's device to give
 * up, after as many retries as a connection manager makes: a minute. Who asks a router
 * for it is told nothing of it.
 */
static bool scene_shut(const struct scene *s)
{
	const char *failed = fct_fault_failed();

	return s->passive.shut && (s->active.shut || !strcmp(fct.opts.prov, "route") ||
				   (failed && !strcmp(failed, "rdma_disconnect")));
}

/* ---- the scene ---- */

static int scene_ask_for(struct scene *s, const char *node, const char *service,
			 uint64_t flags, const struct fct_setup *setup,
			 struct fi_info **info)
{
	struct fi_info *hints = fct_hints(setup);
	int ret = hints ? fi_getinfo(FCT_API, node, service, flags, hints, info)
			: -FI_ENOMEM;

	fi_freeinfo(hints);
	return ret;
}

/* The first scene, in which nothing fails, finds out what there is. */
static int scene_ask(struct scene *s, const char *node, const char *service,
		     uint64_t flags, struct fi_info **info)
{
	static const struct fct_setup *offered;
	const struct fct_setup *last = &setups[sizeof(setups) / sizeof(setups[0]) - 1];
	int ret;

	s->setup = offered ? offered : setups;
	ret = scene_ask_for(s, node, service, flags, s->setup, info);
	while (!offered && ret == -FI_ENODATA && s->setup < last)
		ret = scene_ask_for(s, node, service, flags, ++s->setup, info);
	if (!ret)
		offered = s->setup;
	return ret;
}

/* A layer's context may have no queue of its own. */
static int scene_srx(struct scene *s)
{
	int ret;

	if (!s->setup->shared_rx)
		return 0;
	ret = fi_srx_context(s->domain, s->here->rx_attr, &s->srx, NULL);
	if (ret)
		return ret;
	ret = fi_ep_bind(s->srx, &s->cq->fid, FI_RECV);
	s->srx_silent = ret == -FI_ENOSYS && fct.opts.lower;
	if (s->srx_silent)
		return 0;
	return ret ? ret : fi_enable(s->srx);
}

static int scene_objects(struct scene *s)
{
	struct fi_eq_attr eq = {.wait_obj = FI_WAIT_FD};
	struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_DATA, .wait_obj = FI_WAIT_FD};
	struct fi_cntr_attr cntr = {.wait_obj = FI_WAIT_FD};

	STEP(s, scene_ask(s, fct.opts.src, "0", FI_SOURCE, &s->here));
	STEP(s, fi_fabric(s->here->fabric_attr, &s->fabric, NULL));
	STEP(s, fi_eq_open(s->fabric, &eq, &s->eq, NULL));
	STEP(s, fi_domain(s->fabric, s->here, &s->domain, NULL));
	STEP(s, fi_cq_open(s->domain, &cq, &s->cq, NULL));
	STEP(s, fi_cntr_open(s->domain, &cntr, &s->cntr, NULL));
	STEP(s, scene_srx(s));
	STEP(s, fi_mr_reg(s->domain, s->words, sizeof(s->words),
			  FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ |
				  FI_REMOTE_WRITE,
			  0, 0, 0, &s->mr, NULL));
	return s->err;
}

static int scene_listen(struct scene *s)
{
	char node[64], service[16];
	uint8_t addr[128];
	size_t len = sizeof(addr);
	bool wildcard;

	STEP(s, fi_passive_ep(s->fabric, s->here, &s->pep, NULL));
	STEP(s, fi_pep_bind(s->pep, &s->eq->fid, 0));
	STEP(s, fi_listen(s->pep));
	STEP(s, fi_getname(&s->pep->fid, addr, &len));
	STEP(s, fct_addr_text(addr, node, sizeof(node), service, sizeof(service),
			      &wildcard));
	STEP(s, scene_ask(s, node, service, 0, &s->there));
	return s->err;
}

static int scene_ep(struct scene *s, struct fi_info *info, struct scene_end *end)
{
	STEP(s, fi_endpoint(s->domain, info, &end->ep, NULL));
	STEP(s, fi_ep_bind(end->ep, &s->eq->fid, 0));
	STEP(s, fi_ep_bind(end->ep, &s->cq->fid, FI_TRANSMIT | FI_RECV));
	STEP(s, fi_ep_bind(end->ep, &s->cntr->fid, FI_SEND | FI_WRITE | FI_READ));
	if (s->srx)
		STEP(s, fi_ep_bind(end->ep, &s->srx->fid, 0));
	STEP(s, fi_enable(end->ep));
	return s->err;
}

/* Until the request is there, which s->request then is. */
static int scene_request(struct scene *s, struct scene_end *end)
{
	if (scene_ep(s, s->there, end))
		return s->err;
	STEP(s, fi_connect(end->ep, s->there->dest_addr, "hello", 6));
	return fct_scene_until(s, "FI_CONNREQ", scene_asked);
}

static void scene_take(struct scene *s)
{
	fi_freeinfo(s->request);
	s->request = NULL;
}

int fct_scene_idle(struct scene *s)
{
	memset(s, 0, sizeof(*s));
	if (!scene_objects(s) && !scene_listen(s))
		scene_ep(s, s->there, &s->active);
	return s->err;
}

int fct_scene_asking(struct scene *s)
{
	if (fct_scene_idle(s))
		return s->err;
	STEP(s, fi_connect(s->active.ep, s->there->dest_addr, "hello", 6));
	return s->err;
}

int fct_scene_asked_for(struct scene *s)
{
	return fct_scene_asking(s) ? s->err
				   : fct_scene_until(s, "FI_CONNREQ", scene_asked);
}

int fct_scene_accepting(struct scene *s)
{
	if (fct_scene_asked_for(s) || scene_ep(s, s->request, &s->passive))
		return s->err;
	scene_take(s);
	STEP(s, fi_accept(s->passive.ep, "welcome", 8));
	return s->err;
}

int fct_scene_open(struct scene *s)
{
	return fct_scene_accepting(s)
		       ? s->err
		       : fct_scene_until(s, "FI_CONNECTED", scene_connected);
}

/* Whom receives are posted to. */
static struct fid_ep *scene_rx(const struct scene *s)
{
	return s->srx ? s->srx : s->passive.ep;
}

int fct_scene_message(struct scene *s)
{
	const size_t half = sizeof(s->words) / 2;
	uint8_t *to = (uint8_t *)s->words + half;
	void *desc = fi_mr_desc(s->mr);

	fct_fill(s->words, half, ++s->seed);
	POST(s, OP_RECV, fi_recv(scene_rx(s), to, half, desc, 0, &s->op[OP_RECV]));
	POST(s, OP_SEND,
	     fi_send(s->active.ep, s->words, MESSAGE, desc, 0, &s->op[OP_SEND]));
	if (fct_scene_until(s, "a message", fct_scene_ended))
		return s->err;
	if (memcmp(s->words, to, MESSAGE))
		scene_wrong(s, "a message that came differs", 0);
	return 0;
}

/* What names a place of the region in operations of a peer. */
static uint64_t scene_addr(const struct scene *s, const uint64_t *to)
{
	return s->here->domain_attr->mr_mode & FI_MR_VIRT_ADDR
		       ? (uintptr_t)to
		       : (uintptr_t)to - (uintptr_t)s->words;
}

/* All at once, so that there is always something in flight. */
int fct_scene_transfers(struct scene *s)
{
	uint64_t *to = s->words + 32, key = fi_mr_key(s->mr), addr = scene_addr(s, to);
	void *desc = fi_mr_desc(s->mr);
	struct iovec iov = {.iov_base = s->words, .iov_len = MESSAGE};
	struct fi_rma_iov rma = {.addr = addr, .len = MESSAGE, .key = key};
	struct fi_msg_rma msg = {.msg_iov = &iov,
				 .desc = &desc,
				 .iov_count = 1,
				 .rma_iov = &rma,
				 .rma_iov_count = 1};
	struct fid_ep *ep = s->active.ep;

	POST(s, OP_RECV_INJECT,
	     fi_recv(scene_rx(s), to + 16, MESSAGE, desc, 0, &s->op[OP_RECV_INJECT]));
	POST(s, OP_WRITE,
	     fi_write(ep, s->words, MESSAGE, desc, 0, addr, key, &s->op[OP_WRITE]));
	POST(s, OP_READ,
	     fi_read(ep, s->words + 8, MESSAGE, desc, 0, addr, key, &s->op[OP_READ]));
	if (s->here->caps & FI_ATOMIC)
		POST(s, OP_SUM,
		     fi_fetch_atomic(ep, s->words, 1, desc, s->words + 16, desc, 0, addr,
				     key, FI_UINT64, FI_SUM, &s->op[OP_SUM]));
	msg.context = &s->op[OP_CHAINED];
	POST(s, OP_CHAINED, fi_writemsg(ep, &msg, FI_COMPLETION | FI_MORE));
	msg.context = &s->op[OP_PROVED];
	POST(s, OP_PROVED, fi_writemsg(ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE));
	STEP(s, fi_inject(ep, s->words, 16, 0));
	return fct_scene_until(s, "completions", fct_scene_ended);
}

/* No receive is posted: what is behind the send waits with it. */
int fct_scene_in_flight(struct scene *s)
{
	uint64_t *to = s->words + 32, key = fi_mr_key(s->mr), addr = scene_addr(s, to);
	void *desc = fi_mr_desc(s->mr);
	struct fid_ep *ep = s->active.ep;

	POST(s, OP_SEND, fi_send(ep, s->words, MESSAGE, desc, 0, &s->op[OP_SEND]));
	POST(s, OP_WRITE,
	     fi_write(ep, s->words, MESSAGE, desc, 0, addr, key, &s->op[OP_WRITE]));
	POST(s, OP_READ,
	     fi_read(ep, s->words + 8, MESSAGE, desc, 0, addr, key, &s->op[OP_READ]));
	return s->err;
}

int fct_scene_ends(struct scene *s)
{
	if (scene_request(s, &s->refused))
		return s->err;
	if (s->request)
		STEP(s, fi_reject(s->pep, s->request->handle, "no", 3));
	scene_take(s);
	if (fct_scene_until(s, "the refusal", scene_turned_down))
		return s->err;
	STEP(s, fi_shutdown(s->active.ep, 0));
	return fct_scene_until(s, "FI_SHUTDOWN", scene_shut);
}

/* An endpoint that cannot be closed now can be once there is memory again. */
static void scene_close_fid(struct scene *s, struct fid *fid, const char *what)
{
	int ret;

	if (!fid)
		return;
	ret = fi_close(fid);
	if (ret == -FI_ENOMEM && fct_fault_failed()) {
		fct_scene_fails(s, what, ret);
		fct_fault_disarm();
		ret = fi_close(fid);
	}
	if (ret)
		scene_wrong(s, what, ret);
}

/* A receive of a context that reports nothing of it. */
static bool scene_silent(const struct scene *s, size_t op)
{
	return s->srx_silent && (op == OP_RECV || op == OP_RECV_INJECT);
}

/* What was posted is in the queue now, whatever became of it. */
static void scene_settle(struct scene *s)
{
	size_t i;

	while (s->cq && scene_look_at_cq(s))
		;
	for (i = 0; i < SCENE_OPS; i++)
		if (s->op[i].ended != s->op[i].posted && !scene_silent(s, i))
			scene_wrong(s, "no completion of operation", (long)i);
}

#define CLOSE(s, object) \
	scene_close_fid(s, (object) ? &(object)->fid : NULL, "fi_close of " #object)

int fct_scene_close(struct scene *s)
{
	CLOSE(s, s->mc);
	CLOSE(s, s->active.ep);
	CLOSE(s, s->passive.ep);
	CLOSE(s, s->refused.ep);
	CLOSE(s, s->srx);
	scene_settle(s);
	CLOSE(s, s->pep);
	CLOSE(s, s->mr);
	CLOSE(s, s->av);
	CLOSE(s, s->cntr);
	CLOSE(s, s->cq);
	CLOSE(s, s->domain);
	CLOSE(s, s->eq);
	CLOSE(s, s->fabric);
	fi_freeinfo(s->request);
	fi_freeinfo(s->here);
	fi_freeinfo(s->there);
	return s->err;
}
