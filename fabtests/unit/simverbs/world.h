/* SPDX-License-Identifier: BSD-2-Clause */
/* A device, and queue pairs connected within this process or with a child of it. */
#ifndef WORLD_H
#define WORLD_H

#include "cairn_test.h"
#include "verbs/verbs.h"

#define WORLD_BYTES 65536
#define WORLD_WRS 8
#define WORLD_INLINE 64

/* What one end of a connection has. memory is registered with every right there is. */
struct end {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq; /* of both directions, on channel */
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	char *memory;
};

/* What the other end must know. */
struct address {
	uint32_t qpn;
	uint32_t rkey;
	uint64_t memory;
	uint32_t lid;  /* 0 on Ethernet: the address is the GID */
	uint32_t zero; /* no byte between that says nothing */
	union ibv_gid gid;
};

#define WORLD_ACCESS                                                                    \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |    \
	 IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND | (int)SVB_ACCESS_FLUSH_GLOBAL | \
	 (int)SVB_ACCESS_FLUSH_PERSISTENT)

/* The call returns that, and errno says why. */
#define EXPECT_ERRNO(call, ret, err)      \
	do {                              \
		errno = 0;                \
		CT_EXPECT_EQ(call, ret);  \
		CT_EXPECT_EQ(errno, err); \
	} while (0)

/* Each reports a failed check and returns false. */
bool world_open(struct end *end, enum ibv_qp_type type, bool srq);
bool world_init(struct end *end, enum ibv_qp_type type);
bool world_rtr(struct end *end, const struct address *peer);
bool world_rts(struct end *end, uint8_t timeout, uint8_t rnr_retry);
bool world_connect(struct end *end, const struct address *peer);
void world_close(struct end *end);
struct address world_address(const struct end *end);

/* Two ends of one reliable connection in this process. */
bool world_pair(struct end *a, struct end *b);
void world_pair_close(struct end *a, struct end *b);
/* A datagram end that sends and receives. */
bool world_open_ud(struct end *end);

/* What most tests begin with: a fixture. */
struct pair {
	struct end a, b;
	struct address to; /* of b */
};
void pair_open(struct pair *pair);
void pair_open_ud(struct pair *pair);
void pair_close(struct pair *pair);
/* Writes 8 bytes from the beginning of a to that of b. Returns the status of the
 * completion, -1 when none comes or the request is refused. */
int pair_write(struct pair *pair);

/* Posting. Offsets and lengths are of the end's memory. Returns what the verb returned.
 */
int world_recv(struct end *end, uint64_t wr_id, size_t offset, size_t len);
int world_send(struct end *end, uint64_t wr_id, size_t offset, size_t len);
/* To a datagram queue pair, from the beginning of the memory. */
int world_send_to(struct end *end, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey,
		  size_t len);
int world_rdma(struct end *end, enum ibv_wr_opcode opcode, size_t offset, size_t len,
	       const struct address *peer, size_t at);

/*
 * Has port 1 of the first device be a member of a group, as an id of rdma_cm would.
 * Returns the group's MLID, 0 after a failed check.
 */
uint16_t world_join_group(const union ibv_gid *mgid);

/* Waits up to ten seconds for a completion; false when none comes. */
bool world_wait(struct ibv_cq *cq, struct ibv_wc *wc);
/* The status of the next completion, -1 when none comes. */
int world_status(struct ibv_cq *cq);
/* No completion is there. */
bool world_quiet(struct ibv_cq *cq);
enum ibv_qp_state world_state(const struct end *end);
/* Of an event channel or its like, within so many milliseconds. */
bool world_readable(int fd, int ms);

/* Runs fn in a child, which joins the device by itself. Its failed checks are failures
 * of the test. */
void world_run(void (*fn)(void));
/* A test in a child. */
#define WORLD_CHILD(suite_, name_)                   \
	static void world_##suite_##_##name_(void);  \
	CT_TEST(suite_, name_)                       \
	{                                            \
		world_run(world_##suite_##_##name_); \
	}                                            \
	static void world_##suite_##_##name_(void)
/* The child reads the settings again, NAME and value by pairs until NULL. */
void world_settings(const char *name, ...);

/*
 * A child that runs fn with one end of a socket pair, and ends with what fn returns. The
 * parent's end, or -1.
 */
int world_child(int (*fn)(int fd), pid_t *pid);
/* The exit status of a child, -1 when it was killed. */
int world_reap(pid_t pid);
/* Swaps addresses with the other end of the socket. */
bool world_swap(int fd, const struct address *mine, struct address *peer);
/* One byte as a signal, and its other end; false when the socket is closed. */
bool world_tell(int fd);
bool world_hear(int fd);

#endif
