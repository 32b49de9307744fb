/* SPDX-License-Identifier: BSD-2-Clause */
/* libibumad with one port, of which each call is the test's. */
#ifndef FAKE_UMAD_H
#define FAKE_UMAD_H

#include <stdint.h>
#include <infiniband/umad.h>
#include "sa/sa.h"

#define FAKE_MADS 64

struct fake_mad {
	ib_mad_addr_t addr;
	int timeout_ms;
	uint32_t status; /* errno */
	uint8_t data[PVB_MAD_SIZE];
};

struct fake_umad {
	umad_port_t port;
	uint16_t pkeys[4];
	int port_errno;	   /* of umad_get_port, which then fails */
	int open_errno;	   /* of umad_open_port, the same */
	bool reports_used; /* another program has them */
	int send_errno;
	bool gone;
	int agents, reporters, opened, closed;
	struct fake_mad sent[FAKE_MADS];
	int sends;
	struct fake_mad in[FAKE_MADS];
	int arrived, received;
	/* Called at each datagram that is sent. */
	void (*on_send)(const struct fake_mad *sent);
};

extern struct fake_umad fake;

/* One active InfiniBand port, "fake0" 1, LID 7, SM LID 1. */
void fake_reset(void);
/* Is to be received at the port, which is open. */
void fake_arrive(const uint8_t *mad, uint32_t status);

#endif
