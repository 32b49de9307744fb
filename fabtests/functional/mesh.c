/* SPDX-License-Identifier: BSD-2-Clause */
/* One peer: its connections to all others. */
#include "mesh.h"

uint32_t fct_mesh_count = 4;

int fct_mesh_barrier(struct mesh *m, const char *what)
{
	_Atomic uint32_t *arrived = &m->shared->arrived[m->barriers++];
	struct fct_wait w;

	fct_wait_init(&w, what);
	atomic_fetch_add(arrived, 1);
	while (atomic_load(arrived) < m->count) {
		if (atomic_load(&m->shared->over)) {
			fct.followed = true;
			FCT_FAIL("another peer failed before %s", what);
		}
		fct_progress();
		FCT_DO(fct_wait_again(&w));
	}
	return 0;
}

static int post_receives(struct mesh *m, uint32_t other)
{
	struct mesh_conn *c = &m->conns[other];
	unsigned int n;

	for (n = 0; n < MESH_BURST; n++)
		FCT_CALL(fi_recv(c->c.ep, m->in.buf + (other * MESH_BURST + n) * MESH_LEN,
				 MESH_LEN, m->in.desc, 0, &c->rx[n]));
	return 0;
}

static int ask(struct mesh *m, uint32_t other)
{
	const struct fct_where *where = &m->shared->peer[other].where;
	struct mesh_conn *c = &m->conns[other];

	FCT_CALL(fct_getinfo(&m->l.s, where->node, where->service, &c->c.info));
	FCT_DO(fct_ep_open(&m->l, &c->c, c->c.info));
	FCT_DO(post_receives(m, other));
	FCT_CALL(fi_connect(c->c.ep, c->c.info->dest_addr, &m->self, sizeof(m->self)));
	return 0;
}

static int on_request(struct mesh *m, const struct fct_event *e)
{
	uint32_t other = m->count;

	if (e->len >= sizeof(other))
		memcpy(&other, e->cm.data, sizeof(other));
	if (other <= m->self || other >= m->count || m->conns[other].c.ep) {
		fi_freeinfo(e->cm.info);
		FCT_FAIL("a request of peer %u, or a second one", other);
	}
	FCT_DO(fct_conn_take(&m->l, &m->conns[other].c, e->cm.info));
	FCT_DO(post_receives(m, other));
	FCT_CALL(fi_accept(m->conns[other].c.ep, NULL, 0));
	return 0;
}

static int on_event(struct mesh *m, const struct fct_event *e)
{
	struct mesh_conn *c = (struct mesh_conn *)fct_conn_of(&m->l, e->cm.fid);

	switch (e->event) {
	case FI_CONNREQ:
		return on_request(m, e);
	case FI_CONNECTED:
		FCT_TRUE(c && !c->connected);
		c->connected = true;
		m->connected++;
		break;
	case FI_SHUTDOWN:
		FCT_TRUE(c && c->connected && !c->shut);
		c->shut = true;
		m->shut++;
		break;
	default:
		FCT_FAIL("event %u is none of a connection", e->event);
	}
	return 0;
}

int fct_mesh_await(struct mesh *m, uint32_t connected, uint32_t shut, const char *what)
{
	struct fct_event e;
	int ret = 0;

	while (m->connected < connected || m->shut < shut) {
		ret = fct_eq_next(m->l.eq, &e, what);
		if (ret > 0)
			FCT_FAIL("%s: error %d (%s)", what, e.err.err,
				 fi_strerror(e.err.err));
		FCT_DO(ret);
		FCT_DO(on_event(m, &e));
	}
	FCT_EQ(m->connected, connected);
	FCT_EQ(m->shut, shut);
	return 0;
}

int fct_mesh_up(struct mesh *m, struct mesh_shared *shared, uint32_t self, uint64_t caps)
{
	const uint32_t count = fct_mesh_count;
	const struct fct_setup s = {
		.caps = caps,
		.tx_size = MESH_BURST,
		.rx_size = MESH_BURST,
		.cq_size = (size_t)count * MESH_BURST * 2,
	};
	const size_t len = (size_t)count * MESH_BURST * MESH_LEN;
	uint32_t other;

	m->shared = shared;
	m->self = self;
	m->count = count;
	if (fct_probe())
		FCT_FAIL("no endpoint for messages");
	FCT_DO(fct_link_listen_alone(&m->l, &s, &shared->peer[self].where));
	FCT_DO(fct_mem_alloc(&m->l, &m->out, len, FI_SEND | FI_READ | FI_WRITE));
	FCT_DO(fct_mem_alloc(&m->l, &m->in, len,
			     caps & FI_RMA ? FI_RECV | FI_REMOTE_READ | FI_REMOTE_WRITE
					   : FI_RECV));
	if (caps & FI_RMA)
		shared->peer[self].target = fct_mem_target(&m->l, &m->in);
	FCT_DO(fct_mesh_barrier(m, "all peers to listen"));
	for (other = 0; other < self; other++)
		FCT_DO(ask(m, other));
	FCT_DO(fct_mesh_await(m, count - 1, 0, "connections to all peers"));
	return fct_mesh_barrier(m, "all peers to be connected");
}

int fct_mesh_down(struct mesh *m, int ret)
{
	return fct_link_down(&m->l, ret);
}
