/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Transactions with the subnet administrator: a request is sent again until it is
 * answered or its tries are used up. Without a thread, a clock and a device: the caller
 * says what has arrived and what time it is, and a table of calls sends. Not thread safe;
 * memory is bounded: PVB_SA_OUTSTANDING transactions, each of a table within its limit.
 */
#ifndef PVB_SA_SA_CLIENT_H
#define PVB_SA_SA_CLIENT_H

#include "sa_mad.h"
#include "sa_rmpp.h"

#define PVB_SA_OUTSTANDING 16
/* Most bytes of a table. */
#define PVB_SA_TABLE_MAX (1u << 20)
/* Reports whose repeats are recognized. */
#define PVB_SA_REPORTS 16

struct pvb_sa_ops {
	/* Sends PVB_MAD_SIZE bytes without blocking: 0 or an error of -FI_E*. What cannot
	 * be sent counts as lost. wait_ms: so long an answer is waited for, before it is
	 * sent again; 0: there will be none. */
	int (*send)(void *arg, const uint8_t *mad, uint32_t wait_ms);
	/* A trap that was subscribed to; once for each, however often it is reported. */
	void (*notice)(void *arg, const struct pvb_notice *notice);
};

struct pvb_sa_answer {
	/* 0: answered, see status; -FI_ETIMEDOUT; -FI_EMSGSIZE: a table beyond
	 * PVB_SA_TABLE_MAX; -FI_EIO: the sender of a table gave up; -FI_EINVAL: broken;
	 * -FI_ENOMEM; -FI_ECANCELED: the client was closed. */
	int err;
	uint16_t status;    /* enum pvb_sa_status */
	size_t record_size; /* from one record to the next, bytes; of a table */
	const void *data;   /* records, valid during the call */
	size_t len;	    /* bytes */
	uint64_t now_ms;    /* that the caller said; 0 when the client was closed */
};

/* Called once for each request that was accepted. May ask for more. */
typedef void pvb_sa_done(void *arg, const struct pvb_sa_answer *answer);

struct pvb_sa_request {
	uint8_t method;	    /* enum pvb_sa_method */
	uint16_t attr;	    /* enum pvb_sa_attr */
	uint64_t comp_mask; /* of data */
	uint64_t sm_key;    /* 0: what anybody may know */
	const void *data;   /* the record; copied */
	size_t len;	    /* bytes, at most PVB_SA_DATA_SIZE */
	uint32_t wait_ms;   /* for an answer, before it is sent again */
	uint32_t tries;	    /* at least 1 */
	pvb_sa_done *done;
	void *arg;
};

struct pvb_sa_transaction {
	bool used;
	uint32_t tid;
	uint32_t tries; /* that are left */
	uint32_t wait_ms;
	uint64_t due_ms; /* when the answer is late */
	pvb_sa_done *done;
	void *arg;
	struct pvb_rmpp table;
	uint8_t mad[PVB_MAD_SIZE];
};

/* What was reported. */
struct pvb_sa_reported {
	uint64_t tid;
	uint8_t notice[PVB_NOTICE_SIZE];
};

struct pvb_sa_client {
	const struct pvb_sa_ops *ops;
	void *arg; /* of ops */
	uint32_t tid;
	struct pvb_sa_transaction outstanding[PVB_SA_OUTSTANDING];
	struct pvb_sa_reported report[PVB_SA_REPORTS]; /* the latest */
	unsigned int reports;
	uint64_t dropped; /* datagrams that belong to nothing: late, repeated, broken */
};

/* tid: where transaction numbers begin; another one for each start of a program, so that
 * late answers to the last one are not ours. */
void pvb_sa_open(struct pvb_sa_client *client, const struct pvb_sa_ops *ops, void *arg,
		 uint32_t tid);
/* Ends what is outstanding with -FI_ECANCELED; done cannot ask for more then. */
void pvb_sa_close(struct pvb_sa_client *client);

/* 0; -FI_EAGAIN: too much is outstanding; -FI_EINVAL. */
int pvb_sa_ask(struct pvb_sa_client *client, const struct pvb_sa_request *request,
	       uint64_t now_ms);
/* Takes back requests with this arg: their done is not called. What they ask for may be
 * done even so; answers count as late ones. */
void pvb_sa_cancel(struct pvb_sa_client *client, const void *arg);
/* The manager begins anew: it may number its reports as before, and they are new ones. */
void pvb_sa_forget_reports(struct pvb_sa_client *client);
/* A datagram has arrived: any bytes. */
void pvb_sa_arrived(struct pvb_sa_client *client, const void *mad, size_t len,
		    uint64_t now_ms);
/* Sends again, or gives up, what is due. */
void pvb_sa_progress(struct pvb_sa_client *client, uint64_t now_ms);
/* Milliseconds until pvb_sa_progress has something to do, -1: nothing is outstanding. As
 * poll(2) wants it. */
int pvb_sa_timeout(const struct pvb_sa_client *client, uint64_t now_ms);

#endif
