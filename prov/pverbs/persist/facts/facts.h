/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Facts about this machine's own persistent memory, and the source of each. Three
 * sources, in this order: declared by the administrator (a configuration file, or
 * FI_PVERBS_*), detected (sysfs, the kind of mapping, the kind of device), and the safe
 * default. Only the target of an operation knows the facts of its memory; an initiator
 * never changes them.
 */
#ifndef PVB_PERSIST_FACTS_FACTS_H
#define PVB_PERSIST_FACTS_FACTS_H

#include <stddef.h>
#include <infiniband/verbs.h>
#include "device/device.h"
#include "wire/wire.h"

struct pvb_declarations;
struct pvb_found;

enum pvb_source { PVB_SOURCE_DEFAULT, PVB_SOURCE_DETECTED, PVB_SOURCE_DECLARED };

struct pvb_facts {
	struct pvb_key_attr key_attr;
	/* What lies in receive buffers there is applied again by recovery; never without
	 * a declaration. */
	bool replay;
	struct pvb_native native; /* of the device */
	enum pvb_source domain_source, ddio_source, persistent_source, software_source;
	const char *kind; /* of memory, for messages: "fsdax, MAP_SYNC"; static */
	char where[64];	  /* of the memory: "/dev/dax0.0", a file's name, "" when it is
			   * anonymous; the end of a long one */
};

/* facts.c */

/*
 * The same from what is known already, without flush and atomic_write, and for any
 * machine.
 */
int pvb_facts_range(const struct pvb_host *host, const struct pvb_adapter *adapter,
		    const struct pvb_declarations *declared, uintptr_t begin, size_t len,
		    struct pvb_facts *facts);

/*
 * Facts of one piece of memory with that name: declared before detected before the safe
 * default (DMP, DDIO on). What a declaration makes less safe than what was found is said
 * in the log.
 */
void pvb_facts_combine(const struct pvb_adapter *adapter,
		       const struct pvb_declarations *declared,
		       const struct pvb_found *found, const char *name,
		       struct pvb_facts *facts);

#endif
