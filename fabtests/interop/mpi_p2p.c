/* SPDX-License-Identifier: BSD-2-Clause */
/* One message at a time: sizes, ways of sending, types, what a receive is told. */
#include "mpi_check.h"

#define LIMITS ((size_t)256 << 10)

static void check_status(struct mc *m, const MPI_Status *s, int source, int tag,
			 size_t len)
{
	int count = -1;

	MPI_Get_count(s, MPI_BYTE, &count);
	MC_EQ(m, s->MPI_SOURCE, source);
	MC_EQ(m, s->MPI_TAG, tag);
	MC_EQ(m, count, len);
}

/* A message of len bytes to the next rank, one from the rank before. */
static void pass_on(struct mc *m, size_t len, int tag)
{
	uint8_t *out = mc_alloc(len), *in = mc_alloc(len);
	MPI_Status s;

	mc_fill(out, len, mc_seed(m->rank, m->next, tag));
	MPI_Sendrecv(out, (int)len, MPI_BYTE, m->next, tag, in, (int)len, MPI_BYTE,
		     m->prev, tag, MPI_COMM_WORLD, &s);
	check_status(m, &s, m->prev, tag, len);
	mc_compare(m, in, len, mc_seed(m->prev, m->rank, tag), "received");
	mc_free(m, out, len);
	mc_free(m, in, len);
}

/*
 * Every power of two, and as far as protocols have limits there, the sizes beside it.
 */
static void sizes(struct mc *m)
{
	size_t power;
	int tag = 0;

	pass_on(m, 0, tag++);
	for (power = 1; power <= MC_MAX; power *= 2) {
		pass_on(m, power, tag++);
		if (power > LIMITS)
			continue;
		pass_on(m, power - 1, tag++);
		pass_on(m, power + 1, tag++);
	}
}

/* Receives longer than the message. */
static void longer_receive(struct mc *m)
{
	static const size_t lens[] = {0, 1, 100, 16384, 16385, 200000};
	size_t room = 300000, i;
	uint8_t *out = mc_alloc(room), *in;
	MPI_Request request;
	MPI_Status s;
	int tag;

	for (i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		tag = (int)i;
		in = mc_alloc(room);
		mc_fill(out, lens[i], mc_seed(m->rank, m->next, tag));
		MPI_Irecv(in, (int)room, MPI_BYTE, m->prev, tag, MPI_COMM_WORLD,
			  &request);
		MPI_Send(out, (int)lens[i], MPI_BYTE, m->next, tag, MPI_COMM_WORLD);
		MPI_Wait(&request, &s);
		check_status(m, &s, m->prev, tag, lens[i]);
		mc_compare(m, in, lens[i], mc_seed(m->prev, m->rank, tag), "received");
		MC_EQ(m, in[lens[i]], 0);
		mc_free(m, in, room);
	}
	mc_free(m, out, room);
}

typedef int send_call(const void *buf, int count, MPI_Datatype type, int to, int tag,
		      MPI_Comm comm, MPI_Request *request);

/* A ready send may only start when the receive is there: the barrier says so. */
static void send_by(struct mc *m, send_call *call, size_t len, int tag)
{
	uint8_t *out = mc_alloc(len), *in = mc_alloc(len);
	MPI_Request request[2];
	MPI_Status s[2];

	mc_fill(out, len, mc_seed(m->rank, m->next, tag));
	MPI_Irecv(in, (int)len, MPI_BYTE, m->prev, tag, MPI_COMM_WORLD, &request[0]);
	MPI_Barrier(MPI_COMM_WORLD);
	call(out, (int)len, MPI_BYTE, m->next, tag, MPI_COMM_WORLD, &request[1]);
	MPI_Waitall(2, request, s);
	check_status(m, &s[0], m->prev, tag, len);
	mc_compare(m, in, len, mc_seed(m->prev, m->rank, tag), "received");
	mc_free(m, out, len);
	mc_free(m, in, len);
}

static void send_modes(struct mc *m)
{
	static send_call *const calls[] = {MPI_Isend, MPI_Issend, MPI_Irsend, MPI_Ibsend};
	static const size_t lens[] = {0, 9, 20000, 500000};
	int room = 2 * (500000 + MPI_BSEND_OVERHEAD);
	void *attached = mc_alloc((size_t)room), *detached;
	size_t i, k;

	MPI_Buffer_attach(attached, room);
	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		for (k = 0; k < sizeof(lens) / sizeof(lens[0]); k++)
			send_by(m, calls[i], lens[k], (int)(i * 10 + k));
	MPI_Buffer_detach(&detached, &room);
	mc_free(m, attached, (size_t)room);
}

/* A synchronous send does not end before its receive begins. */
static void synchronous(struct mc *m)
{
	int token = 7, got = 0, done = 0, i;
	MPI_Request request;

	if (m->rank == 0) {
		MPI_Issend(&token, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
		for (i = 0; i < 1000; i++) {
			MPI_Test(&request, &done, MPI_STATUS_IGNORE);
			MC_TRUE(m, !done);
			if (done)
				return;
		}
		MPI_Send(&token, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	} else if (m->rank == 1) {
		MPI_Recv(&got, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Recv(&got, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MC_EQ(m, got, token);
	}
}

static void persistent(struct mc *m)
{
	size_t len = 30000;
	uint8_t *out = mc_alloc(len), *in = mc_alloc(len);
	MPI_Request request[2];
	int i;

	MPI_Send_init(out, (int)len, MPI_BYTE, m->next, 5, MPI_COMM_WORLD, &request[0]);
	MPI_Recv_init(in, (int)len, MPI_BYTE, m->prev, 5, MPI_COMM_WORLD, &request[1]);
	for (i = 0; i < 20; i++) {
		mc_fill(out, len, mc_seed(m->rank, m->next, i));
		MPI_Startall(2, request);
		MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
		mc_compare(m, in, len, mc_seed(m->prev, m->rank, i), "received");
	}
	MPI_Request_free(&request[0]);
	MPI_Request_free(&request[1]);
	mc_free(m, out, len);
	mc_free(m, in, len);
}

/* Every third of a row of doubles arrives, and nothing between. */
static void strided_type(struct mc *m)
{
	enum { ROWS = 20000, STRIDE = 3 };
	size_t len = ROWS * STRIDE * sizeof(double), i;
	double *out = mc_alloc(len), *in = mc_alloc(len);
	MPI_Datatype column;

	for (i = 0; i < ROWS * STRIDE; i++)
		out[i] = (double)(m->rank * 1000000 + (int)i);
	MPI_Type_vector(ROWS, 1, STRIDE, MPI_DOUBLE, &column);
	MPI_Type_commit(&column);
	MPI_Sendrecv(out, 1, column, m->next, 6, in, 1, column, m->prev, 6,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	for (i = 0; i < ROWS * STRIDE; i++)
		MC_EQ(m, in[i], i % STRIDE ? 0 : m->prev * 1000000 + (int)i);
	MPI_Type_free(&column);
	mc_free(m, out, len);
	mc_free(m, in, len);
}

const struct mc_case mc_p2p[] = {
	{"p2p-sizes", sizes},
	{"p2p-longer-receive", longer_receive},
	{"p2p-send-modes", send_modes},
	{"p2p-synchronous", synchronous},
	{"p2p-persistent", persistent},
	{"p2p-strided-type", strided_type},
	{0},
};
