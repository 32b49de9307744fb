/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What happens to ports on request: they go down and come back, the subnet manager or an
 * address changes. A port is down for this process: nothing reaches its queue pairs there
 * and they reach nobody. Groups that were joined on InfiniBand are lost with it, and when
 * the subnet manager has forgotten them (mcast_event_handler of the kernel's
 * multicast.c).
 */
#ifndef SVB_VERBS_PORT_EVENT_H
#define SVB_VERBS_PORT_EVENT_H

#include <stdbool.h>
#include <stdint.h>

struct svb_port;

enum svb_port_state { SVB_PORT_SAME, SVB_PORT_DOWN, SVB_PORT_UP };

struct svb_port_event {
	const char *name;
	int type; /* enum ibv_event_type of the contexts; -1: none */
	enum svb_port_state state;
	bool groups_lost;
	bool address; /* ids learn that the address has changed */
};

/* Hears requests from now on, where the settings want it: files in the folder "events",
 * named DEVICE:PORT=EVENT. Returns 0 or an errno. */
int svb_port_event_watch(void);

/* Has it happen to the port, whose index is that in the settings. False: there is no
 * event of that name. In the service thread, or where nothing is held. */
bool svb_port_event_do(uint32_t index, const char *name);

/* Called before the contexts hear of it: rdma_cm's part. */
typedef void (*svb_port_event_fn)(const struct svb_port *port,
				  const struct svb_port_event *event);
void svb_port_event_tell(svb_port_event_fn fn);

/* Is the port down for this process? */
bool svb_port_down(uint32_t index);
void svb_port_event_forget(void);

#endif
