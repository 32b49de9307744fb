/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A domain's port at subnet administration, for the groups of one event queue: by
 * libibumad, where the user may open it. It makes progress where the event queue is read,
 * which waits for its descriptor, for its deadline, and for events of the device
 * (cq/async.c).
 */
#include <poll.h>
#include <stdlib.h>
#include "cq/cq.h"
#include "device/device.h"
#include "linked.h"

/* ms: the longest wait for one answer, and at what else is looked now and then. */
#define PORT_WAIT_MAX 1000u
#define PORT_TRIES 8u
#define PORT_AGAIN 2000u
#define PORT_LOOK_MANAGER 10000u
#define PORT_DRAIN_POLL 10

uint32_t pvb_mc_port_wait(void)
{
	const uint32_t part = (uint32_t)pvb_params.join_timeout / PORT_TRIES;

	return CRN_MIN(part + 1, PORT_WAIT_MAX);
}

uint32_t pvb_mc_port_tries(void)
{
	return (uint32_t)pvb_params.join_timeout / pvb_mc_port_wait() + 1;
}

static void port_notice(void *arg, const struct pvb_notice *notice)
{
	struct pvb_mc_port *port = arg;
	int i;

	for (i = 0; i < PVB_MC_LINKS; i++)
		pvb_mc_link_notice(&port->link[i], notice);
}

static void port_subscribed(void *arg)
{
	struct pvb_mc_port *port = arg;
	int i;

	port->reported = true;
	for (i = 0; i < PVB_MC_LINKS; i++)
		pvb_mc_link_reported(&port->link[i]);
}

static void port_restarted(void *arg)
{
	struct pvb_mc_port *port = arg;
	int i;

	PVB_WARN(FI_LOG_EP_CTRL,
		 "%s port %d: the subnet manager has begun anew, or the port was down or "
		 "has another LID: groups of the link are joined again\n",
		 port->umad.port.ca, port->umad.port.number);
	port->reported = false;
	for (i = 0; i < PVB_MC_LINKS; i++)
		pvb_mc_link_restarted(&port->link[i]);
}

static void port_refused(void *arg, int err, uint16_t status)
{
	const struct pvb_mc_port *port = arg;

	PVB_INFO(FI_LOG_EP_CTRL,
		 "%s port %d: no reports of groups that come and go yet: %s, status "
		 "0x%04x\n",
		 port->umad.port.ca, port->umad.port.number, fi_strerror(-err), status);
}

static void port_watch(struct pvb_mc_port *port)
{
	const struct pvb_sa_watch_config config = {
		.subscribe = true,
		.wait_ms = pvb_mc_port_wait(),
		.tries = pvb_mc_port_tries(),
		.again_ms = PORT_AGAIN,
		.look_ms = PORT_LOOK_MANAGER,
		.subscribed = port_subscribed,
		.refused = port_refused,
		.restarted = port_restarted,
		.arg = port,
	};

	if (pvb_umad_watch(&port->umad, &config))
		PVB_WARN(FI_LOG_EP_CTRL,
			 "%s port %d: another program or event queue has the reports of "
			 "groups that come and go: each group that is sent to is looked "
			 "for every %u seconds instead\n",
			 port->umad.port.ca, port->umad.port.number,
			 PVB_MC_LOOK_GROUP / 1000);
}

void pvb_mc_port_arm(struct pvb_mc_port *port)
{
	struct crn_deadlines *deadlines = &port->eq->mcs.deadlines;
	int ms = pvb_umad_timeout(&port->umad), other, i;

	if (port->gone)
		return;
	for (i = 0; i < PVB_MC_LINKS; i++) {
		other = pvb_mc_link_timeout(&port->link[i]);
		if (ms < 0 || (other >= 0 && other < ms))
			ms = other;
	}
	if (ms < 0)
		crn_deadline_remove(deadlines, &port->due);
	else
		crn_deadline_add(deadlines, &port->due, crn_now_ms() + (uint64_t)ms);
}

static void port_unwatch(struct pvb_mc_port *port)
{
	crn_deadline_remove(&port->eq->mcs.deadlines, &port->due);
	crn_wait_del_fd(&port->eq->eq.wait, pvb_umad_fd(&port->umad));
}

/* The device has gone, and with it what was asked for. */
static void port_gone(struct pvb_mc_port *port)
{
	int i;

	PVB_WARN(FI_LOG_EP_CTRL, "%s port %d: subnet administration has gone\n",
		 port->umad.port.ca, port->umad.port.number);
	port_unwatch(port);
	port->gone = true;
	for (i = 0; i < PVB_MC_LINKS; i++)
		pvb_mc_link_gone(&port->link[i]);
}

/* Another subnet manager is an event of the device, which any thread may have read. */
static void port_events(struct pvb_mc_port *port)
{
	const unsigned int changes = atomic_load(&port->domain->ud->link.changes);

	if (changes == port->changes)
		return;
	port->changes = changes;
	pvb_umad_restarted(&port->umad);
}

/* What has come is taken: false, the device has gone. */
static bool port_take(struct pvb_mc_port *port)
{
	int i, ret;

	port_events(port);
	if (pvb_removed(port->domain))
		return false;
	ret = pvb_umad_progress(&port->umad);
	for (i = 0; i < PVB_MC_LINKS; i++)
		pvb_mc_link_progress(&port->link[i]);
	return !ret;
}

