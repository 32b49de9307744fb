/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fabric objects of a case: one link is a fabric, a domain, an event queue, completion
 * queues and a connection on each side. What a case wants of the provider stands in a
 * struct fct_setup.
 */
#ifndef FCT_FABRIC_H
#define FCT_FABRIC_H

#include <string.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include "fct.h"

#define FCT_API FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION)
/* FI_ORDER_STRICT of comp_order; deprecated in libfabric 2.x. */
#define FCT_ORDER_STRICT 0x1FFULL
#define FCT_MR_MODE (FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR)
#define FCT_CM_DATA_MAX 1024
#define FCT_MAX_CQS 8
#define FCT_MAX_KEPT 8

struct fct_link;
struct fct_conn;

/* Zero means: the provider's default. */
struct fct_setup {
	uint64_t caps; /* 0: FI_MSG */
	uint64_t mode; /* mode bits the case honours beyond none */
	uint64_t msg_order;
	uint64_t tx_op_flags, rx_op_flags;
	uint64_t tx_bind, rx_bind; /* CQ binding flags, e.g. FI_SELECTIVE_COMPLETION */
	size_t tx_size, rx_size;
	size_t prefix;	     /* FI_MSG_PREFIX is asked for, with so many bytes */
	size_t cq_data_size; /* bytes of remote CQ data the case sends */
	enum fi_threading threading;
	enum fi_progress data_progress;
	bool split_cq;		  /* separate CQs for transmit and receive */
	size_t cq_size;		  /* 0: what the endpoint can have outstanding */
	enum fi_cq_format format; /* 0: FI_CQ_FORMAT_DATA */
	enum fi_wait_obj cq_wait; /* 0: FI_WAIT_NONE */
	int without_mr_mode;	  /* of FCT_MR_MODE, what the case does not do */
	bool shared_rx;		  /* receives are posted to a shared context */
	/* Opens what the case has besides queues, on l->domain: fct_keep. 0, or < 0 after
	 * fct_fail or fct_skip. */
	int (*open)(struct fct_link *l);
	/* Binds what the case has besides queues, before the endpoint is enabled. As
	 * open. */
	int (*bind)(struct fct_link *l, struct fct_conn *c);
};

struct fct_conn {
	struct fct_conn *next;
	struct fi_info *info; /* of the endpoint; owned */
	struct fid_ep *ep;
	struct fid_cq *txcq, *rxcq; /* set before fct_conn_open: used instead of the
				       link's, not owned */
};

/* The data that both sides exchange once connected. */
struct fct_peer {
	uint64_t caps;
	uint64_t mode;
	uint64_t rx_mode;
	uint64_t max_msg_size;
	uint64_t cq_data_size;
	uint64_t tx_size, rx_size;
	uint64_t iov_limit;
	uint64_t msg_order;
	uint64_t data_progress;
};

struct fct_mem {
	struct fct_mem *next;
	bool allocated; /* by fct_mem_alloc */
	uint8_t *buf;
	size_t len;
	struct fid_mr *mr;
	void *desc;
};

struct fct_link {
	struct fct_setup s;
	struct fi_info *info; /* client: for the connection; server: for listening */
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_eq *eq;
	struct fid_pep *pep;	    /* server */
	struct fid_av *av;	    /* of endpoints without connections */
	struct fid_cq *txcq, *rxcq; /* the same unless s.split_cq */
	char node[64], service[16]; /* where the server listens */
	struct fct_conn c;	    /* the first connection */
	struct fct_peer peer;
	/*
	 * What fct_link_down closes: connections and memory where the case keeps them,
	 * all CQs.
	 */
	struct fct_conn *conns;
	struct fct_mem *mems;
	struct fct_mem message; /* fct_conn_message's */
	struct fid_cq *cqs[FCT_MAX_CQS];
	int n_cqs;
	fid_t kept[FCT_MAX_KEPT]; /* what else the case opened on the domain: fct_keep */
	int n_kept;
};

/* Persistent memory for tests: what FI_CAIRN_PMEM names, a devdax or a file. */
#define FCT_PMEM_LEN ((size_t)2 << 20)

/* A region of the peer, as RMA calls want it. */
struct fct_target {
	uint64_t addr;
	uint64_t len;
	uint64_t key;
};

/* Operation context; large enough for every FI_CONTEXT mode. */
struct fct_ctx {
	struct fi_context2 fi;
};

/* ---- fct_info.c ---- */

/* Hints of the command line and the setup, NULL: out of memory. */
struct fi_info *fct_hints(const struct fct_setup *s);
/*
 * fi_getinfo for this side. node is the server's address, NULL: listen on the local
 * address. Retries with the mode bits the provider insists on. Returns fi_getinfo's
 * value.
 */
int fct_getinfo(const struct fct_setup *s, const char *node, const char *service,
		struct fi_info **info);
