/* SPDX-License-Identifier: BSD-2-Clause */
#include <limits.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include "sa_watch.h"

/* Section 15.2.5.4: SMInfo follows the LID; the component of its state. */
#define SM_RECORD_INFO_AT 4
#define SM_RECORD_SIZE (SM_RECORD_INFO_AT + PVB_SM_INFO_SIZE)
#define SM_RECORD_HAS_STATE (1u << 6)
#define SM_MASTER 3
/* Reports go to the queue pair of general services. */
#define GSI_QPN 1

static const uint16_t traps[PVB_SA_TRAPS] = {PVB_TRAP_GROUP_CREATED,
					     PVB_TRAP_GROUP_DELETED};

static int ask(struct pvb_sa_watch *watch, uint16_t attr, uint64_t mask,
	       const uint8_t *data, size_t len, pvb_sa_done *done, void *arg,
	       uint64_t now_ms)
{
	const struct pvb_sa_request request = {.method = attr == PVB_SA_INFORM_INFO
								 ? PVB_SA_SET
								 : PVB_SA_GET,
					       .attr = attr,
					       .comp_mask = mask,
					       .data = data,
					       .len = len,
					       .wait_ms = watch->config.wait_ms,
					       .tries = watch->config.tries,
					       .done = done,
					       .arg = arg};

	return pvb_sa_ask(watch->client, &request, now_ms);
}

static int inform(struct pvb_sa_trap *trap, bool subscribe, pvb_sa_done *done,
		  uint64_t now_ms)
{
	const struct pvb_inform_info info = {.lid_begin = PVB_INFORM_ALL_LIDS,
					     .generic = true,
					     .subscribe = subscribe,
					     .type = PVB_NOTICE_TYPE_INFO,
					     .trap = trap->number,
					     .qpn = GSI_QPN,
					     .producer = PVB_PRODUCER_CLASS_MANAGER};
	uint8_t record[PVB_INFORM_SIZE];

	pvb_inform_info_pack(record, &info);
	return ask(trap->watch, PVB_SA_INFORM_INFO, 0, record, sizeof(record), done, trap,
		   now_ms);
}

static bool all_on(const struct pvb_sa_watch *watch)
{
	size_t i;

	for (i = 0; i < PVB_SA_TRAPS; i++)
		if (!watch->trap[i].on)
			return false;
	return true;
}

static void unsubscribed(void *arg, const struct pvb_sa_answer *answer)
{
}

static void answered(void *arg, const struct pvb_sa_answer *answer)
{
	struct pvb_sa_trap *const trap = arg;
	struct pvb_sa_watch *const watch = trap->watch;
	const struct pvb_sa_watch_config *const config = &watch->config;

	trap->asked = false;
	if (!watch->client || answer->err == -FI_ECANCELED)
		return;
	if (trap->stale) {
		trap->stale = false;
		trap->due_ms = answer->now_ms;
		return;
	}
	trap->on = !answer->err && !answer->status;
	trap->due_ms = answer->now_ms + config->again_ms;
	if (!trap->on && config->refused)
		config->refused(config->arg, answer->err, answer->status);
	else if (all_on(watch) && config->subscribed)
		config->subscribed(config->arg);
}

static bool is_new(const struct pvb_sa_watch *watch, const struct pvb_sm_info *sm)
{
	return watch->silent || (watch->known && (sm->guid != watch->sm.guid ||
						  sm->act_count < watch->sm.act_count));
}

static void looked(void *arg, const struct pvb_sa_answer *answer)
{
	struct pvb_sa_watch *const watch = arg;
	struct pvb_sm_info sm;

	watch->looking = false;
	watch->look_ms = answer->now_ms + watch->config.look_ms;
	if (!watch->client || answer->err == -FI_ECANCELED)
		return;
	if (answer->err == -FI_ETIMEDOUT)
		watch->silent = true;
	if (answer->err || answer->status || answer->len < SM_RECORD_SIZE ||
	    pvb_sm_info_unpack((const uint8_t *)answer->data + SM_RECORD_INFO_AT,
			       PVB_SM_INFO_SIZE, &sm))
		return;
	if (is_new(watch, &sm))
		pvb_sa_restarted(watch, answer->now_ms);
	watch->silent = false;
	watch->known = true;
	watch->sm = sm;
}

