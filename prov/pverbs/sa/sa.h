/* SPDX-License-Identifier: BSD-2-Clause */
/* Subnet administration: what a multicast group of an IPoIB link is called, and what is
 * asked for it. Knows neither libfabric's objects nor a device, but for the port of
 * sa_umad.h: programs link it alone.
 */
#ifndef PVB_SA_SA_H
#define PVB_SA_SA_H

#include "mc_map.h"
#include "sa_client.h"
#include "sa_mad.h"
#include "sa_rmpp.h"
#include "sa_umad.h"
#include "sa_watch.h"

#endif
