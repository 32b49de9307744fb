/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A provider made of memory for the unit tests of layers: FI_EP_MSG with FI_MSG, FI_RMA,
 * FI_TAGGED (not on shared receive contexts) and FI_ATOMIC of single FI_UINT64, both ends
 * in the test process. libfabric finds it under the name "script", as
 * the provider underneath the layer under test; a test also opens it itself, to be the
 * layer's peer.
 *
 * Left alone it works as fi_endpoint(3) says: an operation is executed, and its events
 * and completions are written, in the call that posts it. A test
 *
 *	refuses calls	 scr_refuse	any call returns any code, the nth time
 *	delays, reorders scr_hold	arrivals, completions and events wait for
 *scr_let_go makes errors	 scr_fail_held	a held operation fails with any code and
 *err_data makes events	 scr_event, scr_completion, scr_break asks for less	 scr_offer
 *what fi_getinfo offers looks		 scr_count, scr_look, scr_fid
 *
 * The buffers of an operation are read when it arrives at the peer, which is as late as
 * fi_msg(3) allows: a layer that gives a buffer back too early sends something else.
 *
 * Any thread may call anything of libfabric; what is declared here is thread safe as
 *well.
 */
#ifndef SCR_SCRIPT_H
#define SCR_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rdma/fabric.h>
#include <rdma/fi_eq.h>
#include <rdma/providers/fi_prov.h>
#include <cairn/cq.h>

#define SCR_NAME "script"
#define SCR_CM_DATA_MAX 256 /* bytes of private data at most; offered: 32 */

/* Calls that a provider gets. Every form of one is the same: fi_sendv is an SCR_SEND. */
enum scr_call {
	SCR_GETINFO,
	SCR_FABRIC,
	SCR_DOMAIN,
	SCR_EQ_OPEN,
	SCR_PASSIVE_EP,
	SCR_ENDPOINT,
	SCR_SRX,
	SCR_CQ_OPEN,
	SCR_CNTR_OPEN,
	SCR_MR_REG,
	SCR_CLOSE,
	SCR_BIND,
	SCR_CONTROL, /* but FI_ENABLE and FI_GETWAIT */
	SCR_ENABLE,
	SCR_GETWAIT,
	SCR_GETOPT,
	SCR_SETOPT,
	SCR_SETNAME,
	SCR_GETNAME,
	SCR_GETPEER,
	SCR_LISTEN,
	SCR_CONNECT,
	SCR_ACCEPT,
	SCR_REJECT,
	SCR_SHUTDOWN,
	SCR_TRYWAIT,
	SCR_EQ_READ,
	SCR_EQ_SREAD,
	SCR_EQ_READERR,
	SCR_EQ_WRITE,
	SCR_CQ_READ,
	SCR_CQ_SREAD,
	SCR_CQ_READERR,
	SCR_CQ_SIGNAL,
	SCR_CANCEL,
	SCR_RECV,
	SCR_SEND,
	SCR_INJECT,
	SCR_READ,
	SCR_WRITE,
	SCR_INJECT_WRITE,
	SCR_TRECV,
	SCR_TSEND,
	SCR_TINJECT,
	SCR_ATOMIC,
	SCR_FETCH_ATOMIC,
	SCR_COMPARE_ATOMIC,
	SCR_INJECT_ATOMIC,
	SCR_CALLS
};

/*
 * Before anything else in a test: libfabric knows the provider, nothing is refused, held
 * or recorded, the offer is the full one. What another test left open stays open.
 */
void scr_begin(void);

/*
 * For the test program to define: the layer under test, as its fi_prov_ini gives it.
 * libfabric then has it under its own name, over the scripted provider for hints that
 * name "script;NAME".
 */
__attribute__((visibility("default"))) struct fi_provider *scr_tested_ini(void);

/* ---- what is offered ---- */

/* The one fi_info of fi_getinfo, before hints are applied. The test changes what it
 * likes; scr_begin makes a new one. NULL: fi_getinfo gives -FI_ENODATA. */
struct fi_info *scr_offer(void);
/* FI_OPT_CM_DATA_SIZE, up to SCR_CM_DATA_MAX. */
void scr_cm_data_size(size_t size);

/* ---- calls ---- */

/* A call that was made: which fields mean something depends on the call. */
struct scr_record {
	enum scr_call call;
	struct fid *fid;   /* the object; NULL: none yet. May be closed by now */
	struct fid *other; /* that is bound, or that a handle means */
	uint64_t flags;	   /* of operations with op_flags: those that count */
	void *context;
	size_t len; /* bytes */
	uint64_t addr, key;
	uint64_t data; /* remote CQ data; command of SCR_CONTROL; name of an option */
	uint64_t tag;
	int ret; /* what it was refused with; 0: it was not */
};

