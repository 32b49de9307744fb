/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include "port_event.h"
#include "ports.h"
#include "request.h"
#include "verbs.h"

static const struct svb_port_event svb_port_events[] = {
	{"port_err", IBV_EVENT_PORT_ERR, SVB_PORT_DOWN, true, false},
	{"port_active", IBV_EVENT_PORT_ACTIVE, SVB_PORT_UP, false, false},
	{"lid_change", IBV_EVENT_LID_CHANGE, SVB_PORT_SAME, true, false},
	{"pkey_change", IBV_EVENT_PKEY_CHANGE, SVB_PORT_SAME, false, false},
	{"gid_change", IBV_EVENT_GID_CHANGE, SVB_PORT_SAME, false, false},
	{"sm_change", IBV_EVENT_SM_CHANGE, SVB_PORT_SAME, false, false},
	{"client_reregister", IBV_EVENT_CLIENT_REREGISTER, SVB_PORT_SAME, true, false},
	{"addr_change", -1, SVB_PORT_SAME, false, true},
};

static struct {
	uint32_t down; /* 1 << index of the port */
	svb_port_event_fn tell;
} svb_port_told;

bool svb_port_down(uint32_t index)
{
	return __atomic_load_n(&svb_port_told.down, __ATOMIC_ACQUIRE) >> index & 1;
}

void svb_port_event_tell(svb_port_event_fn fn)
{
	__atomic_store_n(&svb_port_told.tell, fn, __ATOMIC_RELEASE);
}

/* Queue pairs of the port find nobody and are found by nobody, or again. */
static void svb_port_places(const struct svb_port *port)
{
	struct svb_qp *qp;
	uint32_t i;

	pthread_mutex_lock(&svb_self.mutex);
	for (i = 0; i < svb_self.seg->limit[SVB_TAB_QP]; i++) {
		qp = svb_self.qp[i];
		if (!qp || svb_port_of(qp->ibv.context, qp->sh->attr.port_num) != port)
			continue;
		svb_qp_place(qp);
		if (svb_get(qp->sh->state) < IBV_QPS_RTR)
			continue;
		svb_engine_run(svb_self.seg, qp->sh);
		svb_engine_run_peer(qp->sh);
	}
	pthread_mutex_unlock(&svb_self.mutex);
}

static void svb_port_state(const struct svb_port *port, enum svb_port_state state)
{
	if (state == SVB_PORT_DOWN)
		__atomic_or_fetch(&svb_port_told.down, 1u << port->index,
				  __ATOMIC_ACQ_REL);
	else
		__atomic_and_fetch(&svb_port_told.down, ~(1u << port->index),
				   __ATOMIC_ACQ_REL);
	svb_port_places(port);
}

static void svb_port_contexts(const struct svb_port *port, enum ibv_event_type type)
{
	struct svb_context *ctx;
	struct crn_list *at;

	pthread_mutex_lock(&svb_self.mutex);
	crn_list_for_each (at, &svb_self.contexts) {
		ctx = crn_container_of(at, struct svb_context, entry);
		if (ctx->device->index == port->index / SVB_MAX_PORTS)
			svb_async_port(ctx, port->index % SVB_MAX_PORTS + 1, type);
	}
	pthread_mutex_unlock(&svb_self.mutex);
}

static void svb_port_happens(const struct svb_port *port,
			     const struct svb_port_event *event)
{
	svb_port_event_fn tell = __atomic_load_n(&svb_port_told.tell, __ATOMIC_ACQUIRE);

	if (event->state != SVB_PORT_SAME)
		svb_port_state(port, event->state);
	if (event->groups_lost && svb_self.settings.link == SVB_LINK_IB)
		svb_mcast_lose(port);
	if (tell)
		tell(port, event);
	if (event->type >= 0)
		svb_port_contexts(port, (enum ibv_event_type)event->type);
}

bool svb_port_event_do(uint32_t index, const char *name)
{
	const struct svb_port *port = svb_port_by_index(index);
	size_t i;

	for (i = 0; port && i < sizeof(svb_port_events) / sizeof(svb_port_events[0]); i++)
		if (!strcmp(svb_port_events[i].name, name)) {
			svb_port_happens(port, &svb_port_events[i]);
			return true;
		}
	return false;
}

/* "sim0:1=port_err" */
static void svb_port_asked(const char *what)
{
	char device[IBV_SYSFS_NAME_MAX], event[32];
	uint32_t i, number;

	if (sscanf(what, "%63[^:]:%u=%31s", device, &number, event) != 3 || !number ||
	    number > SVB_MAX_PORTS)
		return;
	for (i = 0; i < svb_self.settings.devices; i++)
		if (!strcmp(svb_self.settings.device[i].name, device))
			svb_port_event_do(i * SVB_MAX_PORTS + number - 1, event);
}

int svb_port_event_watch(void)
{
	return svb_self.settings.events ? svb_request_watch("events", svb_port_asked) : 0;
}

void svb_port_event_forget(void)
{
	svb_port_told.down = 0;
}