void pvb_mc_port_progress(struct pvb_mc_port *port)
{
	crn_mutex_assert_held(&port->eq->cm_lock);
	if (!port->open || port->gone)
		return;
	if (port_take(port))
		pvb_mc_port_arm(port);
	else
		port_gone(port);
}

static void port_on_deadline(struct crn_deadline *due)
{
	pvb_mc_port_progress(crn_container_of(due, struct pvb_mc_port, due));
}

/* Without it groups are joined by rdma_cm alone, but not for a shortage, which passes: 0
 * or a negative code. */
static int port_open_umad(struct pvb_mc_port *port)
{
	const struct pvb_umad_config config = {
		.ca = pvb_domain_device(port->domain),
		.port = port->domain->ud->path.port,
		.notice = port_notice,
		.arg = port,
	};
	int ret = pvb_umad_open(&port->umad, &config);

	if (!ret) {
		ret = crn_wait_add_fd(&port->eq->eq.wait, pvb_umad_fd(&port->umad));
		if (ret)
			pvb_umad_close(&port->umad);
		port->open = !ret;
		return ret;
	}
	if (pvb_is_shortage(ret))
		return ret;
	PVB_WARN(FI_LOG_EP_CTRL,
		 "FI_PVERBS_LINK without subnet administration: %s. Groups are joined by "
		 "rdma_cm: who only sends makes a group, and nothing goes to the "
		 "all-router group in its place\n",
		 port->umad.error);
	return 0;
}

/* The kernel's links are those of RFC 4391: 0 or a negative code. */
static int port_find_kernel(struct pvb_mc_port *port)
{
	int ret;

	if (port->domain->ud->link.profile != PVB_MC_RFC)
		return 0;
	ret = pvb_mc_cm_bindable(port->domain);
	port->kernel = !ret;
	return ret == -FI_EADDRNOTAVAIL ? 0 : ret;
}

static int port_new(struct pvb_ep *ep, struct pvb_mc_port **out)
{
	struct pvb_mc_port *port = calloc(1, sizeof(*port));
	int i, ret;

	if (!port)
		return -FI_ENOMEM;
	port->eq = ep->eq;
	port->domain = ep->domain;
	port->due.expired = port_on_deadline;
	port->changes = atomic_load(&ep->domain->ud->link.changes);
	for (i = 0; i < PVB_MC_LINKS; i++)
		pvb_mc_link_init(&port->link[i], port);
	ret = port_find_kernel(port);
	if (!ret)
		ret = port_open_umad(port);
	if (ret) {
		free(port);
		return ret;
	}
	if (port->open)
		port_watch(port);
	crn_list_add_tail(&ep->eq->mcs.ports, &port->entry);
	*out = port;
	return 0;
}

static struct pvb_mc_port *port_find(const struct pvb_ep *ep)
{
	struct pvb_mc_port *port;
	struct crn_list *entry;

	crn_list_for_each (entry, &ep->eq->mcs.ports) {
		port = crn_container_of(entry, struct pvb_mc_port, entry);
		if (port->domain == ep->domain)
			return port;
	}
	return NULL;
}

int pvb_mc_port_get(struct pvb_ep *ep)
{
	struct pvb_mcs *mcs = &ep->dgram->mcs;
	int ret = mcs->port ? 0 : pvb_mc_timer(ep->eq);

	crn_mutex_assert_held(&ep->eq->cm_lock);
	if (mcs->port || ret)
		return ret;
	mcs->port = port_find(ep);
	if (!mcs->port)
		ret = port_new(ep, &mcs->port);
	if (!ret)
		mcs->port->users++;
	return ret;
}

static bool port_waits(const struct pvb_mc_port *port)
{
	int i;

	for (i = 0; i < PVB_MC_LINKS; i++)
		if (pvb_mc_link_waits(&port->link[i]))
			return true;
	return false;
}

/* Who has left more groups than requests may be outstanding waits for answers, so that
 * the others are left as well; what is outstanding is not waited for. */
static void port_drain(struct pvb_mc_port *port)
{
	const uint64_t end = crn_now_ms() + (uint64_t)pvb_params.close_timeout;
	struct pollfd wait = {.fd = pvb_umad_fd(&port->umad), .events = POLLIN};
	int ms;

	while (port_waits(port) && crn_now_ms() < end) {
		ms = pvb_umad_timeout(&port->umad);
		poll(&wait, 1, ms >= 0 && ms < PORT_DRAIN_POLL ? ms : PORT_DRAIN_POLL);
		pvb_async_progress(port->domain);
		if (!port_take(port))
			return;
	}
}

static void port_close(struct pvb_mc_port *port)
{
	int i;

	if (port->open && !port->gone)
		port_drain(port);
	for (i = 0; i < PVB_MC_LINKS; i++)
		pvb_mc_link_close(&port->link[i]);
	if (port->open && !port->gone)
		port_unwatch(port);
	if (port->open)
		pvb_umad_close(&port->umad);
	crn_list_del(&port->entry);
	free(port);
}

void pvb_mcast_part(struct pvb_ep *ep)
{
	struct pvb_mc_port *port;

	pthread_mutex_lock(&ep->eq->cm_lock);
	port = ep->dgram->mcs.port;
	ep->dgram->mcs.port = NULL;
	if (port && !--port->users)
		port_close(port);
	pthread_mutex_unlock(&ep->eq->cm_lock);
}
