/* SPDX-License-Identifier: BSD-2-Clause */
/* What peers do that are connected to each other. */
#include "mesh.h"

static uint8_t *piece(const struct fct_mem *mem, uint32_t other, unsigned int n)
{
	return mem->buf + ((size_t)other * MESH_BURST + n) * MESH_LEN;
}

static uint64_t seed(const struct mesh *m, uint32_t from, uint32_t to, unsigned int n)
{
	return ((uint64_t)from * m->count + to) * MESH_BURST + n;
}

static struct mesh_conn *conn_of(struct mesh *m, const void *context)
{
	const char *at = context, *begin = (const char *)m->conns;

	if (at < begin || at >= begin + sizeof(m->conns))
		return NULL;
	return &m->conns[(size_t)(at - begin) / sizeof(m->conns[0])];
}

/* The next success; a connection that ended has errors. */
static int next(struct mesh *m, struct fi_cq_data_entry *e, const char *what)
{
	struct fi_cq_err_entry err = {0};
	const struct mesh_conn *c;
	int ret;

	while ((ret = fct_cq_next(m->l.txcq, e, what)) > 0) {
		FCT_EQ(fi_cq_readerr(m->l.txcq, &err, 0), 1);
		c = conn_of(m, err.op_context);
		if (!c || !c->shut)
			FCT_FAIL("%s: error %d (%s) of peer %d", what, err.err,
				 fi_strerror(err.err), c ? (int)(c - m->conns) : -1);
	}
	return ret;
}

static int on_completion(struct mesh *m, const struct fi_cq_data_entry *e, uint64_t flags)
{
	struct mesh_conn *c = conn_of(m, e->op_context);
	uint32_t other;

	FCT_TRUE(c);
	if ((const char *)e->op_context < (const char *)c->rx) {
		FCT_EQ(e->flags, flags);
		m->sent++;
		return 0;
	}
	other = (uint32_t)(c - m->conns);
	FCT_TRUE(c->received < MESH_BURST && e->op_context == &c->rx[c->received]);
	FCT_EQ(e->flags, FI_RECV | FI_MSG);
	FCT_EQ(e->len, MESH_LEN);
	FCT_DATA(piece(&m->in, other, c->received), MESH_LEN,
		 seed(m, other, m->self, c->received));
	c->received++;
	m->received++;
	return 0;
}

static int await(struct mesh *m, unsigned int sent, unsigned int received, uint64_t flags,
		 const char *what)
{
	struct fi_cq_data_entry e;

	while (m->sent < sent || m->received < received) {
		FCT_DO(next(m, &e, what));
		FCT_DO(on_completion(m, &e, flags));
	}
	return 0;
}

static int send_to(struct mesh *m, uint32_t other)
{
	struct mesh_conn *c = &m->conns[other];
	unsigned int n;

	for (n = 0; n < MESH_BURST; n++) {
		fct_fill(piece(&m->out, other, n), MESH_LEN, seed(m, m->self, other, n));
		FCT_POST(m->l.txcq, fi_send(c->c.ep, piece(&m->out, other, n), MESH_LEN,
					    m->out.desc, 0, &c->tx[n]));
	}
	return 0;
}

int fct_mesh_messages(struct mesh *m)
{
	const unsigned int all = (m->count - 1) * MESH_BURST;
	uint32_t step;

	/* Not all of them to the same peer first. */
	for (step = 1; step < m->count; step++)
		FCT_DO(send_to(m, (m->self + step) % m->count));
	FCT_DO(await(m, all, all, FI_SEND | FI_MSG, "a message of every peer"));
	return fct_mesh_barrier(m, "all messages");
}

/* Into the part of the other's memory that is this peer's. */
static int access_all(struct mesh *m, bool write)
{
	struct mesh_conn *c;
	uint32_t other;
	unsigned int n;
	uint64_t at;

	for (other = 0; other < m->count; other++) {
		const struct fct_target *to = &m->shared->peer[other].target;

		c = &m->conns[other];
		for (n = 0; other != m->self && n < MESH_BURST; n++) {
			at = to->addr + ((uint64_t)m->self * MESH_BURST + n) * MESH_LEN;
			if (write)
				fct_fill(piece(&m->out, other, n), MESH_LEN,
					 seed(m, m->self, other, n));
			else
				memset(piece(&m->out, other, n), 0, MESH_LEN);
			FCT_POST(m->l.txcq,
				 write ? fi_write(c->c.ep, piece(&m->out, other, n),
						  MESH_LEN, m->out.desc, 0, at, to->key,
						  &c->tx[n])
				       : fi_read(c->c.ep, piece(&m->out, other, n),
						 MESH_LEN, m->out.desc, 0, at, to->key,
						 &c->tx[n]));
		}
	}
	return 0;
}

int fct_mesh_rma(struct mesh *m)
{
	const unsigned int all = (m->count - 1) * MESH_BURST;
	uint32_t other;
	unsigned int n;

	FCT_DO(access_all(m, true));
	FCT_DO(await(m, all, 0, FI_WRITE | FI_RMA, "writes to every peer"));
	FCT_DO(access_all(m, false));
	FCT_DO(await(m, 2 * all, 0, FI_READ | FI_RMA, "reads from every peer"));
	for (other = 0; other < m->count; other++)
		for (n = 0; other != m->self && n < MESH_BURST; n++)
			FCT_DATA(piece(&m->out, other, n), MESH_LEN,
				 seed(m, m->self, other, n));
	/* A read of this connection came after its writes. */
	FCT_DO(fct_mesh_barrier(m, "all writes"));
	for (other = 0; other < m->count; other++)
		for (n = 0; other != m->self && n < MESH_BURST; n++)
			FCT_DATA(piece(&m->in, other, n), MESH_LEN,
				 seed(m, other, m->self, n));
	return fct_mesh_barrier(m, "all checks");
}

/* The last peer closes its connections; those between the others work as before. */
int fct_mesh_leaves(struct mesh *m)
{
	const uint32_t last = m->count - 1;
	const unsigned int all = (m->count - 2) * MESH_BURST;
	uint32_t other;

	if (m->self == last) {
		for (other = 0; other < last; other++)
			FCT_DO(fct_conn_close(&m->l, &m->conns[other].c));
		return fct_mesh_barrier(m, "the others");
	}
	FCT_DO(fct_mesh_await(m, last, 1, "FI_SHUTDOWN of the peer that left"));
	FCT_DO(fct_conn_close(&m->l, &m->conns[last].c));
	for (other = 0; other < last; other++)
		if (other != m->self)
			FCT_DO(send_to(m, other));
	FCT_DO(await(m, all, all, FI_SEND | FI_MSG, "a message of every other peer"));
	return fct_mesh_barrier(m, "all messages");
}
