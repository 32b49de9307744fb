/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every metric, as a table. Names and labels are those of fi_router(8), METRICS, and do
 * not change; util/fi_router/test-fi_router compares them. A counter does not go back
 * while the daemon runs.
 */
#include "config.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <cairn/compat.h>
#include <cairn/wait.h>

#include "adjacency/adjacency.h"
#include "inside.h"
#include "ready.h"
#include "sums.h"
#include "worker/worker.h"

#define LABELS_SIZE 256u
#define NS 1e9

struct family;

struct scrape {
	const struct frt_node *node;
	const struct family *family; /* that is written */
	FILE *out;
	struct frt_sums sums;
	struct rte_arena_use memory;
	struct frt_counters counters;
};

struct family {
	const char *name; /* behind cairn_router_ */
	const char *type;
	const char *help;
	void (*write)(struct scrape *scrape);
	size_t at;   /* of a number in the structure that write looks at */
	double unit; /* of that number; 0: 1 */
};

/* --- Samples --- */

__attribute__((format(printf, 3, 4))) static void sample(struct scrape *scrape,
							 double value, const char *format,
							 ...)
{
	char labels[LABELS_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(labels, sizeof(labels), format, args);
	va_end(args);
	fprintf(scrape->out, "cairn_router_%s%s%s%s %.17g\n", scrape->family->name,
		*labels ? "{" : "", labels, *labels ? "}" : "", value);
}

static double number_at(const struct scrape *scrape, const void *base)
{
	const double unit = scrape->family->unit;
	uint64_t value;

	memcpy(&value, (const char *)base + scrape->family->at, sizeof(value));
	return (double)value * (unit ? unit : 1);
}

static double small_at(const struct scrape *scrape, const void *base)
{
	uint32_t value;

	memcpy(&value, (const char *)base + scrape->family->at, sizeof(value));
	return value;
}

/* --- The daemon --- */

static void write_info(struct scrape *scrape)
{
	const struct rte_config_router *self = &frt_config(scrape->node)->router;

	sample(scrape, 1,
	       "version=\"%s\",name=\"%s\",as=\"%" PRIu32 "\",router=\"%" PRIu64 "\"",
	       PACKAGE_VERSION, self->name, self->as, self->id);
}

static void write_ready(struct scrape *scrape)
{
	char why[FRT_READY_SIZE];

	sample(scrape, frt_ready(scrape->node, why), "%s", "");
}

static void write_start(struct scrape *scrape)
{
	sample(scrape, (double)scrape->node->epoch / NS, "%s", "");
}

static void write_cpu(struct scrape *scrape)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	sample(scrape,
	       (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
		       (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6,
	       "%s", "");
}

static void write_workers(struct scrape *scrape)
{
	sample(scrape, frt_workers_count(scrape->node), "%s", "");
}

static void write_connections(struct scrape *scrape)
{
	const struct frt_node *node = scrape->node;
	uint32_t i;

	for (i = 0; i < node->workers; i++)
		sample(scrape, node->worker[i]->connections, "worker=\"%" PRIu32 "\"", i);
}

static void write_clients(struct scrape *scrape)
{
	const struct crn_list *entry;
	uint32_t count = 0;

	crn_list_for_each (entry, &scrape->node->clients)
		count++;
	sample(scrape, count, "%s", "");
}

static void write_guests(struct scrape *scrape)
{
	sample(scrape, scrape->node->guests, "%s", "");
}

static void write_out(struct scrape *scrape)
{
	sample(scrape, scrape->node->out, "%s", "");
}

static void write_drain(struct scrape *scrape)
{
	sample(scrape, scrape->node->drain, "%s", "");
}

static void write_routers(struct scrape *scrape)
{
	sample(scrape, (double)rte_lsdb_count(rte_sync_db(scrape->node->sync)), "%s", "");
}

static void write_memory(struct scrape *scrape)
{
	sample(scrape, number_at(scrape, &scrape->memory), "%s", "");
}

static void write_buffers(struct scrape *scrape)
{
	sample(scrape, small_at(scrape, &scrape->memory), "%s", "");
}

static void write_counter(struct scrape *scrape)
{
	sample(scrape, number_at(scrape, &scrape->counters), "%s", "");
}

static void write_denied(struct scrape *scrape)
{
	static const char *const reasons[RTE_DENIALS] = {
		[RTE_DENIED_NO_PROOF] = "no_proof", [RTE_DENIED_NO_KEY] = "no_key",
		[RTE_DENIED_KEY_ID] = "key_id",	    [RTE_DENIED_KEY] = "key",
		[RTE_DENIED_REPLAY] = "replay",
	};
	enum rte_denial why;

	for (why = 0; why < RTE_DENIALS; why++)
		sample(scrape, (double)scrape->counters.denied[why], "reason=\"%s\"",
		       reasons[why]);
}

static void write_quotas(struct scrape *scrape)
{
	const struct frt_counters *counters = &scrape->counters;

	sample(scrape, (double)counters->quota_connections, "quota=\"connections\"");
	sample(scrape, (double)counters->quota_slots, "quota=\"slots\"");
	sample(scrape, (double)counters->quota_resolves, "quota=\"resolves\"");
}

static void write_faults(struct scrape *scrape)
{
	sample(scrape, scrape->node->faults.count, "%s", "");
}

static void write_sync(struct scrape *scrape)
{
	sample(scrape, number_at(scrape, rte_sync_counters(scrape->node->sync)), "%s",
	       "");
}

/* --- Devices --- */

static const char *subnet_text(const struct frt_device *device, char text[24])
{
	snprintf(text, 24, "%" PRIu32 ":%" PRIu32, device->config->at.as,
		 device->config->at.subnet);
	return text;
}

static void device_sample(struct scrape *scrape, const struct frt_sum *sum, double value)
{
	char subnet[24];

	sample(scrape, value, "device=\"%s\",subnet=\"%s\"", sum->device->config->name,
	       subnet_text(sum->device, subnet));
}

#define EACH_SUM(scrape_, sum_)            \
	for ((sum_) = (scrape_)->sums.sum; \
	     (sum_) < (scrape_)->sums.sum + (scrape_)->sums.count; (sum_)++)

static void write_up(struct scrape *scrape)
{
	const struct frt_sum *sum;

	EACH_SUM(scrape, sum)
	device_sample(scrape, sum, sum->device->up);
}

static void write_rate(struct scrape *scrape)
{
	const struct frt_sum *sum;

	EACH_SUM(scrape, sum)
	device_sample(scrape, sum, (double)sum->device->rate / 8);
}

static void write_peers(struct scrape *scrape)
{
	const struct frt_sum *sum;

	EACH_SUM(scrape, sum)
	device_sample(scrape, sum, sum->peers);
}

static void write_device(struct scrape *scrape)
{
	const struct frt_sum *sum;

	EACH_SUM(scrape, sum)
	device_sample(scrape, sum, number_at(scrape, &sum->all));
}

static void lane_sample(struct scrape *scrape, const struct frt_sum *sum,
			enum rte_lane lane, double value)
{
	static const char *const names[RTE_LANES] = {
		[RTE_REQUESTS] = "requests",
		[RTE_RESPONSES] = "responses",
	};
	char subnet[24];

	sample(scrape, value, "device=\"%s\",subnet=\"%s\",lane=\"%s\"",
	       sum->device->config->name, subnet_text(sum->device, subnet), names[lane]);
}

/* Numbers of sum->all, one for each lane. */
static void write_lanes(struct scrape *scrape)
{
	const struct frt_sum *sum;
	enum rte_lane lane;

	EACH_SUM(scrape, sum)
	for (lane = 0; lane < RTE_LANES; lane++)
		lane_sample(scrape, sum, lane,
			    number_at(scrape, (const uint64_t *)&sum->all + lane));
}

static void write_lanes_now(struct scrape *scrape)
{
	const struct frt_sum *sum;
	enum rte_lane lane;

	EACH_SUM(scrape, sum)
	for (lane = 0; lane < RTE_LANES; lane++)
		lane_sample(scrape, sum, lane,
			    small_at(scrape, (const char *)sum + lane * 4u));
}

_Static_assert(sizeof(((struct frt_sum *)0)->queued[0]) == 4, "the step above");

/* --- Peer routers --- */

/* What a family shows of one. */
enum of_peer { PEER_UP, PEER_AGE, PEER_TRIP, PEER_QUEUED, PEER_RECEIVED, PEER_SENT };

static double of_peer(const struct frt_adjacency_view *view, enum of_peer what)
{
	switch (what) {
	case PEER_AGE:
		return (double)(crn_now_ms() - view->since) / 1e3;
	case PEER_TRIP:
		return (double)view->trip / NS;
	case PEER_QUEUED:
		return (double)view->queued;
	case PEER_RECEIVED:
		return (double)view->peer->stats_rx;
	case PEER_SENT:
		return (double)view->peer->stats_tx;
	case PEER_UP:
		break;
	}
	return 1;
}

static void add_adjacency(const struct frt_adjacency_view *view, void *context)
{
	struct scrape *scrape = context;
	char subnet[24];

	sample(scrape, of_peer(view, (enum of_peer)scrape->family->at),
	       "device=\"%s\",subnet=\"%s\",peer_as=\"%" PRIu32
	       "\",peer_router=\"%" PRIu64 "\"",
	       view->device->config->name, subnet_text(view->device, subnet), view->as,
	       view->router);
}

static void write_adjacencies(struct scrape *scrape)
{
	frt_adjacencies_each(scrape->node, add_adjacency, scrape);
}

/* --- All of them --- */

#define GAUGE "gauge"
#define COUNTER "counter"
#define NODE(field_) write_counter, offsetof(struct frt_counters, field_), 0
#define SYNC(field_) write_sync, offsetof(struct rte_sync_counters, field_), 0
#define USE(field_) offsetof(struct rte_arena_use, field_), 0
#define PAST(field_) offsetof(struct frt_past, field_), 0
#define SUM(field_) offsetof(struct frt_sum, field_), 0

/* clang-format off */
static const struct family families[] = {
	{"info", GAUGE, "The router; 1.", write_info, 0, 0},
	{"ready", GAUGE, "1 if it is ready, as /ready says, else 0.", write_ready, 0, 0},
	{"start_time_seconds", GAUGE, "When it was started, since 1970.", write_start, 0, 0},
	{"cpu_seconds_total", COUNTER, "Processor time that it has used.", write_cpu, 0, 0},
	{"workers", GAUGE, "Workers that pass on connections.", write_workers, 0, 0},
	{"connections", GAUGE, "Connections that a worker passes on.", write_connections, 0, 0},
	{"clients", GAUGE, "Hosts that programs connect from.", write_clients, 0, 0},
	{"guests", GAUGE, "Who has connected and not said yet what for.", write_guests, 0, 0},
	{"drain", GAUGE, "1 if it takes no new connections, else 0.", write_drain, 0, 0},
	{"out", GAUGE, "1 if it is out, because another router has its id, else 0.", write_out, 0, 0},
	{"faults", GAUGE, "Faults that are injected on purpose; more than 0: a test.", write_faults, 0, 0},
	{"routers", GAUGE, "Routers whose link states it knows, its own among them.", write_routers, 0, 0},
	{"memory_bytes", GAUGE, "Memory for messages and data.", write_memory, USE(bytes)},
	{"memory_used_bytes", GAUGE, "Of it in use.", write_memory, USE(bytes_taken)},
	{"landing_slots", GAUGE, "Landing slots for data that there are now.", write_buffers, USE(lands)},
	{"landing_slots_used", GAUGE, "Of them in use.", write_buffers, USE(lands_taken)},
	{"message_buffers", GAUGE, "Buffers for messages that there are now.", write_buffers, USE(messages)},
	{"message_buffers_used", GAUGE, "Of them in use.", write_buffers, USE(messages_taken)},

	{"device_up", GAUGE, "1 if the device is open and listens, else 0.", write_up, 0, 0},
	{"device_rate_bytes_per_second", GAUGE, "Rate of the device.", write_rate, 0, 0},
	{"device_peers", GAUGE, "Connections of the lower provider now.", write_peers, 0, 0},
	{"device_received_messages_total", COUNTER, "Messages received.", write_device, PAST(rx)},
	{"device_received_bytes_total", COUNTER, "Bytes of payload received.", write_device, PAST(rx_bytes)},
	{"device_sent_messages_total", COUNTER, "Messages sent.", write_device, PAST(tx)},
	{"device_sent_bytes_total", COUNTER, "Bytes of payload sent.", write_device, PAST(tx_bytes)},
	{"device_stalls_total", COUNTER, "Times that a peer there gave a connection no credit.", write_lanes, PAST(stalls)},
	{"device_stall_seconds_total", COUNTER, "How long connections waited for credits from there, together.",
	 write_lanes, offsetof(struct frt_past, stall_ns), 1 / NS},
	{"device_stalled_connections", GAUGE, "Connections that wait for credits from there now.", write_lanes_now, SUM(stalled)},
	{"device_queued_messages", GAUGE, "Messages that wait to be sent there.", write_lanes_now, SUM(queued)},

	{"adjacency_up", GAUGE, "A router that link states are exchanged with; 1.", write_adjacencies, PEER_UP, 0},
	{"adjacency_age_seconds", GAUGE, "Since when.", write_adjacencies, PEER_AGE, 0},
	{"adjacency_round_trip_seconds", GAUGE, "Round trip of a sign of life; 0: none yet.", write_adjacencies, PEER_TRIP, 0},
	{"adjacency_queued_bytes", GAUGE, "Link states that wait to be sent to it.", write_adjacencies, PEER_QUEUED, 0},
	{"adjacency_received_messages_total", COUNTER, "Messages received from it.", write_adjacencies, PEER_RECEIVED, 0},
	{"adjacency_sent_messages_total", COUNTER, "Messages sent to it.", write_adjacencies, PEER_SENT, 0},

	{"requests_total", COUNTER, "Requests for connections.", NODE(requests)},
	{"requests_delivered_total", COUNTER, "Of them to a target on a subnet of this router.", NODE(delivered)},
	{"requests_forwarded_total", COUNTER, "Of them to the next router.", NODE(forwarded)},
	{"requests_redirected_total", COUNTER, "Of them: the client was told of a better router.", NODE(redirected)},
	{"requests_refused_total", COUNTER, "Of them refused.", NODE(refused)},
	{"requests_unreached_total", COUNTER, "Requests whose next router or target did not answer in time.", NODE(unreached)},
	{"accepted_total", COUNTER, "Connections of the lower providers that were accepted.", NODE(accepted)},
	{"rejected_total", COUNTER, "Connections of the lower providers that were not.", NODE(rejected)},
	{"silent_total", COUNTER, "Of those accepted: without a first message in time.", NODE(silent)},
	{"mute_total", COUNTER, "TCP connections that were closed: they had sent nothing.", NODE(mute)},
	{"denied_total", COUNTER, "Hosts that were not let in: without the proof that is asked for.", write_denied, 0, 0},
	{"unknown_as_total", COUNTER, "Hosts that were not let in: of another AS than may be there.", NODE(unknown_as)},
	{"requests_acl_total", COUNTER, "Requests that no acl allows.", NODE(acl)},
	{"quota_reached_total", COUNTER, "Times that a client had as much as it may.", write_quotas, 0, 0},
	{"adjacencies_begun_total", COUNTER, "Routers that were connected.", NODE(adjacencies_up)},
	{"adjacencies_ended_total", COUNTER, "Routers that were lost, or have ended.", NODE(adjacencies_down)},
	{"malformed_total", COUNTER, "Messages of routers that could not be read.", NODE(malformed)},
	{"queue_full_total", COUNTER, "Routers that were given up: they did not read.", NODE(queue_full)},
	{"duplicate_id_total", COUNTER, "Connections and advertisements that showed two routers with one id.", NODE(duplicate_id)},

	{"link_state_received_total", COUNTER, "Messages of the link-state exchange received.", SYNC(received)},
	{"link_state_sent_total", COUNTER, "Messages of the link-state exchange sent.", SYNC(sent)},
	{"link_state_originated_total", COUNTER, "Advertisements of this router.", SYNC(originated)},
	{"link_state_known_total", COUNTER, "Advertisements that were no news.", SYNC(known)},
	{"link_state_repaired_total", COUNTER, "Times that a router knew something else.", SYNC(repaired)},
	{"link_state_lost_total", COUNTER, "Routers that were lost by silence.", SYNC(lost)},
	{"link_state_malformed_total", COUNTER, "Advertisements that are wrong.", SYNC(malformed)},
	{"link_state_range_total", COUNTER, "Advertisements with an epoch or sequence number that none may have.", SYNC(range)},
	{"link_state_capped_total", COUNTER, "Advertisements whose lifetime was reduced.", SYNC(capped)},
	{"link_state_ahead_total", COUNTER, "Advertisements in the name of this router that it had not sent.", SYNC(ahead)},
	{"link_state_foreign_total", COUNTER, "Advertisements of another AS, or about a third one.", SYNC(foreign)},
	{"link_state_full_total", COUNTER, "Routers for which there was no room.", SYNC(full)},
	{"link_state_evicted_total", COUNTER, "Routers that were dropped for those that other neighbours advertised.", SYNC(evicted)},
	{"late_seconds_total", COUNTER, "How late its own timers were, together.", write_sync,
	 offsetof(struct rte_sync_counters, late), 1e-3},
};
/* clang-format on */

static void look(const struct frt_node *node, struct scrape *scrape)
{
	scrape->node = node;
	frt_sums(node, &scrape->sums);
	frt_sums_memory(node, &scrape->memory);
	scrape->counters = node->counters;
	frt_clients_count(node, &scrape->counters);
}

char *frt_metrics_text(const struct frt_node *node, size_t *len)
{
	struct scrape *scrape = calloc(1, sizeof(*scrape));
	const struct family *family;
	char *text = NULL;

	if (scrape)
		scrape->out = open_memstream(&text, len);
	if (!scrape || !scrape->out) {
		free(scrape);
		return NULL;
	}
	look(node, scrape);
	for (family = families; family < families + CRN_COUNT(families); family++) {
		scrape->family = family;
		fprintf(scrape->out,
			"# HELP cairn_router_%s %s\n# TYPE cairn_router_%s %s\n",
			family->name, family->help, family->name, family->type);
		family->write(scrape);
	}
	if (fclose(scrape->out)) {
		free(text);
		text = NULL;
	}
	free(scrape);
	return text;
}
