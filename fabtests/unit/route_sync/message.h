/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages that are on their way. */
#ifndef SYNC_MESSAGE_H
#define SYNC_MESSAGE_H

#include "sync/sync.h"

/* With all that it points to. */
struct rte_sync_message message_copy(const struct rte_sync_message *message);
void message_free(struct rte_sync_message *message);

#endif
