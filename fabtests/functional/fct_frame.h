/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the files of the control channel: framed messages, in order. */
#ifndef FCT_FRAME_H
#define FCT_FRAME_H

#include "fct.h"

enum fct_frame_type { FCT_FRAME_RUN = 0x66637401, FCT_FRAME_SYNC, FCT_FRAME_END };

struct fct_frame {
	struct fct_frame *next;
	uint32_t type;
	uint32_t len;
	char data[];
};

/* Payload of FCT_FRAME_END; the reason follows. */
struct fct_end_body {
	uint32_t result;
	uint32_t followed;
};

/* Sends a tag and len bytes behind it. < 0: recorded. */
int fct_frame_send(uint32_t type, const char *tag, const void *data, size_t len);
/* Reads what has arrived, without blocking, to fct.inbox. */
void fct_frame_pump(void);
/* Records that the channel closed. Always returns -1. */
int fct_peer_gone(void);

#endif
