/* SPDX-License-Identifier: BSD-2-Clause */
/* The initiator's side of durable operations, for the rest of persist/. */
#ifndef PVB_PERSIST_INITIATOR_INITIATOR_H
#define PVB_PERSIST_INITIATOR_INITIATOR_H

#include "commit.h"

#endif
