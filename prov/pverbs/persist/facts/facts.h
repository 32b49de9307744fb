/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Facts about this machine's own persistent memory as a verbs device sees it: those of
 * the memory (cairn/pmem.h), and of the device's way to it.
 */
#ifndef PVB_PERSIST_FACTS_FACTS_H
#define PVB_PERSIST_FACTS_FACTS_H

#include <stddef.h>
#include <infiniband/verbs.h>
#include <cairn/pmem.h>
#include "device/device.h"
#include "wire/wire.h"

struct pvb_facts {
	struct crn_pmem_facts mem;
	struct pvb_key_attr key_attr;
	/* What lies in receive buffers there is applied again by recovery; never without
	 * a declaration. */
	bool replay;
	struct pvb_native native; /* of the device */
	enum crn_pmem_source ddio_source, software_source;
};

/* facts.c */

/* What the environment declares. As crn_pmem_declare. */
int pvb_facts_declare(struct crn_pmem_declarations **declared);

/*
 * The same from what is known already, without flush and atomic_write, and for any
 * machine.
 */
int pvb_facts_range(const struct crn_host *host, const struct pvb_adapter *adapter,
		    const struct crn_pmem_declarations *declared, uintptr_t begin,
		    size_t len, struct pvb_facts *facts);

/*
 * Facts of one piece of memory with that name: declared before detected before the safe
 * default (DMP, DDIO on). What a declaration makes less safe than what was found is said
 * in the log.
 */
void pvb_facts_combine(const struct pvb_adapter *adapter,
		       const struct crn_pmem_declarations *declared,
		       const struct crn_pmem_found *found, const char *name,
		       struct pvb_facts *facts);

#endif
