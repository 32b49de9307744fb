/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of this folder share. */
#ifndef FRT_DEVICE_INSIDE_H
#define FRT_DEVICE_INSIDE_H

#include "device.h"

/* guest.c: somebody connects. context: the device. */
void frt_guest_request(struct rte_request *request, void *context);
/* Closes those who have said nothing yet. */
void frt_guests_close(struct frt_device *device, int status);

#endif