/* 0 if the provider has a FI_MSG endpoint here, else a message was printed. */
int fct_probe(void);
/* Both sides say whether they can run (0). Returns 0 if both can. */
int fct_agree(int ret);
/* Text of an address for fi_getinfo. */
int fct_addr_text(const void *addr, char *node, size_t node_len, char *service,
		  size_t service_len, bool *wildcard);
uint16_t fct_addr_port(const void *addr);

/* ---- fct_link.c ---- */

/* Where the server listens. */
struct fct_where {
	char node[64];
	char service[16];
};

/*
 * For a client of which other processes are to be the endpoints: hears the server's
 * address; and, in such a process, whose fct.ctl is -1, opens what fct_link_open opens.
 */
int fct_where_hear(struct fct_where *where);
int fct_link_open_alone(struct fct_link *l, const struct fct_setup *s,
			const struct fct_where *where);
/* The link's passive endpoint, and where it listens. */
int fct_listen(struct fct_link *l, struct fct_where *where);
/* Listens, in a process that tells others where by a way of its own. */
int fct_link_listen_alone(struct fct_link *l, const struct fct_setup *s,
			  struct fct_where *where);

/*
 * Up to and including fi_listen; the client learns the address. Skips the case if nothing
 * fits. s: NULL for messages and all defaults.
 */
int fct_link_open(struct fct_link *l, const struct fct_setup *s);
/*
 * For endpoints without connections: up to and including queues and an address vector, on
 * both sides; with an event queue where insertions or joins are events. Endpoints are
 * opened by fct_ep_new.
 */
int fct_plain_open(struct fct_link *l, const struct fct_setup *s, const char *node,
		   const struct fi_av_attr *av);
int fct_cq_open(struct fct_link *l, size_t size, enum fi_cq_format format,
		enum fi_wait_obj wait, struct fid_cq **cq);
/* fct_link_down closes it, after the connections. */
int fct_keep(struct fct_link *l, fid_t fid);
/* An endpoint on info with everything bound and enabled; info stays the caller's. The
 * same on a copy of the link's info. */
int fct_ep_open(struct fct_link *l, struct fct_conn *c, struct fi_info *info);
int fct_ep_new(struct fct_link *l, struct fct_conn *c);
/*
 * The parts of connecting, of which fct_conn_up is all. fct_conn_open: the client enables
 * an endpoint and starts connecting, the server waits for the request and enables an
 * endpoint for it. fct_conn_finish: the server accepts, both wait for FI_CONNECTED.
 * Receives may be posted between the two.
 */
int fct_conn_open(struct fct_link *l, struct fct_conn *c);
/* Both halves of fct_conn_open: fi_connect with data, and an endpoint for a request that
 * was read. */
int fct_conn_ask(struct fct_link *l, struct fct_conn *c, const void *data, size_t len);
int fct_conn_take(struct fct_link *l, struct fct_conn *c, struct fi_info *info);
int fct_conn_finish(struct fct_link *l, struct fct_conn *c);
int fct_conn_up(struct fct_link *l, struct fct_conn *c);
int fct_conn_close(struct fct_link *l, struct fct_conn *c);
/* The open connection whose endpoint this is; NULL: none. */
struct fct_conn *fct_conn_of(struct fct_link *l, fid_t fid);
/* One message from the client to the server over this connection; both sides call it. */
int fct_conn_message(struct fct_link *l, struct fct_conn *c, uint64_t seed);
/* All of it: open, connect, exchange struct fct_peer. */
int fct_link_up(struct fct_link *l, const struct fct_setup *s);
/*
 * Closes everything, connections and memory of the case included; with ret == 0 both
 * sides wait for each other first. Returns ret, or < 0 if closing failed.
 */
int fct_link_down(struct fct_link *l, int ret);
/* The same of a FCT_AUTO variable: a struct fct_link, or one that begins with it. */
void fct_link_end(void *link);
/* FCT_AUTO of a pointer to an object that is closed, an info, memory; NULL: nothing. */
void fct_fid_end(void *fid);
void fct_info_end(struct fi_info **info);
void fct_free_end(void *memory);

/* ---- fct_mem.c ---- */

/*
 * Memory lives until fct_link_down, or until it is unregistered. fct_mem_alloc: page
 * aligned and zeroed; both: registered if the provider wants that for local buffers
 * (FI_MR_LOCAL) or access has a remote right.
 */
int fct_mem_alloc(struct fct_link *l, struct fct_mem *m, size_t len, uint64_t access);
int fct_mem_reg(struct fct_link *l, struct fct_mem *m, void *buf, size_t len,
		uint64_t access);
