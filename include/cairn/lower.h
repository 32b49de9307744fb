/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lower provider: a layer is a core provider that implements its objects with those
 * of another provider, the lower one. This header has what every layer needs: the
 * choice of the lower provider, the translation of its attributes, its fabric, and one
 * event queue and one completion queue of it, however many the program opens.
 *
 * Which one, the first of these that fits:
 *
 *	1. "LOWER;NAME" as the prov_name of the hints; LOWER may be a stack itself
 *	2. the parameter FI_NAME_LOWER
 *	3. pverbs, verbs, tcp
 *
 * A provider that FI_PROVIDER or the hints exclude ("^tcp", which is no LOWER) is never
 * it, nor is the layer itself, directly or through another layer. With 1 and 2 no other
 * one is tried. A fabric is opened by its name alone (fi_fabric(3)), so a choice by 1 is
 * carried in the name of the fabrics in the answers, "LOWER;NAME:FABRIC"; where hints
 * name such a fabric, they need not repeat the choice.
 */
#ifndef CRN_LOWER_H
#define CRN_LOWER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/providers/fi_prov.h>
#include <cairn/eq.h>
#include <cairn/list.h>
#include <cairn/lock.h>
#include <cairn/wait.h>

/* ---- what a layer offers ---- */

/*
 * The attribute that a row of the table describes, in all its places in struct fi_info.
 */
enum crn_lower_field {
	/* Sets of bits: of the info, of tx_attr and rx_attr, of domain_attr. */
	CRN_LOWER_CAPS,
	CRN_LOWER_MODE,
	CRN_LOWER_OP_FLAGS,
	CRN_LOWER_MSG_ORDER,
	CRN_LOWER_COMP_ORDER,
	CRN_LOWER_MR_MODE,
	/* Numbers. */
	CRN_LOWER_MAX_MSG_SIZE,
	CRN_LOWER_INJECT_SIZE,
	CRN_LOWER_TX_SIZE,
	CRN_LOWER_RX_SIZE,
	CRN_LOWER_TX_IOV,
	CRN_LOWER_RX_IOV,
	CRN_LOWER_RMA_IOV,
	CRN_LOWER_CQ_DATA_SIZE,
	CRN_LOWER_MR_KEY_SIZE,
	CRN_LOWER_FIELDS
};

/*
 * How the attribute is translated, from the hints to the lower provider's hints and
 * from its answer back. Of a set, the value names bits, and several rows may; a bit
 * that no row names is refused in hints (of modes: not handed down), and is in no
 * answer. A number that no row names passes; it has one row at most for each rule.
 */
enum crn_lower_rule {
	/* Passed through unchanged. */
	CRN_LOWER_PASS,
	/*
	 * The layer itself needs this much of the number: it is added to hints and
	 * subtracted from answers.
	 */
	CRN_LOWER_SHRINK,
	/*
	 * The layer's: the lower provider is not asked. Bits: in the answer if wished; of
	 * modes, what the layer demands of the program. A number: at most the value; the
	 * lower provider chooses its own, at least that of a CRN_LOWER_NEED row for the
	 * same field. So a layer that offers 512 operations and posts 1024 of its own
	 * says {CRN_LOWER_TX_SIZE, CRN_LOWER_OWN, 512} and {CRN_LOWER_TX_SIZE,
	 * CRN_LOWER_NEED, 1024}.
	 */
	CRN_LOWER_OWN,
	/*
	 * The layer needs it of the lower provider, whatever the program asks: capability
	 * bits that it uses, an order that it relies on, mode bits that it fulfils, a
	 * number at least so large. Of bits the program sees nothing but for those that
	 * pass as well. An answer without it is none, but for modes.
	 */
	CRN_LOWER_NEED,
};

struct crn_lower_row {
	enum crn_lower_field field;
	enum crn_lower_rule rule;
	uint64_t value;
};

struct crn_lower_layer {
	struct fi_provider *prov;
	char *const *lower; /* value of the parameter FI_NAME_LOWER */
	const struct crn_lower_row *table;
	size_t rows;
	const char *rdm_hint; /* for hints of FI_EP_RDM; NULL: ofi_rxm runs above it */
};

/*
 * fi_getinfo of a layer, for FI_EP_MSG: what the lower provider answers, as the table
 * changes it. Answers only who names the layer, in the hints or in FI_PROVIDER.
 * Everything else, and what the lower provider cannot do, is -FI_ENODATA with one log
 * line. Names of domains are the lower provider's, and so are those of fabrics but for a
 * choice that they carry; the hints may have either name of a fabric. May be called by
 * any thread.
 */
int crn_lower_getinfo(const struct crn_lower_layer *layer, uint32_t version,
		      const char *node, const char *service, uint64_t flags,
		      const struct fi_info *hints, struct fi_info **info);

