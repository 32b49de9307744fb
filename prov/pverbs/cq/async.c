/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asynchronous events of a device (ibv_get_async_event(3)). They are read where one of
 * them is awaited, before a thread sleeps, now and then by a thread that polls a
 * completion queue, and by each reader of the event queue of a datagram endpoint.
 */
#include <fcntl.h>
#include <stdlib.h>
#include "device/device.h"
#include "cq.h"

int pvb_async_init(struct ibv_context *verbs)
{
	int flags = fcntl(verbs->async_fd, F_GETFL);

	if (flags < 0 || fcntl(verbs->async_fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return pvb_errno();
	return 0;
}

/* No connection tells of a lost path to an endpoint that has none. */
static void pvb_async_port_down(struct pvb_domain *domain, int port)
{
	struct fi_eq_err_entry err = {
		.err = FI_ENETDOWN,
		.prov_errno = IBV_EVENT_PORT_ERR,
	};
	struct crn_list *entry, batch;
	struct pvb_ep *ep;

	if (!domain->ud || domain->ud->path.port != port)
		return;
	PVB_WARN(FI_LOG_DOMAIN,
		 "%s port %d is down: no datagrams arrive or leave until it is up\n",
		 pvb_domain_device(domain), port);
	crn_list_init(&batch);
	pthread_mutex_lock(&domain->qps_lock);
	crn_list_for_each (entry, &domain->qps) {
		ep = pvb_qp_ep(crn_container_of(entry, struct pvb_qp, entry));
		if (!ep->dgram || !ep->eq)
			continue;
		err.fid = &ep->fid.fid;
		err.context = ep->fid.fid.context;
		/* The reserved event belongs to the holder of cm_lock, not held here. */
		if (crn_eq_prepare_err(&batch, &err) ||
		    crn_eq_insert_batch(&ep->eq->eq, &batch))
			PVB_WARN(FI_LOG_EQ, "an error of an endpoint is lost\n");
		crn_eq_drop_batch(&batch);
	}
	pthread_mutex_unlock(&domain->qps_lock);
}

/* Groups of a link have to be joined again: mcast/port.c. A port that was down or has
 * another LID may have lost them, as the kernel takes it, too (multicast.c,
 * mcast_event_handler). */
static void pvb_async_manager(struct pvb_domain *domain, int port)
{
	if (domain->ud && domain->ud->path.port == port)
		atomic_fetch_add(&domain->ud->link.changes, 1);
}

static void pvb_async_handle(struct pvb_domain *domain,
			     const struct ibv_async_event *event)
{
	struct pvb_qp *qp;

	switch (event->event_type) {
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		qp = event->element.qp->qp_context;
		qp->last_wqe = true;
		domain->last_wqe_heard = true;
		break;
	case IBV_EVENT_CLIENT_REREGISTER:
	case IBV_EVENT_SM_CHANGE:
	case IBV_EVENT_LID_CHANGE:
	case IBV_EVENT_PORT_ACTIVE:
		pvb_async_manager(domain, event->element.port_num);
		break;
	case IBV_EVENT_PORT_ERR:
		pvb_async_port_down(domain, event->element.port_num);
		break;
	case IBV_EVENT_DEVICE_FATAL:
		pvb_removal_noticed(domain);
		break;
	default:
		break;
	}
}

void pvb_async_progress(struct pvb_domain *domain)
{
	struct ibv_async_event event;

	/* ibv_destroy_qp waits for the acknowledgement, so the object is still there. */
	while (!ibv_get_async_event(domain->verbs, &event)) {
		pvb_async_handle(domain, &event);
		ibv_ack_async_event(&event);
	}
}

static struct pvb_eq_device *async_find(struct pvb_eq *eq,
					const struct pvb_domain *domain)
{
	struct pvb_eq_device *device;
	struct crn_list *entry;

	crn_mutex_assert_held(&eq->cm_lock);
	crn_list_for_each (entry, &eq->devices) {
		device = crn_container_of(entry, struct pvb_eq_device, entry);
		if (device->domain == domain)
			return device;
	}
	return NULL;
}

static int async_add(struct pvb_eq *eq, struct pvb_domain *domain)
{
	struct pvb_eq_device *device = calloc(1, sizeof(*device));
	int ret;

	if (!device)
		return -FI_ENOMEM;
	ret = crn_wait_add_fd(&eq->eq.wait, domain->verbs->async_fd);
	if (ret) {
		free(device);
		return ret;
	}
	device->domain = domain;
	device->users = 1;
	device->waits = true;
	crn_list_add_tail(&eq->devices, &device->entry);
	return 0;
}

int pvb_async_watch(struct pvb_eq *eq, struct pvb_domain *domain)
{
	struct pvb_eq_device *device;
	int ret = 0;

	pthread_mutex_lock(&eq->cm_lock);
	device = async_find(eq, domain);
	if (device)
		device->users++;
	else
		ret = async_add(eq, domain);
	pthread_mutex_unlock(&eq->cm_lock);
	return ret;
}

static void async_stop_waiting(struct pvb_eq *eq, struct pvb_eq_device *device)
{
	if (device->waits)
		crn_wait_del_fd(&eq->eq.wait, device->domain->verbs->async_fd);
	device->waits = false;
}

void pvb_async_unwatch(struct pvb_eq *eq, const struct pvb_domain *domain)
{
	struct pvb_eq_device *device;

	pthread_mutex_lock(&eq->cm_lock);
	device = async_find(eq, domain);
	if (!--device->users) {
		async_stop_waiting(eq, device);
		crn_list_del(&device->entry);
		free(device);
	}
	pthread_mutex_unlock(&eq->cm_lock);
}

void pvb_async_eq_progress(struct pvb_eq *eq)
{
	struct pvb_eq_device *device;
	struct crn_list *entry;

	crn_mutex_assert_held(&eq->cm_lock);
	crn_list_for_each (entry, &eq->devices) {
		device = crn_container_of(entry, struct pvb_eq_device, entry);
		pvb_async_progress(device->domain);
		/* The descriptor of a removed device stays readable. */
		if (pvb_removed(device->domain))
			async_stop_waiting(eq, device);
	}
}
