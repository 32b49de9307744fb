/* SPDX-License-Identifier: BSD-2-Clause */
/* XDR says how long a message is by encoding it. */
#include <stdlib.h>
#include "conn.h"

#define FIRST 2048
#define GROWTH 4

uint8_t *crpc_encode(bool (*fill)(XDR *xdrs, void *arg), void *arg, size_t most,
		     size_t *len)
{
	size_t room = *len > FIRST ? *len : FIRST;
	uint8_t *msg;
	bool filled;
	XDR xdrs;

	for (;; room *= GROWTH) {
		if (room > most)
			room = most;
		msg = malloc(room);
		if (!msg)
			return NULL;
		xdrmem_create(&xdrs, (char *)msg, (u_int)room, XDR_ENCODE);
		filled = fill(&xdrs, arg);
		*len = xdr_getpos(&xdrs);
		xdr_destroy(&xdrs);
		if (filled)
			return msg;
		free(msg);
		if (room == most)
			return NULL;
	}
}

bool_t crpc_xdr_nothing(XDR *xdrs, ...)
{
	return TRUE;
}
