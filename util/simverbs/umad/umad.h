/* SPDX-License-Identifier: BSD-2-Clause */
/* Ports that programs opened by libibumad, and what waits to be received there. */
#ifndef SVB_UMAD_UMAD_H
#define SVB_UMAD_UMAD_H

#include <infiniband/umad.h>
#include "sa/sa.h"
#include "verbs/verbs.h"

#define SVB_UMAD_AGENTS UMAD_CA_MAX_AGENTS

struct svb_umad_agent {
	bool used;
	uint8_t class;
	uint8_t rmpp;	     /* version; 0: the program sees segments */
	uint64_t methods[2]; /* requests it takes */
};

/* A datagram to be received, from when on. */
struct svb_umad_msg {
	struct crn_list entry;
	uint64_t due;	 /* ns */
	uint32_t status; /* errno: a request was not answered, and this is it */
	uint32_t agent;
	uint32_t len;
	uint16_t lid; /* whom it is from */
	uint8_t data[];
};

struct svb_umad_port {
	const struct svb_port *port;
	int fd; /* of the program: polls the two others */
	int bell_fd;
	int timer_fd;
	uint32_t bell;
	struct svb_umad_agent agent[SVB_UMAD_AGENTS];
	struct crn_list msgs; /* by due */
	uint32_t pid;	      /* not of a child of fork */
};

/*
 * The port of a descriptor, locked, or NULL; the lock is one for all.
 */
struct svb_umad_port *svb_umad_lock(int fd);
void svb_umad_unlock(void);

/* A port by the name of its device (NULL: any) and number (0: any); NULL: none is. */
const struct svb_port *svb_umad_find(const char *ca, int number);

/* queue.c; with the lock. */

/* Adds a copy. False: no memory. */
bool svb_umad_queue(struct svb_umad_port *port, const struct svb_umad_msg *what,
		    const uint8_t *data);
/* The first one that is due, still in the list; reports of the SA are among them. */
struct svb_umad_msg *svb_umad_first(struct svb_umad_port *port);
/* Makes the descriptor readable when something is or will be due, and not else. */
void svb_umad_arm(struct svb_umad_port *port);

#endif
