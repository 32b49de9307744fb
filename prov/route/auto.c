/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * FI_PROGRESS_AUTO (fi_domain(3)): a thread for each device of which a program asks it.
 * Peers read and write its memory while the program is busy with something else.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <cairn/thread.h>
#include "auto.h"
#include "device.h"

struct rte_auto {
	struct rte_device *device;
	pthread_t thread;
	int stop; /* an eventfd, readable at the end */
	struct pollfd fds[RTE_PORT_FDS + 1];
	unsigned int users; /* domains; of fabric->lock */
};

/* Until there is nothing to do. */
static void auto_progress(struct rte_device *device)
{
	int ret;

	do {
		crn_lock(&device->lock);
		rte_device_progress(device);
		ret = rte_port_trywait(device->port);
		crn_unlock(&device->lock);
	} while (ret == -FI_EAGAIN);
}

static void *auto_run(void *arg)
{
	struct rte_auto *own = arg;

	do {
		auto_progress(own->device);
		while (poll(own->fds, CRN_COUNT(own->fds), -1) < 0 && errno == EINTR)
			;
	} while (!own->fds[RTE_PORT_FDS].revents);
	return NULL;
}

static int auto_start(struct rte_auto *own)
{
	int fd[RTE_PORT_FDS], i, ret = rte_port_fds(own->device->port, fd);

	if (ret)
		return ret;
	for (i = 0; i < RTE_PORT_FDS; i++)
		own->fds[i] = (struct pollfd){.fd = fd[i], .events = POLLIN};
	own->stop = eventfd(0, EFD_CLOEXEC);
	if (own->stop < 0)
		return -errno;
	own->fds[RTE_PORT_FDS] = (struct pollfd){.fd = own->stop, .events = POLLIN};
	ret = crn_thread_create(&own->thread, auto_run, own);
	if (ret)
		close(own->stop);
	return -ret;
}

static int auto_open(struct rte_device *device)
{
	struct rte_auto *own = calloc(1, sizeof(*own));
	int ret;

	if (!own)
		return -FI_ENOMEM;
	own->device = device;
	ret = auto_start(own);
	if (ret)
		free(own);
	else
		device->automatic = own;
	return ret;
}

int rte_auto_get(struct rte_device *device)
{
	int ret = 0;

	crn_lock(&device->fabric->lock);
	if (!device->automatic)
		ret = auto_open(device);
	if (!ret)
		device->automatic->users++;
	crn_unlock(&device->fabric->lock);
	return ret;
}

/* The thread takes no lock but the device's, so it ends while the fabric's is held. */
void rte_auto_put(struct rte_device *device)
{
	struct rte_auto *own = device->automatic;

	crn_lock(&device->fabric->lock);
	if (--own->users == 0) {
		eventfd_write(own->stop, 1);
		pthread_join(own->thread, NULL);
		close(own->stop);
		free(own);
		device->automatic = NULL;
	}
	crn_unlock(&device->fabric->lock);
}
