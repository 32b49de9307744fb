/* SPDX-License-Identifier: BSD-2-Clause */
/* Who is told that groups come and go (IBA 13.4.8.3, 13.4.11). */
#include <string.h>
#include "step.h"
#include "tables.h"

/* A report that nobody answers is sent so many times, that far apart. */
#define SVB_REPORT_TIMES 5u
#define SVB_REPORT_EVERY_NS 200000000ull
/* So often a subscriber looks whether members have ended. */
#define SVB_LOOK_EVERY_NS 50000000ull

static bool svb_inform_wants(const struct svb_inform *inform, uint16_t trap,
			     const union ibv_gid *mgid)
{
	return inform->token && (inform->trap == trap || inform->trap == 0xffff) &&
	       (inform->any_gid || !memcmp(&inform->gid, mgid, sizeof(*mgid)));
}

/* A free one, or the oldest: of a subscriber that does not listen, or was killed. */
static struct svb_report *svb_report_place(struct svb_subnet *subnet)
{
	struct svb_report *at = subnet->report, *oldest = at;

	for (; at < subnet->report + SVB_MAX_REPORTS && oldest->id; at++)
		if (at->id < oldest->id)
			oldest = at;
	return oldest;
}

static void svb_report_add(struct svb_subnet *subnet, const struct svb_inform *inform,
			   uint16_t trap, const union ibv_gid *mgid)
{
	struct svb_report *report = svb_report_place(subnet);

	*report = (struct svb_report){.due = svb_now(),
				      .token = inform->token,
				      .bell = inform->bell,
				      .trap = trap,
				      .mgid = *mgid};
	report->id = ++subnet->next_report;
	svb_bell_ring(inform->bell);
}

void svb_inform_all(struct svb_subnet *subnet, uint16_t trap, const union ibv_gid *mgid)
{
	uint32_t i;

	for (i = 0; i < SVB_MAX_INFORMS; i++)
		if (svb_inform_wants(&subnet->inform[i], trap, mgid))
			svb_report_add(subnet, &subnet->inform[i], trap, mgid);
}

static struct svb_inform *svb_inform_find(struct svb_subnet *subnet,
					  const struct svb_inform *inform)
{
	struct svb_inform *at = subnet->inform;
	uint32_t i;

	for (i = 0; i < SVB_MAX_INFORMS; i++)
		if (at[i].token && at[i].bell == inform->bell &&
		    at[i].trap == inform->trap && at[i].any_gid == inform->any_gid &&
		    !memcmp(&at[i].gid, &inform->gid, sizeof(inform->gid)))
			return &at[i];
	return NULL;
}

static enum svb_sa_status svb_inform_add(struct svb_subnet *subnet,
					 const struct svb_inform *inform)
{
	uint32_t i;

	for (i = 0; i < SVB_MAX_INFORMS; i++) {
		if (subnet->inform[i].token)
			continue;
		subnet->inform[i] = *inform;
		return SVB_SA_OK;
	}
	return SVB_SA_NO_RESOURCES;
}

enum svb_sa_status svb_subnet_subscribe(const struct svb_inform *inform, bool subscribe)
{
	struct svb_subnet *subnet = svb_subnet_lock();
	enum svb_sa_status status = SVB_SA_OK;
	struct svb_inform *found;

	if (!subnet)
		return SVB_SA_NO_RESOURCES;
	found = svb_inform_find(subnet, inform);
	if (!found)
		status = subscribe ? svb_inform_add(subnet, inform) : SVB_SA_REQ_INVALID;
	else if (!subscribe)
		found->token = 0;
	svb_subnet_unlock(subnet);
	return status;
}

void svb_subnet_unsubscribe(uint32_t bell)
{
	struct svb_subnet *subnet = svb_subnet_lock();
	uint32_t i;

	if (!subnet)
		return;
	for (i = 0; i < SVB_MAX_INFORMS; i++)
		if (subnet->inform[i].bell == bell)
			subnet->inform[i].token = 0;
	for (i = 0; i < SVB_MAX_REPORTS; i++)
		if (subnet->report[i].bell == bell)
			subnet->report[i].id = 0;
	svb_subnet_unlock(subnet);
}

static bool svb_report_take(struct svb_report *at, struct svb_report *report,
			    uint64_t now)
{
	if (at->due > now)
		return false;
	*report = *at;
	at->due = now + SVB_REPORT_EVERY_NS;
	if (++at->sent == SVB_REPORT_TIMES)
		at->id = 0;
	return true;
}

/* What a member holds ends with its process, of which nobody tells. */
static bool svb_inform_looks(const struct svb_subnet *subnet, uint32_t bell)
{
	uint32_t i;

	for (i = 0; subnet->holds && i < SVB_MAX_INFORMS; i++)
		if (subnet->inform[i].token && subnet->inform[i].bell == bell)
			return true;
	return false;
}

bool svb_subnet_report(uint32_t bell, struct svb_report *report, uint64_t *next)
{
	struct svb_subnet *subnet = svb_subnet_lock();
	const uint64_t now = svb_now();
	struct svb_report *at;
	bool found = false;
	uint32_t i;

	*next = 0;
	if (!subnet)
		return false;
	if (svb_inform_looks(subnet, bell))
		*next = now + SVB_LOOK_EVERY_NS;
	for (i = 0; i < SVB_MAX_REPORTS && !found; i++) {
		at = &subnet->report[i];
		if (!at->id || at->bell != bell)
			continue;
		/* Its bell was that of a process that has ended. */
		if (at->token != svb_lock_token) {
			at->id = 0;
			continue;
		}
		found = svb_report_take(at, report, now);
		if (!found && (!*next || at->due < *next))
			*next = at->due;
	}
	svb_subnet_unlock(subnet);
	return found;
}

void svb_subnet_reported(uint64_t id)
{
	struct svb_subnet *subnet = svb_subnet_lock();
	uint32_t i;

	if (!subnet)
		return;
	for (i = 0; id && i < SVB_MAX_REPORTS; i++)
		if (subnet->report[i].id == id)
			subnet->report[i].id = 0;
	svb_subnet_unlock(subnet);
}
