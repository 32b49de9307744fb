/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A peer of route's protocol that keeps none of its rules: the tcp provider, used
 * directly, and bytes put together here. What it knows of the protocol is wire.h's text,
 * not its code.
 */
#ifndef RAW_H
#define RAW_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#define RAW_ROOM 16384u /* bytes of a receive */
#define RAW_RECEIVES 32u
#define RAW_QUEUE 64u
#define RAW_SLOTS 16u
#define RAW_WAIT 2000 /* ms */
#define RAW_TURN 20   /* ms that one look takes at most */
#define RAW_KEY 7u    /* of the honest server's region */
#define RAW_REGION (1u << 20)

enum { RAW_CLIENT = 1, RAW_ROUTER = 2, RAW_TARGET = 3 };

enum {
	HELLO = 0x01,
	HELLO_ACK = 0x02,
	AUTH = 0x03,
	DIGEST = 0x10,
	LSREQ = 0x11,
	LSA = 0x12,
	AS_REACH = 0x13,
	HEARTBEAT = 0x14,
	BYE = 0x15,
	CONN_REQ = 0x20,
	CONN_REP = 0x21,
	CONN_ACK = 0x22,
	SHUTDOWN = 0x23,
	MSG = 0x30,
	WRITE = 0x31,
	READ_REQ = 0x32,
	READ_FRAG = 0x33,
	GRANT = 0x34,
	ACK = 0x35,
	NACK = 0x36,
	MR_RESOLVE = 0x37,
	MR_INFO = 0x38,
	MR_INVAL = 0x39,
	KEEPALIVE = 0x3a,
};

enum { FIRST = 1, LAST = 2, ACKREQ = 4, CQDATA = 8, ERR = 16, DELIVER = 128 };

/* --- Bytes (bytes.c) --- */

struct raw_bytes {
	size_t len;
	uint8_t at[RAW_ROOM];
};

void put16(uint8_t *at, uint16_t value);
void put32(uint8_t *at, uint32_t value);
void put64(uint8_t *at, uint64_t value);
uint32_t get32(const uint8_t *at);
uint64_t get64(const uint8_t *at);

/* A generator of its own, so that a seed means the same everywhere. */
extern uint64_t raw_seed;
uint64_t raw_random(void);
uint32_t raw_below(uint32_t bound);

/* Who is where, for CONN_REQ. */
struct raw_place {
	uint32_t as, subnet, host;
	uint16_t port;
};

void raw_preamble(uint8_t at[32], unsigned int role, uint64_t node,
		  const struct raw_place *on);
/* A well-formed message of any type, its body zeros. */
void raw_head(struct raw_bytes *bytes, unsigned int type, unsigned int flags);
void raw_payload(struct raw_bytes *bytes, const void *payload, size_t len);
void raw_tlv(struct raw_bytes *bytes, unsigned int type, const void *value, size_t len);
void raw_hello(struct raw_bytes *bytes, unsigned int type);
void raw_conn_req(struct raw_bytes *bytes, const uint8_t id[16],
		  const struct raw_place *from, const struct raw_place *to);
void raw_conn_rep(struct raw_bytes *bytes, const uint8_t id[16], unsigned int verdict,
		  unsigned int status);
void raw_named(struct raw_bytes *bytes, unsigned int type, const uint8_t id[16]);
/* MSG, WRITE, READ_FRAG: a part of an operation, in the Send. */
void raw_part(struct raw_bytes *bytes, unsigned int type, uint64_t seq, uint64_t length,
	      uint64_t offset, size_t len);
void raw_read(struct raw_bytes *bytes, uint64_t seq, uint64_t addr, uint64_t length);
void raw_lsa(struct raw_bytes *bytes, uint32_t as, uint64_t router, uint64_t epoch,
	     uint64_t seq);
/* Something of it is different; what a number is set to is likely at a bound. */
void raw_mutate(struct raw_bytes *bytes);

/* --- Connections (raw.c) --- */

struct raw_conn;

struct raw_op {
	struct fi_context2 context;
	struct raw_op *next;
	struct raw_conn *conn;
	bool receive;
	uint8_t *buf;
};

struct raw {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_eq *eq;
	struct fid_cq *cq;
	struct fid_pep *pep;
	struct fi_info *asks; /* of a listener: who asks; NULL: nobody */
	unsigned int conns;
};

struct raw_slot {
	uint64_t addr, key;
	uint32_t id, len;
	unsigned int lane;
};

