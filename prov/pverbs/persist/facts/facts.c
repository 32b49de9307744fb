/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <cairn/pmem.h>
#include "device/device.h"
#include "persist/persist.h"
#include "wire/wire.h"
#include "facts.h"

/* What the adapter is, without declarations of the administrator. */
static void pvb_facts_adapter(const struct pvb_adapter *adapter, struct pvb_facts *facts)
{
	facts->key_attr.ddio = true;
	facts->key_attr.software = adapter->software;
	if (*adapter->driver)
		facts->software_source = CRN_PMEM_DETECTED;
	if (adapter->software)
		facts->ddio_source = facts->software_source;
}

/*
 * simverbs declares what it models: a machine around its persistent file. Toward any
 * other memory it is software.
 */
static void pvb_facts_simverbs(const struct pvb_adapter *adapter, const char *name,
			       struct crn_pmem_found *found, struct pvb_facts *facts)
{
	facts->software_source = CRN_PMEM_DECLARED;
	facts->ddio_source = CRN_PMEM_DECLARED;
	if (!*adapter->mapping || strcmp(adapter->mapping, name) != 0) {
		facts->key_attr.software = true;
		return;
	}
	facts->key_attr.ddio = adapter->ddio;
	found->modelled = true;
	found->domain_known = adapter->domain_known;
	found->domain = adapter->domain;
	found->reported[0] = '\0';
	if (found->refused)
		return;
	found->kind = "simverbs' persistent file";
	found->persistent = true;
}

static void pvb_facts_ddio(const struct crn_pmem_declared *said, struct pvb_facts *facts)
{
	if (!said->ddio && facts->key_attr.software) {
		PVB_WARN(
			FI_LOG_MR,
			"%s: DDIO is declared off, but a software device writes with the "
			"processor, so data goes to its cache: the declaration is "
			"ignored\n",
			facts->mem.where);
		return;
	}
	if (!said->ddio && facts->key_attr.ddio && facts->ddio_source != CRN_PMEM_DEFAULT)
		PVB_WARN(FI_LOG_MR,
			 "%s: DDIO is declared off but the device says on: the "
			 "declaration counts, and if it is wrong a power failure loses "
			 "data that was reported durable\n",
			 facts->mem.where);
	facts->key_attr.ddio = said->ddio;
	facts->ddio_source = CRN_PMEM_DECLARED;
}

/* What the key says of the memory. */
static void pvb_facts_key(struct pvb_facts *facts)
{
	facts->key_attr.persistent = facts->mem.persistent;
	facts->key_attr.domain = facts->mem.domain;
}

void pvb_facts_combine(const struct pvb_adapter *adapter,
		       const struct crn_pmem_declarations *declared,
		       const struct crn_pmem_found *found, const char *name,
		       struct pvb_facts *facts)
{
	const struct crn_pmem_declared said = crn_pmem_declared_of(declared, name);
	struct crn_pmem_found machine = *found;

	memset(facts, 0, sizeof(*facts));
	pvb_facts_adapter(adapter, facts);
	if (adapter->simverbs)
		pvb_facts_simverbs(adapter, name, &machine, facts);
	crn_pmem_combine(&pvb_prov, &said, &machine, name, &facts->mem);
	if (said.has_ddio)
		pvb_facts_ddio(&said, facts);
	facts->replay = said.has_replay && said.replay;
	pvb_facts_key(facts);
}

/* Memory in several mappings is like the weakest of them. */
static void pvb_facts_merge(struct pvb_facts *facts, const struct pvb_facts *other)
{
	struct pvb_key_attr *attr = &facts->key_attr;
	const struct pvb_key_attr *part = &other->key_attr;

	crn_pmem_merge(&facts->mem, &other->mem);
	crn_pmem_weaker(part->ddio && !attr->ddio, part->ddio == attr->ddio,
			other->ddio_source, &facts->ddio_source);
	crn_pmem_weaker(part->software && !attr->software,
			part->software == attr->software, other->software_source,
			&facts->software_source);
	attr->ddio |= part->ddio;
	attr->software |= part->software;
	facts->replay &= other->replay;
	pvb_facts_key(facts);
}

/* A range, mapping after mapping. */
struct pvb_facts_walk {
	const struct crn_host *host;
	const struct pvb_adapter *adapter;
	const struct crn_pmem_declarations *declared;
	struct pvb_facts *facts;
	bool begun;
};

static int pvb_facts_mapping(const struct crn_pmem_mapping *mapping, void *arg)
{
	struct pvb_facts_walk *walk = arg;
	struct crn_pmem_found found;
	struct pvb_facts facts;

	crn_pmem_mapping_detect(walk->host, mapping, &found);
	pvb_facts_combine(walk->adapter, walk->declared, &found, mapping->name, &facts);
	if (walk->begun)
		pvb_facts_merge(walk->facts, &facts);
	else
		*walk->facts = facts;
	walk->begun = true;
	return 0;
}

int pvb_facts_range(const struct crn_host *host, const struct pvb_adapter *adapter,
		    const struct crn_pmem_declarations *declared, uintptr_t begin,
		    size_t len, struct pvb_facts *facts)
{
	struct pvb_facts_walk walk = {host, adapter, declared, facts, false};

	if (!len || begin + len < begin)
		return -FI_EINVAL;
	return crn_pmem_mappings(host, begin, begin + len, pvb_facts_mapping, &walk);
}

int pvb_facts_declare(struct crn_pmem_declarations **declared)
{
	const struct crn_pmem_params params = {
		.prov = &pvb_prov,
		.prefix = "FI_PVERBS",
		.config = pvb_params.pmem_config,
		.persistence = pvb_params.persistence,
		.ddio = pvb_params.ddio,
	};

	return crn_pmem_declare(&params, declared);
}

int pvb_facts_of(struct ibv_context *verbs, const void *addr, size_t len,
		 struct pvb_facts *facts)
{
	struct crn_pmem_declarations *declared;
	struct pvb_adapter adapter;
	int ret;

	ret = pvb_facts_declare(&declared);
	if (ret)
		return ret;
	pvb_adapter_detect(&crn_host, ibv_get_device_name(verbs->device),
			   pvb_facts_library(verbs), &adapter);
	ret = pvb_facts_range(&crn_host, &adapter, declared, (uintptr_t)addr, len, facts);
	free(declared);
	if (ret || pvb_native_offer(verbs, &facts->native))
		return ret;
	facts->key_attr.flush = pvb_native_access(&facts->native);
	facts->key_attr.atomic_write = facts->native.atomic_write;
	return 0;
}