/* Which calls are refused. Rules are asked in the order given; the first one whose turn
 * it is answers. */
struct scr_rule {
	enum scr_call call;
	size_t fclass;	       /* of the object, FI_CLASS_*; 0: any */
	const struct fid *fid; /* NULL: any */
	unsigned int skip;     /* as many are let through first */
	unsigned int times;    /* 0: all that follow */
	int ret; /* what the call returns, having done nothing; 0: it goes on */
	void (*before)(const struct scr_record *record, void *arg); /* NULL: nothing */
	void *arg;
};

#define SCR_RULES 32 /* at most */

void scr_refuse(const struct scr_rule *rule);
/* No rule is left. */
void scr_refuse_nothing(void);

/* Calls so far, refused ones too. */
unsigned int scr_count(enum scr_call call);
/* The ith of them. False: there is none, or more than 256 came since. */
bool scr_look(enum scr_call call, unsigned int i, struct scr_record *record);
const char *scr_call_name(enum scr_call call);

/* The ith object of a class, FI_CLASS_*, in the order of opening, of those that are open;
 * NULL: there are fewer. */
struct fid *scr_fid(size_t fclass, unsigned int i);
/* Objects of any class that are open. */
unsigned int scr_open(void);

/* ---- delays ---- */

enum scr_what {
	SCR_ARRIVALS = 1 << 0, /* operations that were posted; the peer knows nothing */
	SCR_COMPLETIONS =
		1 << 1,	     /* operations and receives that are over; no entry yet */
	SCR_EVENTS = 1 << 2, /* of event queues */
};

struct scr_held_item {
	enum scr_what what;
	struct fid *fid;  /* the endpoint (event: passive endpoint, too) it is about */
	enum scr_call op; /* SCR_SEND and the like; SCR_RECV also of a write with data */
	uint32_t event; /* of SCR_EVENTS: FI_CONNECTED and the like; UINT32_MAX: an error
			 */
	void *context;
	size_t len; /* bytes of data */
};

/* From here on these are held, a sum of enum scr_what; 0: none. Those that are held
 * already stay. */
void scr_hold(unsigned int what);
unsigned int scr_held(void);
/* The ith that is held, the oldest being 0. False: there are fewer. */
bool scr_held_at(unsigned int i, struct scr_held_item *item);
/*
 * It goes on, whatever came before it. An operation whose arrival is let go may be held
 * again, as a completion, and is then the last. False: there are fewer.
 */
bool scr_let_go(unsigned int i);
/* All, in order, including what becomes held meanwhile; nothing is held afterwards. */
void scr_let_all_go(void);
/*
 * An arrival or completion that is held fails: err, prov_errno and err_data are
 * reported in the operation's entry; an operation that had not arrived never does.
 * False: there are fewer, or it is an event.
 */
bool scr_fail_held(unsigned int i, int err, int prov_errno, const void *err_data,
		   size_t err_data_size);

/* ---- events out of nothing ---- */

/*
 * An event about an endpoint or passive endpoint in its event queue: FI_CONNECTED,
 * FI_SHUTDOWN, or any number, with private data. 0 or a negative FI_E* code.
 */
int scr_event(struct fid *about, uint32_t event, const void *data, size_t len);
/* An error entry; data is its err_data. */
int scr_event_err(struct fid *about, int err, int prov_errno, const void *data,
		  size_t len);
/* A completion, or an error if err is not NULL, in the endpoint's queue of one side.
 * -FI_EAGAIN: the queue is full; -FI_ENOCQ: there is none. */
int scr_completion(struct fid *ep, bool receives, const struct crn_cq_comp *comp,
		   const struct fi_cq_err_entry *err);
/*
 * The connection is lost: FI_SHUTDOWN at both ends, and FI_ECANCELED for all that is
 * outstanding. ep: either end.
 */
void scr_break(struct fid *ep);

/* ---- for a search over states, which takes the heap back ---- */

/* What the provider has outside its heap, but for the offer, rules and records. Returns
 * how many bytes there are; writes nothing when size is less. */
size_t scr_save(void *to, size_t size);
void scr_restore(const void *from);
/* Sorts what is held, by endpoint and kind, completions by operation as well: what was
 * held first of those stays first. */
void scr_held_sort(void);

#endif
