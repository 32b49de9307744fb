/* SPDX-License-Identifier: BSD-2-Clause */
#include <cairn/compat.h>

#include "forward.h"

void frt_ack_open(struct frt_ack *ack)
{
	*ack = (struct frt_ack){.first = 1};
}

static bool owes(const struct frt_ack *ack)
{
	return ack->first <= ack->last;
}

void frt_ack_owed(struct frt_ack *ack, uint64_t request, bool asked)
{
	if (!owes(ack))
		ack->first = request;
	ack->last = request;
	ack->asked = asked;
}

/* Which of those above it the end owes is not known, but the last. */
void frt_ack_answered(struct frt_ack *ack, uint64_t request, bool told)
{
	if (request >= ack->first)
		ack->first = request == UINT64_MAX ? request : request + 1;
	if (told)
		ack->told = CRN_MAX(ack->told, request);
}

bool frt_ack_stuck(const struct frt_ack *ack)
{
	return owes(ack) && !ack->asked;
}

uint64_t frt_ack_due(const struct frt_ack *ack)
{
	const uint64_t most = owes(ack) ? CRN_MIN(ack->sent, ack->first - 1) : ack->sent;

	return most > ack->told ? most : 0;
}