static void look(struct pvb_sa_watch *watch, uint64_t now_ms)
{
	const struct pvb_sm_info master = {.state = SM_MASTER};
	uint8_t record[SM_RECORD_SIZE] = {0};

	pvb_sm_info_pack(record + SM_RECORD_INFO_AT, &master);
	watch->looking = !ask(watch, PVB_SA_SM_INFO_RECORD, SM_RECORD_HAS_STATE, record,
			      sizeof(record), looked, watch, now_ms);
	watch->look_ms = now_ms + watch->config.look_ms;
}

void pvb_sa_watch_start(struct pvb_sa_watch *watch, struct pvb_sa_client *client,
			const struct pvb_sa_watch_config *config, uint64_t now_ms)
{
	size_t i;

	*watch = (struct pvb_sa_watch){.client = client, .config = *config};
	for (i = 0; i < PVB_SA_TRAPS; i++)
		watch->trap[i] = (struct pvb_sa_trap){.watch = watch, .number = traps[i]};
	pvb_sa_watch_progress(watch, now_ms);
}

void pvb_sa_watch_stop(struct pvb_sa_watch *watch, uint64_t now_ms)
{
	size_t i;

	if (!watch->client)
		return;
	/* One whose answer is still to come, too. */
	for (i = 0; i < PVB_SA_TRAPS; i++)
		if (watch->trap[i].on || watch->trap[i].asked)
			inform(&watch->trap[i], false, unsubscribed, now_ms);
	watch->client = NULL;
}

void pvb_sa_restarted(struct pvb_sa_watch *watch, uint64_t now_ms)
{
	struct pvb_sa_trap *trap;

	if (!watch->client)
		return;
	for (trap = watch->trap; trap < watch->trap + PVB_SA_TRAPS; trap++) {
		trap->on = false;
		trap->stale = trap->asked;
		trap->due_ms = now_ms;
	}
	watch->known = false;
	pvb_sa_forget_reports(watch->client);
	/* Before the groups: they would have all places among what is outstanding. */
	pvb_sa_watch_progress(watch, now_ms);
	if (watch->config.restarted)
		watch->config.restarted(watch->config.arg);
}

static bool wants(const struct pvb_sa_trap *trap)
{
	return trap->watch->config.subscribe && !trap->on && !trap->asked;
}

void pvb_sa_watch_progress(struct pvb_sa_watch *watch, uint64_t now_ms)
{
	struct pvb_sa_trap *trap;

	if (!watch->client)
		return;
	for (trap = watch->trap; trap < watch->trap + PVB_SA_TRAPS; trap++) {
		if (!wants(trap) || trap->due_ms > now_ms)
			continue;
		trap->asked = !inform(trap, true, answered, now_ms);
		trap->due_ms = now_ms + watch->config.again_ms;
	}
	if (watch->config.look_ms && !watch->looking && watch->look_ms <= now_ms)
		look(watch, now_ms);
}

int pvb_sa_watch_timeout(const struct pvb_sa_watch *watch, uint64_t now_ms)
{
	const struct pvb_sa_trap *trap;
	uint64_t first = UINT64_MAX;

	if (!watch->client)
		return -1;
	for (trap = watch->trap; trap < watch->trap + PVB_SA_TRAPS; trap++)
		if (wants(trap) && trap->due_ms < first)
			first = trap->due_ms;
	if (watch->config.look_ms && !watch->looking && watch->look_ms < first)
		first = watch->look_ms;
	if (first == UINT64_MAX)
		return -1;
	if (first <= now_ms)
		return 0;
	return first - now_ms > INT_MAX ? INT_MAX : (int)(first - now_ms);
}
