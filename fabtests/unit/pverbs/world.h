/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The objects a test of the data path or of connection management works with: an endpoint
 * on device "fake0", address 10.0.0.1, with its queues.
 */
#ifndef PVB_TEST_WORLD_H
#define PVB_TEST_WORLD_H

#include "cairn_test.h"
#include "fake_cm.h"
#include "objects/objects.h"

#define WORLD_ADDR "10.0.0.1"
#define WORLD_PEER "10.0.0.2"

struct world_opts {
	uint32_t api_version;	  /* 0: 1.17 */
	enum fi_cq_format format; /* FI_CQ_FORMAT_UNSPEC: DATA */
	enum fi_wait_obj wait_obj;
	uint64_t caps; /* 0: FI_MSG | FI_RMA */
	size_t cq_size;
	size_t tx_size, rx_size, inject_size; /* 0: 8, 8, the default */
	uint64_t cq_flags;		      /* FI_SELECTIVE_COMPLETION */
	uint64_t tx_op_flags, rx_op_flags;
	uint64_t msg_order;
	enum fi_threading threading;
};

struct world {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_eq *eq;
	struct fid_cq *cq;
	struct fid_ep *ep;	 /* enabled */
	struct fid_pep *pep;	 /* of the test; NULL: none */
	struct fi_info *request; /* that arrived there and was read; NULL: none */
	struct fake_qp *qp;
	struct rdma_cm_id *id; /* once connected */
	size_t tx_size, rx_size;
};

/* The fakes as a test finds them: one address, one device. Every test begins with it. */
void world_reset(void);
/* Stops the clock; each look into a queue of the device then takes a millisecond. */
void world_polls_take_time(void);
/* Everything but the endpoint; opts may be NULL. False when a check failed. */
bool world_open_domain(struct world *w, const struct world_opts *opts);
/* Its queues anew with other attributes, before an endpoint uses them. */
bool world_swap_eq(struct world *w, struct fi_eq_attr *attr);
bool world_swap_cq(struct world *w, struct fi_cq_attr *attr);
/* With an enabled endpoint. */
bool world_open(struct world *w, const struct world_opts *opts);
/* And connected, as the requester. */
bool world_open_connected(struct world *w, const struct world_opts *opts);
/* Closes what is open, which may be nothing, and checks that nothing is left behind. */
void world_close(struct world *w);
void world_close_ep(struct world *w);
/* Closes the object of a variable that may be NULL, and sets the variable to NULL. */
#define close_object(object)                                       \
	do {                                                       \
		if (object)                                        \
			CT_EXPECT_EQ(fi_close(&(object)->fid), 0); \
		(object) = NULL;                                   \
	} while (0)

/* For CT_FIXTURE, whose tear-down is world_close: world_reset, and what the name says. */
void world_fresh(struct world *w);
void world_start(struct world *w);
void world_start_domain(struct world *w);
void world_start_connected(struct world *w);
/* Between the rows of a table: closes what is open, and world_reset; and opens it. */
void world_renew(struct world *w);
bool world_reopen_domain(struct world *w, const struct world_opts *opts);
bool world_reopen(struct world *w, const struct world_opts *opts);
bool world_reopen_connected(struct world *w, const struct world_opts *opts);

/* An endpoint that is bound to the queues, and not enabled. */
bool world_new_ep(struct world *w, struct fid_ep **ep);
/* The info names no source, or no destination. */
void world_forget_src(struct world *w);
void world_forget_dest(struct world *w);
/* One endpoint more on the same queues; world_connect makes it a connected requester. */
bool world_add_ep(struct world *w, const struct world_opts *opts, struct fid_ep **ep);
bool world_connect(struct world *w, struct fid_ep *ep);

struct pvb_ep *ep_of(struct fid_ep *ep);
struct pvb_cq *cq_of(struct fid_cq *cq);
struct fake_qp *qp_of(struct fid_ep *ep);
enum pvb_conn_state state_of(struct fid_ep *ep);

