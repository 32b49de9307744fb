/* SPDX-License-Identifier: BSD-2-Clause */
/* How libfabric gets to know the provider; the rules, the record of calls, the objects.
 */
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cairn_test.h"
#include "world.h"

#define SCR_RECORDS 256 /* kept of each call */

static struct {
	pthread_mutex_t lock;
	struct scr_rule rules[SCR_RULES];
	unsigned int rule_count;
	struct scr_record records[SCR_CALLS][SCR_RECORDS];
	unsigned int counts[SCR_CALLS];
} calls = {.lock = PTHREAD_MUTEX_INITIALIZER};

static pthread_mutex_t world_lock = PTHREAD_MUTEX_INITIALIZER;
struct crn_list scr_objects = {&scr_objects, &scr_objects};

__attribute__((visibility("default"))) struct fi_provider *scr_prov_ini(void);

struct fi_provider scr_prov = {
	.version = FI_VERSION(1, 0),
	.name = SCR_NAME,
	.getinfo = scr_getinfo,
	.fabric = scr_fabric_open,
};

static void scr_cleanup(void)
{
}

/* Exported to plugin.c. */
struct fi_provider *scr_prov_ini(void)
{
	scr_prov.fi_version = fi_version();
	scr_prov.cleanup = scr_cleanup;
	return &scr_prov;
}

/* libfabric looks once, at its first call: where plugin.c is built, next to the folder of
 * the program. */
static void scr_make_known(void)
{
	char self[PATH_MAX], path[PATH_MAX + 64];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (len < 0)
		return;
	self[len] = '\0';
	snprintf(path, sizeof(path), "%s/../script/.libs", dirname(self));
	setenv("FI_PROVIDER_PATH", path, 1);
}

void scr_begin(void)
{
	scr_make_known();
	scr_refuse_nothing();
	pthread_mutex_lock(&calls.lock);
	memset(calls.counts, 0, sizeof(calls.counts));
	pthread_mutex_unlock(&calls.lock);
	scr_hold_reset();
	scr_offer_reset();
}

void scr_lock(void)
{
	pthread_mutex_lock(&world_lock);
}

void scr_unlock(void)
{
	pthread_mutex_unlock(&world_lock);
}

void scr_refuse(const struct scr_rule *rule)
{
	pthread_mutex_lock(&calls.lock);
	if (calls.rule_count < SCR_RULES)
		calls.rules[calls.rule_count++] = *rule;
	else
		CT_EXPECT_LT(calls.rule_count, SCR_RULES);
	pthread_mutex_unlock(&calls.lock);
}

void scr_refuse_nothing(void)
{
	pthread_mutex_lock(&calls.lock);
	calls.rule_count = 0;
	pthread_mutex_unlock(&calls.lock);
}

static bool rule_fits(const struct scr_rule *rule, const struct scr_record *record)
{
	if (rule->call != record->call || (rule->fid && rule->fid != record->fid))
		return false;
	return !rule->fclass || (record->fid && record->fid->fclass == rule->fclass);
}

/* The rule whose turn it is; used up ones are taken out. */
static bool rule_for(const struct scr_record *record, struct scr_rule *found)
{
	struct scr_rule *rule;

	for (rule = calls.rules; rule < calls.rules + calls.rule_count; rule++) {
		if (!rule_fits(rule, record))
			continue;
		if (rule->skip) {
			rule->skip--;
			continue;
		}
		*found = *rule;
		if (rule->times && !--rule->times) {
			calls.rule_count--;
			memmove(rule, rule + 1,
				(size_t)(calls.rules + calls.rule_count - rule) *
					sizeof(*rule));
		}
		return true;
	}
	return false;
}

int scr_enter(const struct scr_record *record)
{
	struct scr_rule rule = {0};
	struct scr_record *place;
	bool found;

	pthread_mutex_lock(&calls.lock);
	found = rule_for(record, &rule);
	place = &calls.records[record->call][calls.counts[record->call]++ % SCR_RECORDS];
	*place = *record;
	place->ret = found ? rule.ret : 0;
	pthread_mutex_unlock(&calls.lock);
	if (found && rule.before)
		rule.before(record, rule.arg);
	return found ? rule.ret : 0;
}

unsigned int scr_count(enum scr_call call)
{
	unsigned int count;

	pthread_mutex_lock(&calls.lock);
	count = calls.counts[call];
	pthread_mutex_unlock(&calls.lock);
	return count;
}