int fct_mem_unreg(struct fct_link *l, struct fct_mem *m);
struct fct_target fct_mem_target(const struct fct_link *l, const struct fct_mem *m);
/* Both sides: memory that the peer may access, and what the peer has of that kind. */
int fct_mem_expose(struct fct_link *l, struct fct_mem *m, size_t len, uint64_t access,
		   struct fct_target *peer);
/* Maps FCT_PMEM_LEN bytes of it, for the caller to unmap; without it, skips the case. */
int fct_pmem_map(uint8_t **mem);
/* Registers it, or a part of it. */
int fct_pmem_reg(struct fct_link *l, void *mem, size_t len, uint64_t access,
		 struct fid_mr **mr, struct fct_target *target);
/* For FCT_AUTO, in place of the unmapping. */
void fct_pmem_end(uint8_t **mem);
void fct_fill(void *buf, size_t len, uint64_t seed);
/*
 * Compares with what fct_fill writes; position is that of buf[0] in the pattern. Fails
 * the case if it differs.
 */
int fct_compare(const void *buf, size_t len, uint64_t seed, size_t position,
		const char *what);
int fct_compare_at(const char *file, int line, const void *buf, size_t len,
		   uint64_t seed);
#define FCT_DATA(buf, len, seed) \
	FCT_DO(fct_compare_at(__FILE__, __LINE__, buf, len, seed))
/* All bytes are value. */
bool fct_all(const void *buf, size_t len, uint8_t value);

/* ---- fct_event.c ---- */

struct fct_event {
	uint32_t event;
	size_t len; /* of cm data, in CM events */
	union {
		struct fi_eq_cm_entry cm;
		struct fi_eq_entry entry;
		uint8_t room[sizeof(struct fi_eq_cm_entry) + FCT_CM_DATA_MAX];
	};
	struct fi_eq_err_entry err;
	uint8_t err_data[FCT_CM_DATA_MAX];
};

/* 0: no event; 1: an event; 2: an error entry, read into err; < 0: recorded. */
int fct_eq_look(struct fid_eq *eq, struct fct_event *e);
/* 0: an event; 1: an error entry, read into err; < 0: deadline (recorded). */
int fct_eq_next(struct fid_eq *eq, struct fct_event *e, const char *what);
/* This event and for this fid (NULL: any), or the case fails. */
int fct_eq_expect(struct fid_eq *eq, uint32_t event, fid_t fid, struct fct_event *e);
/* The next event is there, unread. */
int fct_eq_peek(struct fid_eq *eq, uint32_t event, struct fct_event *e);
/* No event is in the queue. */
int fct_eq_quiet(struct fid_eq *eq, const char *when);
/* An error entry for this fid, or the case fails. */
int fct_eq_expect_err(struct fid_eq *eq, fid_t fid, struct fct_event *e);

/* 1: an operation has ended, err being FI_E* or 0; 0: none has; < 0: recorded. */
int fct_cq_look(struct fid_cq *cq, struct fi_cq_data_entry *e, int *err);
/* 0: one completion; 1: an error entry is there to be read; < 0: deadline (recorded). */
int fct_cq_next(struct fid_cq *cq, struct fi_cq_data_entry *e, const char *what);
/* One successful completion, or the case fails. */
int fct_comp_any(struct fid_cq *cq, struct fi_cq_data_entry *e, const char *what);
/*
 * The successful completion of this context with exactly these flags; the others in e are
 * the caller's to check.
 */
int fct_comp(struct fid_cq *cq, const void *ctx, uint64_t flags,
	     struct fi_cq_data_entry *e, const char *what);
/* One error completion, read into err, or the case fails. */
int fct_comp_err(struct fid_cq *cq, struct fi_cq_err_entry *err, const char *what);
/* The CQ has nothing to read now. */
int fct_cq_quiet(struct fid_cq *cq, const char *when);
/* Sleeps on the descriptor of a queue or counter while fi_trywait allows it. 1: nothing
 * woke it for so long. */
int fct_sleep(struct fct_link *l, fid_t fid, int ms);
/* Describes the error entry waiting in the CQ as this case's failure. */
int fct_cq_fail(struct fid_cq *cq, const char *what);

/*
 * Posts, trying again while the provider says -FI_EAGAIN. For cases in which completions
 * are not waited for by another thread and the queue is not full of their own operations.
 * Returns -1 like the checks of fct.h.
 */
#define FCT_POST(cq, call)                                           \
	do {                                                         \
		struct fct_wait w_;                                  \
		int ret_;                                            \
                                                                     \
		fct_wait_init(&w_, "room for " #call);               \
		while ((ret_ = (int)(call)) == -FI_EAGAIN) {         \
			fi_cq_read(cq, NULL, 0);                     \
			FCT_DO(fct_wait_again(&w_));                 \
		}                                                    \
		if (ret_)                                            \
			FCT_FAIL("%s returned %d (%s)", #call, ret_, \
				 fi_strerror(-ret_));                \
	} while (0)

#endif