/*
 * Is the provider asked for, by the prov_name of hints (NULL: none) or in FI_PROVIDER? Of
 * a provider that answers nobody else, and chooses what it runs over by itself: with a
 * LOWER in front of its name it is not.
 */
bool crn_lower_named(const struct fi_provider *prov, const char *prov_name);

/* ---- fabric ---- */

/* prov/common/lower/look.c */
struct crn_lower_look {
	struct crn_wait_source source; /* of the layer's wait: the lower event queue */
	_Atomic bool found;	       /* there is something in it */
	_Atomic uint64_t last;	       /* when it was looked at, ms */
};

/*
 * A layer's fabric, embedded in its own. Domains, endpoints and whatever is opened over
 * `lower` are between the layer and the lower provider; its event queues are here.
 */
struct crn_lower_fabric {
	struct fid_fabric fid; /* the layer's; ops are set by the layer */
	const struct crn_lower_layer *layer;
	struct fid_fabric *lower;
	char *prov_name; /* of the lower provider, as fi_getinfo takes it */
	char *name;	 /* of the fabric, as the program opened it */
	_Atomic unsigned int
		refs;	      /* what the layer has open over it; kept by the layer */
	struct crn_lock lock; /* guards the fields below and the life of crn_lower_obj */
	struct fid_eq
		*eq; /* the lower event queue; NULL: no queue of the layer is open */
	struct crn_list queues;	      /* of struct crn_lower_eq, those that are open */
	struct crn_lower_event *next; /* of eq; in use while a queue is open */
	bool kept;		      /* it was taken from eq, and not handed on yet */
	_Atomic bool full;	      /* kept because its queue is full */
	/*
	 * Set by a layer after crn_lower_fabric_open whose event queues progress more
	 * than events; NULL: they do not. progress is called without the lock before a
	 * queue is read; wait is an object with a descriptor that every queue waits for,
	 * and the lower event queue is a source of it.
	 */
	void (*progress)(struct crn_lower_fabric *fabric);
	struct crn_wait *wait;
	struct crn_lower_look look; /* of a layer with wait */
};

/*
 * fi_fabric of a layer: opens the lower provider's fabric of that name and fills fid but
 * for ops. 0, -FI_ENODATA (no lower provider has it), -FI_ENOMEM or what the lower
 * provider returned, with a log line.
 */
int crn_lower_fabric_open(const struct crn_lower_layer *layer,
			  struct fi_fabric_attr *attr, struct crn_lower_fabric *fabric,
			  void *context);
/* -FI_EBUSY: something is open; nothing was done. */
int crn_lower_fabric_close(struct crn_lower_fabric *fabric);

/*
 * A copy of the layer's info for the lower provider, to open a domain or endpoint with;
 * freed with fi_freeinfo. Numbers that are the layer's own are in it as the lower
 * provider has them: it is asked again, with fi_getinfo, where the table has such rows.
 * So is the protocol, where the info names none.
 * 0, -FI_ENOMEM, or -FI_ENODATA for what the layer or the lower provider never answered.
 */
int crn_lower_info(const struct crn_lower_fabric *fabric, const struct fi_info *info,
		   struct fi_info **lower);

/*
 * ret of a call that opens an object of the lower provider; what is the object's name.
 * Returns it, after a log line if it is an error.
 */
int crn_lower_opened(const struct crn_lower_fabric *fabric, const char *what, int ret);

/* ---- event queues ---- */

/*
 * The layer's side of a lower object that has events (an endpoint, passive or not),
 * embedded in the layer's object. Its address is the context of the lower object, by
 * which events are mapped back.
 */
struct crn_lower_obj {
	fid_t fid;		 /* the layer's, under which events are reported */
	struct crn_lower_eq *eq; /* the event queue that it is bound to; NULL: none yet */
	/* Of a passive endpoint, what it was opened with, whole: what its requests are
	 * answered like. NULL: the layer adds nothing of its own. */
	const struct fi_info *info;
	/*
	 * Takes an event in place of the queue. 0, or a negative code to get it again
	 * before any other: -FI_EAGAIN (as crn_eq_insert says that the queue is full)
	 * when any queue of the fabric is read, for which nobody is woken; with others,
	 * readers of an empty queue get the code, and who waits for the object's queue is
	 * woken to try again. Called with the lock of the fabric held: opens, binds and
	 * closes nothing. NULL: events are handed on as they are.
	 */
	int (*event)(struct crn_lower_obj *obj, struct crn_lower_event *event);
};

/* Bytes of connection data that are handed on at most. */
#define CRN_LOWER_CM_DATA 1024