bool scr_look(enum scr_call call, unsigned int i, struct scr_record *record)
{
	bool there;

	pthread_mutex_lock(&calls.lock);
	there = i < calls.counts[call] && calls.counts[call] - i <= SCR_RECORDS;
	if (there)
		*record = calls.records[call][i % SCR_RECORDS];
	pthread_mutex_unlock(&calls.lock);
	return there;
}

const char *scr_call_name(enum scr_call call)
{
	static const char *const names[SCR_CALLS] = {
		[SCR_GETINFO] = "fi_getinfo",
		[SCR_FABRIC] = "fi_fabric",
		[SCR_DOMAIN] = "fi_domain",
		[SCR_EQ_OPEN] = "fi_eq_open",
		[SCR_PASSIVE_EP] = "fi_passive_ep",
		[SCR_ENDPOINT] = "fi_endpoint",
		[SCR_SRX] = "fi_srx_context",
		[SCR_CQ_OPEN] = "fi_cq_open",
		[SCR_CNTR_OPEN] = "fi_cntr_open",
		[SCR_MR_REG] = "fi_mr_reg",
		[SCR_CLOSE] = "fi_close",
		[SCR_BIND] = "fi_bind",
		[SCR_CONTROL] = "fi_control",
		[SCR_ENABLE] = "fi_enable",
		[SCR_GETWAIT] = "FI_GETWAIT",
		[SCR_GETOPT] = "fi_getopt",
		[SCR_SETOPT] = "fi_setopt",
		[SCR_SETNAME] = "fi_setname",
		[SCR_GETNAME] = "fi_getname",
		[SCR_GETPEER] = "fi_getpeer",
		[SCR_LISTEN] = "fi_listen",
		[SCR_CONNECT] = "fi_connect",
		[SCR_ACCEPT] = "fi_accept",
		[SCR_REJECT] = "fi_reject",
		[SCR_SHUTDOWN] = "fi_shutdown",
		[SCR_TRYWAIT] = "fi_trywait",
		[SCR_EQ_READ] = "fi_eq_read",
		[SCR_EQ_SREAD] = "fi_eq_sread",
		[SCR_EQ_READERR] = "fi_eq_readerr",
		[SCR_EQ_WRITE] = "fi_eq_write",
		[SCR_CQ_READ] = "fi_cq_read",
		[SCR_CQ_SREAD] = "fi_cq_sread",
		[SCR_CQ_READERR] = "fi_cq_readerr",
		[SCR_CQ_SIGNAL] = "fi_cq_signal",
		[SCR_CANCEL] = "fi_cancel",
		[SCR_RECV] = "fi_recv",
		[SCR_SEND] = "fi_send",
		[SCR_INJECT] = "fi_inject",
		[SCR_READ] = "fi_read",
		[SCR_WRITE] = "fi_write",
		[SCR_INJECT_WRITE] = "fi_inject_write",
		[SCR_TRECV] = "fi_trecv",
		[SCR_TSEND] = "fi_tsend",
		[SCR_TINJECT] = "fi_tinject",
		[SCR_ATOMIC] = "fi_atomic",
		[SCR_FETCH_ATOMIC] = "fi_fetch_atomic",
		[SCR_COMPARE_ATOMIC] = "fi_compare_atomic",
		[SCR_INJECT_ATOMIC] = "fi_inject_atomic",
	};

	return names[call];
}

void scr_object_add(struct scr_object *object, struct fid *fid)
{
	object->fid = fid;
	scr_lock();
	crn_list_add_tail(&scr_objects, &object->entry);
	scr_unlock();
}

void scr_object_del(struct scr_object *object)
{
	scr_lock();
	crn_list_del(&object->entry);
	scr_unlock();
}

struct fid *scr_fid(size_t fclass, unsigned int i)
{
	struct scr_object *object;
	struct fid *found = NULL;
	struct crn_list *pos;

	scr_lock();
	crn_list_for_each (pos, &scr_objects) {
		object = crn_container_of(pos, struct scr_object, entry);
		if (object->fid->fclass == fclass && !i--) {
			found = object->fid;
			break;
		}
	}
	scr_unlock();
	return found;
}

unsigned int scr_open(void)
{
	struct crn_list *pos;
	unsigned int count = 0;

	scr_lock();
	crn_list_for_each (pos, &scr_objects)
		count++;
	scr_unlock();
	return count;
}
