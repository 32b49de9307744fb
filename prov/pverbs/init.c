/* SPDX-License-Identifier: BSD-2-Clause */
/* What libfabric calls when it loads the provider, and the parameters of the environment.
 */
#include <ctype.h>
#include <string.h>
#include "objects.h"

static void pvb_cleanup(void)
{
}

struct fi_provider pvb_prov = {
	.version = PVB_VERSION,
	.name = PVB_NAME,
	.getinfo = pvb_getinfo,
	.fabric = pvb_fabric_open,
	.cleanup = pvb_cleanup,
};

/* A row a parameter; min and max bound the FI_PARAM_INT and FI_PARAM_SIZE_T ones. */
static const struct pvb_param_row {
	const char *name;
	enum fi_param_type type;
	void *value;
	int min, max;
	const char *help;
} pvb_param_rows[] = {
	{"device", FI_PARAM_STRING, &pvb_params.device, 0, 0,
	 "Comma-separated names of the verbs devices to use (default: all)"},
	{"tx_size", FI_PARAM_SIZE_T, &pvb_params.tx_size, 1, 65536,
	 "Operations in flight per endpoint when the program names no size (default: "
	 "256)"},
	{"rx_size", FI_PARAM_SIZE_T, &pvb_params.rx_size, 1, 65536,
	 "Posted receives per endpoint when the program names no size (default: 256)"},
	{"inject_size", FI_PARAM_SIZE_T, &pvb_params.inject_size, 0, PVB_INJECT_LIMIT,
	 "Bytes fi_inject takes when the program names no size (default: 64)"},
	{"resolve_timeout", FI_PARAM_INT, &pvb_params.resolve_timeout, 1, 600000,
	 "Milliseconds rdma_cm may take for an address, and for a route (default: 2000)"},
	{"retry_count", FI_PARAM_INT, &pvb_params.retry_count, 0, 7,
	 "Times the device repeats a packet that nobody acknowledges (default: 6)"},
	{"rnr_retry_count", FI_PARAM_INT, &pvb_params.rnr_retry_count, 0, 7,
	 "Times the device repeats a send while the peer has no receive posted; 7 is "
	 "without end (default: 7)"},
	{"close_timeout", FI_PARAM_INT, &pvb_params.close_timeout, 1, 600000,
	 "Milliseconds fi_close waits for the device to return what is in flight "
	 "(default: 2000)"},
	{"gid_index", FI_PARAM_INT, &pvb_params.gid_index, -1, 65535,
	 "Only addresses whose GID has this index on their port; -1: any (default: -1)"},
	{"pkey", FI_PARAM_INT, &pvb_params.pkey, 0, 0xffff,
	 "Only addresses in this InfiniBand partition; 0: any (default: 0)"},
	{"roce_version", FI_PARAM_INT, &pvb_params.roce_version, 0, 2,
	 "Connections over another version of RoCE fail; 0: any (default: 0)"},
	{"traffic_class", FI_PARAM_INT, &pvb_params.traffic_class, -1, 255,
	 "Traffic class where the program names no DSCP; -1: the system's (default: -1)"},
	{"ack_timeout", FI_PARAM_INT, &pvb_params.ack_timeout, -1, 31,
	 "The device waits 4.096 us * 2^n for an acknowledgement; 0: for ever, -1: as "
	 "the "
	 "system has it (default: -1)"},
	{"rnr_timer", FI_PARAM_INT, &pvb_params.rnr_timer, -1, 31,
	 "Code of the time a peer is asked to wait when no receive is posted; -1: as the "
	 "system has it (default: -1)"},
	{"path_mtu", FI_PARAM_INT, &pvb_params.path_mtu, 0, 4096,
	 "Bytes of a packet's payload at most, the same on both sides; 0: as the path "
	 "has "
	 "it (default: 0)"},
	{"keepalive", FI_PARAM_INT, &pvb_params.keepalive, 0, 86400000,
	 "Milliseconds of silence after which a peer is asked whether it is there; 0: "
	 "never (default: 0)"},
	{"fork_safe", FI_PARAM_INT, &pvb_params.fork_safe, 0, 1,
	 "1: a child of fork does not inherit registered memory, on kernels that do not "
	 "copy it (default: 0)"},
	{"commit_timeout", FI_PARAM_INT, &pvb_params.commit_timeout, 1, 86400000,
	 "Milliseconds a target's processor may take to make a write durable (default: "
	 "10000)"},
	{"pmem_config", FI_PARAM_STRING, &pvb_params.pmem_config, 0, 0,
	 "File that declares what this machine's persistent memory is like (default: "
	 "none)"},
	{"persistence", FI_PARAM_STRING, &pvb_params.persistence, 0, 0,
	 "What a power failure spares: dmp (memory modules), mhp (processor caches as "
	 "well) or wsp (the whole system) (default: what sysfs says, else dmp)"},
	{"ddio", FI_PARAM_STRING, &pvb_params.ddio, 0, 0,
	 "Whether data from adapters goes to the processor's cache: on or off (default: "
	 "on)"},
};

