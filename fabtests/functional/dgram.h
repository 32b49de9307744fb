/* SPDX-License-Identifier: BSD-2-Clause */
/* Cases of fi_cairn_dgram: one datagram endpoint on each side, which knows the other's
 * address. Nothing is lost unless a case makes it so. */
#ifndef FCT_DGRAM_H
#define FCT_DGRAM_H

#include "fct_op.h"

#define DGRAM_NAME_LEN 64
#define DGRAM_SLOTS 32 /* receives at most */

struct dgram {
	struct fct_link l;
	struct fct_conn c;  /* the endpoint */
	struct fid_ep *srx; /* what is posted goes there; NULL: to the endpoint */
	fi_addr_t peer;
	uint8_t name[DGRAM_NAME_LEN]; /* the other side's */
	size_t max;		      /* bytes that both sides can send */
	size_t prefix;	       /* bytes before what is received: FI_MSG_PREFIX; else 0 */
	struct fct_mem tx, rx; /* max bytes; DGRAM_SLOTS of dgram_slot_len */
	struct fct_ctx ctx[DGRAM_SLOTS], tx_ctx;
};

/* How it is opened; zero means: as most cases have it. */
struct dgram_how {
	struct fct_setup s;   /* of it format, of what is received, and shared_rx, too */
	struct fi_av_attr av; /* without a type: FI_AV_TABLE */
	bool stranger;	      /* the other side's address is not in the vector */
};

/* dgram.c */

int dgram_up_as(struct dgram *d, const struct dgram_how *how);
int dgram_up(struct dgram *d, uint64_t caps, bool stranger);
/* An endpoint's name, and the other side's one, both of DGRAM_NAME_LEN bytes. */
int dgram_names(struct dgram *d, struct fct_conn *c, uint8_t *theirs);
/* The other side's name gets a place in the vector, which is d->peer. */
int dgram_insert_peer(struct dgram *d);
/* Both sides have posted receive n (from 0) when it returns; or one has. */
int dgram_post(struct dgram *d, unsigned int n);
/* The data of receive n, behind the prefix. */
uint8_t *dgram_received(struct dgram *d, unsigned int n);
/* Receive n completes with len bytes of fct_fill's pattern and these flags more. */
int dgram_expect(struct dgram *d, unsigned int n, size_t len, uint64_t seed,
		 uint64_t flags, uint64_t data);
/* Sends len bytes of the pattern and waits until they have left; in a message with data
 * unless that is 0. */
int dgram_send(struct dgram *d, size_t len, uint64_t seed);
int dgram_send_as(struct dgram *d, enum fct_form form, size_t len, uint64_t seed,
		  uint64_t data);

/* dgram_count.c */

/*
 * A counter of the device that an info is of, port 1: hw_counters of sysfs, "ud_lost" and
 * the like of simverbs(1). False: there is no such file.
 */
bool dgram_counter(const struct fi_info *info, const char *name, uint64_t *value);

#endif
