/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What this machine knows of its own persistent memory, and from where. Three sources, in
 * this order: declared by the administrator (a configuration file, or FI_PVERBS_*),
 * detected (sysfs, the kind of mapping, the kind of device), and the safe default. Only
 * the target of an operation may say what its memory is like.
 */
#ifndef PVB_FACTS_H
#define PVB_FACTS_H

#include <stddef.h>
#include <infiniband/verbs.h>
#include "desc.h"

enum pvb_source { PVB_SOURCE_DEFAULT, PVB_SOURCE_DETECTED, PVB_SOURCE_DECLARED };

struct pvb_facts {
	struct pvb_desc desc;
	enum pvb_source domain_source, ddio_source, persistent_source, software_source;
	char where[64]; /* of the memory: "dax0.0", a file's name, "" when it is anonymous
			 */
};

/*
 * Facts of len bytes at addr as verbs' device would make them visible. desc.persistent is
 * false when nothing says that the memory is persistent. desc.flush and desc.atomic_write
 * say what the device offers; whether a registration got it, the caller decides;
 * desc.readable is false. 0 or a negative code: a configuration file that cannot be read
 * is -FI_EINVAL, and said in the log.
 */
int pvb_facts_of(struct ibv_context *verbs, const void *addr, size_t len,
		 struct pvb_facts *facts);

#endif
