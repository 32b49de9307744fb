/* SPDX-License-Identifier: BSD-2-Clause */
/* Datagrams that are lost, come twice or late, on request. */
#include <stdlib.h>
#include <string.h>
#include "engine.h"
#include "step.h"

/* ns: a late datagram follows the next one of its queue pair, or comes alone after that
 * time. */
#define SVB_UD_LATE 2000000ull

/* splitmix64 of a number that counts: the same seed, the same fates in the same order. */
static bool svb_ud_chance(double probability)
{
	static uint64_t draws;
	uint64_t z;

	if (probability <= 0)
		return false;
	z = __atomic_add_fetch(&draws, 1, __ATOMIC_RELAXED);
	z = svb_self.settings.ud_seed + z * 0x9e3779b97f4a7c15ull;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return (double)((z ^ z >> 31) >> 11) / 9007199254740992.0 < probability;
}

bool svb_ud_lost(const struct svb_qp_sh *qp)
{
	if (!svb_ud_chance(svb_self.settings.ud_loss))
		return false;
	svb_count(svb_get(qp->port), SVB_COUNT_LOST);
	return true;
}

bool svb_ud_twice(const struct svb_qp_sh *qp)
{
	if (!svb_ud_chance(svb_self.settings.ud_duplicate))
		return false;
	svb_count(svb_get(qp->port), SVB_COUNT_DUPLICATED);
	return true;
}

/* A copy of the request, its data with it. NULL: there is none. */
static struct svb_wqe *svb_ud_copy(const struct svb_wqe *wqe, const struct svb_span *from)
{
	struct svb_wqe *copy = malloc(SVB_WQE_MOST);

	if (!copy)
		return NULL;
	memcpy(copy, wqe, SVB_WQE_HEAD);
	if (svb_move_out(copy->sge, from, wqe->length)) {
		free(copy);
		return NULL;
	}
	copy->flags |= IBV_SEND_INLINE;
	return copy;
}

bool svb_ud_hold(struct svb_qp *owner, const struct svb_wqe *wqe,
		 const struct svb_span *from)
{
	if (owner->late || !svb_ud_chance(svb_self.settings.ud_reorder))
		return false;
	owner->late = svb_ud_copy(wqe, from);
	if (!owner->late)
		return false;
	owner->late_until = svb_now() + SVB_UD_LATE;
	svb_engine_deadline(svb_self.seg, owner->late_until);
	svb_count(svb_get(owner->sh->port), SVB_COUNT_REORDERED);
	return true;
}

void svb_ud_release(struct svb_qp *owner)
{
	struct svb_wqe *late = owner->late;

	owner->late = NULL;
	if (late)
		svb_ud_leave(svb_self.seg, owner->sh, late);
	free(late);
}

void svb_ud_release_due(struct svb_qp *owner)
{
	svb_lock(&owner->sh->sq.lock);
	if (owner->late && svb_now() < owner->late_until)
		svb_engine_deadline(svb_self.seg, owner->late_until);
	else
		svb_ud_release(owner);
	svb_unlock(&owner->sh->sq.lock);
}

void svb_ud_forget(struct svb_qp *owner)
{
	svb_lock(&owner->sh->sq.lock);
	free(owner->late);
	owner->late = NULL;
	svb_unlock(&owner->sh->sq.lock);
}