/* An event of the lower provider, with the layer's fid and info in it already. */
struct crn_lower_event {
	struct crn_lower_obj *obj; /* NULL: the event is about no object of the layer */
	fid_t fid;		   /* the lower provider's */
	bool translated;
	bool is_error; /* err, else event and the first len bytes of what follows */
	uint32_t event;
	size_t len;
	union {
		struct fi_eq_entry entry;
		struct fi_eq_cm_entry cm; /* an info still in it belongs to the event */
		uint8_t bytes[sizeof(struct fi_eq_cm_entry) + CRN_LOWER_CM_DATA];
	};
	struct fi_eq_err_entry err; /* its err_data is the lower provider's */
};

/* A layer's event queue. */
struct crn_lower_eq {
	struct crn_eq eq;
	struct crn_lower_fabric *fabric;
	struct crn_list entry; /* of fabric->queues */
	/* Of eq.wait, one of them: the lower event queue, or fabric->wait. */
	struct crn_wait_lower source;
	struct crn_wait_inner inner;
	const struct fi_ops_eq *base; /* crn_eq's */
	struct fi_ops_eq ops;
};

/*
 * fi_ops_fabric.eq_open of a fabric that begins with struct crn_lower_fabric. Reading or
 * waiting for any queue of the fabric progresses the lower one, for all of them. An event
 * for a full queue holds up those behind it until that queue is read. fi_close
 * of the queue: -FI_EBUSY while something is bound, or why the lower one does not close,
 * after which the queue is open.
 */
int crn_lower_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr,
		      struct fid_eq **eq, void *context);

/*
 * For a read of a completion queue or counter of a layer with wait: events go to the
 * queues that they are for, and what they mean to the layer happens, though nobody reads
 * an event queue. At once for who was woken by one, otherwise within 10 ms of reading.
 * Called with no lock of the layer's.
 */
void crn_lower_look(struct crn_lower_fabric *fabric);

/*
 * Binds a queue that crn_lower_eq_open gave to the layer's object, and the lower queue to
 * the lower object. -FI_EINVAL: flags, bound already, or of another fabric.
 */
int crn_lower_bind_eq(struct crn_lower_fabric *fabric, struct crn_lower_obj *obj,
		      fid_t lower, struct fid *eq, uint64_t flags);

/*
 * Closes the lower object. Events about it that were not read are gone, connection
 * requests among them refused, and none is under way. What the lower provider's fi_close
 * returned; after an error the object is open, and has its events but for the requests:
 * to refuse one takes the listener, so it is done before.
 */
int crn_lower_close(struct crn_lower_fabric *fabric, struct crn_lower_obj *obj,
		    fid_t lower);

/* ---- a completion queue for operations that a layer completes itself ---- */

/*
 * An operation given to the lower provider: its address is the context. Exactly one of
 * the two callbacks is called, once, by the thread that makes progress.
 */
struct crn_lower_op {
	void (*done)(struct crn_lower_op *op, const struct fi_cq_data_entry *entry);
	/* The entry and what it points to are valid during the call. */
	void (*failed)(struct crn_lower_op *op, const struct fi_cq_err_entry *err);
};

/*
 * One for all endpoints of a layer's domain: two queues of the lower provider, for a
 * descriptor costs whoever polls (libfabric's tcp reads an epoll set in place of its
 * sockets). An endpoint is bound to one of them.
 */
struct crn_lower_cq {
	struct fid_cq *polled; /* FI_WAIT_NONE; NULL: nobody asked for it yet */
	struct fid_cq *waited; /* FI_WAIT_FD; NULL: the same */
	struct crn_lock lock;  /* held while completions are read and delivered */
	struct fid_domain *lower;
	size_t size; /* of each */
	/* Called at the end of crn_lower_cq_progress, with the lock held; count: of
	 * completions delivered. Set by the layer after crn_lower_cq_init, or NULL. */
	void (*progressed)(struct crn_lower_cq *cq, ssize_t count);
};

/* locked: threads may call at the same time. */
int crn_lower_cq_init(struct crn_lower_cq *cq, struct fid_domain *lower, size_t size,
		      bool locked);
/* Opens the queue when it is first asked for. What fi_cq_open of the lower provider
 * returned. */
int crn_lower_cq_get(struct crn_lower_cq *cq, bool waited, struct fid_cq **fid);
/* -FI_EBUSY: endpoints are bound to one of them; it may be called again. */
int crn_lower_cq_fini(struct crn_lower_cq *cq);

/*
 * Delivers completions, in order: those that one read of each queue gives, and more only
 * while reads come back full. done and failed may post, but not progress. How many
 * there were, or the lower provider's error.
 */
ssize_t crn_lower_cq_progress(struct crn_lower_cq *cq);
/* The same with the lock held. */
ssize_t crn_lower_cq_progress_locked(struct crn_lower_cq *cq);
/* The same until there are none: of an endpoint that was closed, none is left. */
void crn_lower_cq_drain(struct crn_lower_cq *cq);

#endif