/* Those that are one of some words, which stand for 0, 1, ... */
static const struct pvb_word_row {
	const char *name;
	int *value;
	const char *words[4];
	const char *help;
} pvb_word_rows[] = {
	{"fence",
	 &pvb_params.fence,
	 {"device", "wait", "auto"},
	 "How FI_FENCE and WAR and SAR order are kept: by the device, by waiting for "
	 "reads and atomics before something is posted, or auto, which waits on rdma_rxe "
	 "(default: auto)"},
	{"durable",
	 &pvb_params.durable,
	 {"off", "on", "auto"},
	 "Connections on which a target's processor can make writes durable: on, off, or "
	 "auto, for programs that ask for FI_RMA_PMEM (default: auto)"},
	{"commit_method",
	 &pvb_params.force_message,
	 {"auto", "message"},
	 "How writes become durable: auto, as is best for the target, or message, by the "
	 "target's processor always (default: auto)"},
};

/* libfabric makes FI_PVERBS_NAME of it. */
static void pvb_param_name(const char *row, char name[32])
{
	size_t i;

	for (i = 0; row[i] && i < 31; i++)
		name[i] = (char)toupper((unsigned char)row[i]);
	name[i] = '\0';
}

static void pvb_param_refuse(const struct pvb_param_row *row)
{
	char name[32];

	pvb_param_name(row->name, name);
	PVB_WARN(FI_LOG_CORE, "FI_PVERBS_%s is outside %d to %d: ignored\n", name,
		 row->min, row->max);
}

static void pvb_word_read(const struct pvb_word_row *row)
{
	char name[32], *word = NULL;
	int i;

	fi_param_define(&pvb_prov, row->name, FI_PARAM_STRING, "%s", row->help);
	if (fi_param_get(&pvb_prov, row->name, &word))
		return;
	for (i = 0; row->words[i]; i++) {
		if (strcmp(row->words[i], word) == 0) {
			*row->value = i;
			return;
		}
	}
	pvb_param_name(row->name, name);
	PVB_WARN(FI_LOG_CORE, "FI_PVERBS_%s cannot be %s: ignored\n", name, word);
}

static void pvb_param_read(const struct pvb_param_row *row)
{
	size_t size = 0;
	int number = 0;
	bool fits;

	fi_param_define(&pvb_prov, row->name, row->type, "%s", row->help);
	switch (row->type) {
	case FI_PARAM_SIZE_T:
		if (fi_param_get(&pvb_prov, row->name, &size))
			return;
		fits = size >= (size_t)row->min && size <= (size_t)row->max;
		if (fits)
			*(size_t *)row->value = size;
		break;
	case FI_PARAM_INT:
		if (fi_param_get(&pvb_prov, row->name, &number))
			return;
		fits = number >= row->min && number <= row->max;
		if (fits)
			*(int *)row->value = number;
		break;
	default:
		fi_param_get(&pvb_prov, row->name, row->value);
		return;
	}
	if (!fits)
		pvb_param_refuse(row);
}

static void pvb_fork_init(void)
{
	int err = ibv_fork_init();

	if (err)
		PVB_WARN(FI_LOG_CORE,
			 "FI_PVERBS_FORK_SAFE: %s; memory registered before stays "
			 "unsafe\n",
			 strerror(err));
}

FI_EXT_INI;
FI_EXT_INI
{
	size_t i;

	/*
	 * libfabric leaves a provider out, without a word, for every program that asks
	 * for a version above the provider's: so one binary declares the version of
	 * whichever library loads it.
	 */
	pvb_prov.fi_version = fi_version();
	for (i = 0; i < CRN_COUNT(pvb_param_rows); i++)
		pvb_param_read(&pvb_param_rows[i]);
	for (i = 0; i < CRN_COUNT(pvb_word_rows); i++)
		pvb_word_read(&pvb_word_rows[i]);
	/* Only before the process registers any memory (ibv_fork_init(3)). */
	if (pvb_params.fork_safe)
		pvb_fork_init();
	return &pvb_prov;
}