/* What fi_getinfo gives for these options toward WORLD_PEER; the caller frees it. */
struct fi_info *world_info(uint32_t api_version, const struct world_opts *opts);

/*
 * The expect_ functions report a failure at the line that calls them.
 *
 * The next event of the queue has to be this one, about fid; data may be NULL.
 */
#define expect_event(...) expect_event_at(__FILE__, __LINE__, __VA_ARGS__)
void expect_event_at(const char *file, int line, struct fid_eq *eq, uint32_t type,
		     fid_t fid, const void *data, size_t len);
#define expect_no_event(eq) expect_no_event_at(__FILE__, __LINE__, eq)
void expect_no_event_at(const char *file, int line, struct fid_eq *eq);
/* The next event is an error. */
#define expect_eq_error(...) expect_eq_error_at(__FILE__, __LINE__, __VA_ARGS__)
void expect_eq_error_at(const char *file, int line, struct fid_eq *eq, fid_t fid, int err,
			int prov_errno);

/* The next completion is a success. */
#define expect_comp(...) expect_comp_at(__FILE__, __LINE__, __VA_ARGS__)
void expect_comp_at(const char *file, int line, struct fid_cq *cq, void *context,
		    uint64_t flags, size_t len, uint64_t data);
#define expect_no_comp(cq) expect_no_comp_at(__FILE__, __LINE__, cq)
void expect_no_comp_at(const char *file, int line, struct fid_cq *cq);
/* The next completion is an error. */
#define expect_cq_error(...) expect_cq_error_at(__FILE__, __LINE__, __VA_ARGS__)
void expect_cq_error_at(const char *file, int line, struct fid_cq *cq, void *context,
			uint64_t flags, int err);
/* And this one its provider's reason. */
#define expect_cq_reason(...) expect_cq_reason_at(__FILE__, __LINE__, __VA_ARGS__)
void expect_cq_reason_at(const char *file, int line, struct fid_cq *cq, void *context,
			 int err, int prov_errno);
/* As many failures as that are all there is to read. */
#define expect_failed_comps(...) expect_failed_comps_at(__FILE__, __LINE__, __VA_ARGS__)
void expect_failed_comps_at(const char *file, int line, struct fid_cq *cq,
			    unsigned int count);
/* Reads everything there is and counts it; *errors: the errors among them. */
unsigned int read_all_comps(struct fid_cq *cq, unsigned int *errors);

/*
 * Opens an object with one allocation after the other failing, or with fewer descriptors
 * than it needs: -FI_ENOMEM or -FI_EMFILE, and nothing is left. Then it opens, and is
 * closed.
 */
#define expect_survives_enomem(...) \
	expect_survives_enomem_at(__FILE__, __LINE__, __VA_ARGS__)
void expect_survives_enomem_at(const char *file, int line, struct world *w,
			       int (*open)(struct world *w, struct fid **fid));
#define expect_survives_emfile(...) \
	expect_survives_emfile_at(__FILE__, __LINE__, __VA_ARGS__)
void expect_survives_emfile_at(const char *file, int line, struct world *w,
			       int (*open)(struct world *w, struct fid **fid),
			       unsigned int needed);

/* A message with nothing in it, whose context is the number. */
ssize_t send_number(struct fid_ep *ep, uintptr_t number);
ssize_t send_quietly(struct fid_ep *ep, uintptr_t number);
ssize_t send_more(struct fid_ep *ep, uintptr_t number);
ssize_t recv_number(struct fid_ep *ep, uintptr_t number);
#define NUMBER(n) ((void *)(uintptr_t)(n))

/* What a function returns that is called with the lock held. */
#define WITH_LOCK(lock, call)                     \
	({                                        \
		crn_lock(lock);                   \
		__typeof__(call) with_lock_value; \
		with_lock_value = (call);         \
		crn_unlock(lock);                 \
		with_lock_value;                  \
	})

#endif