struct raw_conn {
	struct raw *raw;
	struct fid_ep *ep;
	struct raw_op *ops;
	bool up, over;
	uint8_t preamble[32]; /* of who accepted */
	unsigned int flying;  /* sends */
	uint8_t id[16];
	/* Messages that came and have not been taken, and slots that were granted. */
	struct raw_bytes *queue[RAW_QUEUE];
	unsigned int queued;
	struct raw_slot slot[RAW_SLOTS];
	unsigned int slots;
};

/* listen: at that address; NULL: this only connects. */
int raw_open(struct raw *raw, const struct sockaddr_in *listen);
void raw_close(struct raw *raw);
void raw_progress(struct raw *raw);
/* NULL: there is no connection, or it was refused. wait: until there is one. */
struct raw_conn *raw_connect(struct raw *raw, const struct sockaddr_in *to,
			     const void *data, size_t len, bool wait);
struct raw_conn *raw_accept(struct raw *raw, const void *data, size_t len);
void raw_end(struct raw_conn *conn);
/* False: the connection is over, or its peer does not read. */
bool raw_send(struct raw_conn *conn, const struct raw_bytes *bytes);
bool raw_write(struct raw_conn *conn, const struct raw_slot *slot, size_t len);
/* Until what was sent has been taken. */
void raw_flush(struct raw_conn *conn);
/* The next message of that type (0: any); others are dropped. The caller frees it. NULL:
 * none comes in that time. */
struct raw_bytes *raw_await(struct raw_conn *conn, unsigned int type, int ms);
/* The other end ends it. */
bool raw_await_end(struct raw_conn *conn, int ms);
uint64_t raw_now(void);

/* --- Who keeps the rules: over route (honest.c) --- */

struct honest;

/* Serves until it is told to end by SIGTERM: what comes is sent back. */
int honest_serve(const char *node, const char *port);
/* NULL, and why not: a negative FI_E*, or what the router said. ms: at most. */
struct honest *honest_connect(const char *node, const char *port, int ms, int *why);
/* A message there and back, or a write and a read of a region: 0, or -FI_E*. */
int honest_echo(struct honest *honest, size_t len, int ms);
int honest_rma(struct honest *honest, size_t len, int ms);
/* So often some writes at once, of which it waits for the end. */
int honest_writes(struct honest *honest, unsigned int count, size_t len, int ms);
void honest_close(struct honest *honest);

/* --- What is done (attack.c, auth.c, border.c, evil.c, hold.c, lend.c) --- */

struct raw_attack {
	struct raw raw;
	struct sockaddr_in at; /* who is attacked */
	struct raw_place from, to;
	unsigned int rounds;
	/* During something that lasts: the honest ones are looked at. */
	void (*meanwhile)(void);
	char complaint[128]; /* of a case, about who is attacked; "": none */
};

struct raw_case {
	const char *name;
	void (*run)(struct raw_attack *attack);
};

void raw_receives(struct raw_attack *attack); /* receives.c */

extern const struct raw_case raw_cases[];
extern const size_t raw_cases_count;

/* Who has the key of a device that requires one, or a part of it (auth.c). */
struct raw_prover {
	struct raw raw;
	struct sockaddr_in at;
	unsigned int role;
	uint32_t id; /* of the key */
	uint8_t key[4096];
	size_t key_len;
	/* Where it is, where it says that it is, and whom it asks for. */
	struct raw_place from, claims, to;
	unsigned int rounds;
};

struct raw_proof {
	const char *name;
	bool (*run)(struct raw_prover *prover); /* it is as it should be */
};

/* A connection that is up, by a good proof where there is a key; NULL: it is refused. */
struct raw_conn *raw_let_in(struct raw_prover *prover);

extern const struct raw_proof raw_proofs[];
extern const size_t raw_proofs_count;

/* A router that answers connections as a seed has it, until SIGTERM. */
int raw_evil(const struct sockaddr_in *at, const struct raw_place *on);
/* As many connections as it is allowed, up to `most`, over which it says nothing, until
 * SIGTERM. */
int raw_hold(const struct sockaddr_in *at, const struct raw_place *on, unsigned int role,
	     unsigned int most);
/* A target that tells the last router of its regions, and recalls them, as a seed has it.
 */
int raw_lend(const struct sockaddr_in *at, const struct raw_place *on);
/* A router that is somewhere, as it says: asks for a connection between two others, and
 * prints what comes of it; or tells a link state. */
int raw_border(struct raw_prover *prover);
int raw_intrude(struct raw_prover *prover);

#endif
