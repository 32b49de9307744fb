/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "device/device.h"
#include "persist/persist.h"
#include "wire/wire.h"
#include "declare.h"
#include "detect.h"
#include "facts.h"

const char *pvb_source_name(enum pvb_source source)
{
	static const char *const names[] = {"default", "detected", "declared"};

	return names[source];
}

const char *pvb_persistence_name(enum pvb_persistence domain)
{
	static const char *const names[] = {"DMP", "MHP", "WSP"};

	return names[domain];
}

/* Long names differ at their end. */
static void pvb_facts_where(struct pvb_facts *facts, const char *name)
{
	const size_t len = strlen(name), room = sizeof(facts->where) - 1;

	if (len <= room)
		memcpy(facts->where, name, len + 1);
	else
		snprintf(facts->where, sizeof(facts->where), "...%s",
			 name + len - (room - 3));
}

/* What is known without declarations of the administrator. */
static void pvb_facts_machine(const struct pvb_adapter *adapter,
			      const struct pvb_found *found, struct pvb_facts *facts)
{
	facts->kind = found->kind;
	facts->key_attr.persistent = found->persistent;
	facts->key_attr.domain = found->domain_known ? found->domain : PVB_DMP;
	facts->key_attr.ddio = true;
	facts->key_attr.software = adapter->software;
	if (found->persistent)
		facts->persistent_source = PVB_SOURCE_DETECTED;
	if (found->domain_known)
		facts->domain_source = PVB_SOURCE_DETECTED;
	if (*adapter->driver)
		facts->software_source = PVB_SOURCE_DETECTED;
	if (adapter->software)
		facts->ddio_source = facts->software_source;
}

/*
 * simverbs declares what it models: a machine around its persistent file. Toward any
 * other memory it is software.
 */
static void pvb_facts_simverbs(const struct pvb_adapter *adapter, const char *name,
			       struct pvb_found *found, struct pvb_facts *facts)
{
	const enum pvb_source declared = PVB_SOURCE_DECLARED;

	facts->software_source = declared;
	facts->ddio_source = declared;
	if (!*adapter->mapping || strcmp(adapter->mapping, name) != 0) {
		facts->key_attr.software = true;
		return;
	}
	facts->key_attr.ddio = adapter->ddio;
	facts->key_attr.domain = adapter->domain;
	facts->domain_source = declared;
	found->domain_known = adapter->domain_known;
	found->domain = adapter->domain;
	found->reported[0] = '\0';
	if (found->refused)
		return;
	found->kind = "simverbs' persistent file";
	facts->kind = found->kind;
	facts->key_attr.persistent = true;
	facts->persistent_source = declared;
}

static void pvb_facts_persistent(const struct pvb_declared *said,
				 const struct pvb_found *found, struct pvb_facts *facts)
{
	if (said->persistent && found->refused) {
		PVB_WARN(FI_LOG_MR,
			 "%s is declared persistent but is %s: the declaration is "
			 "ignored\n",
			 facts->where, found->kind);
		return;
	}
	if (said->persistent && !facts->key_attr.persistent)
		PVB_WARN(FI_LOG_MR,
			 "%s counts as persistent memory only because it is declared so: "
			 "it is %s\n",
			 facts->where, found->kind);
	facts->key_attr.persistent = said->persistent;
	facts->persistent_source = PVB_SOURCE_DECLARED;
}

static void pvb_facts_domain(const struct pvb_declared *said,
			     const struct pvb_found *found, struct pvb_facts *facts)
{
	const char *reported =
		*found->reported ? found->reported : pvb_persistence_name(found->domain);

	if (found->domain_known && said->domain > found->domain)
		PVB_WARN(FI_LOG_MR,
			 "%s is declared %s but the machine reports %s: the declaration "
			 "counts, and if it is wrong a power failure loses data that was "
			 "reported durable\n",
			 facts->where, pvb_persistence_name(said->domain), reported);
	else if (found->domain_known && said->domain < found->domain)
		PVB_INFO(FI_LOG_MR, "%s is declared %s, less than the machine's %s\n",
			 facts->where, pvb_persistence_name(said->domain), reported);
	facts->key_attr.domain = said->domain;
	facts->domain_source = PVB_SOURCE_DECLARED;
}

static void pvb_facts_ddio(const struct pvb_declared *said, struct pvb_facts *facts)
{
	if (!said->ddio && facts->key_attr.software) {
		PVB_WARN(
			FI_LOG_MR,
			"%s: DDIO is declared off, but a software device writes with the "
			"processor, so data goes to its cache: the declaration is "
			"ignored\n",
			facts->where);
		return;
	}
	if (!said->ddio && facts->key_attr.ddio &&
	    facts->ddio_source != PVB_SOURCE_DEFAULT)
		PVB_WARN(FI_LOG_MR,
			 "%s: DDIO is declared off but the device says on: the "
			 "declaration counts, and if it is wrong a power failure loses "
			 "data that was reported durable\n",
			 facts->where);
	facts->key_attr.ddio = said->ddio;
	facts->ddio_source = PVB_SOURCE_DECLARED;
}

void pvb_facts_combine(const struct pvb_adapter *adapter,
		       const struct pvb_declarations *declared,
		       const struct pvb_found *found, const char *name,
		       struct pvb_facts *facts)
{
	const struct pvb_declared said = pvb_declared_of(declared, name);
	struct pvb_found machine = *found;

	memset(facts, 0, sizeof(*facts));
	pvb_facts_where(facts, name);
	pvb_facts_machine(adapter, &machine, facts);
	if (adapter->simverbs)
		pvb_facts_simverbs(adapter, name, &machine, facts);
	if (said.has_persistent)
		pvb_facts_persistent(&said, &machine, facts);
	if (said.has_domain)
		pvb_facts_domain(&said, &machine, facts);
	if (said.has_ddio)
		pvb_facts_ddio(&said, facts);
	facts->replay = said.has_replay && said.replay;
}

/* Of two facts the less safe one is kept; of equal facts, the weaker source. */
static void pvb_facts_weaker(bool weaker, bool same, enum pvb_source other,
			     enum pvb_source *source)
{
	if (weaker || (same && other < *source))
		*source = other;
}

/* Memory in several mappings is like the weakest of them. */
static void pvb_facts_merge(struct pvb_facts *facts, const struct pvb_facts *other)
{
	struct pvb_key_attr *attr = &facts->key_attr;
	const struct pvb_key_attr *part = &other->key_attr;

	if (attr->persistent && !part->persistent) {
		memcpy(facts->where, other->where, sizeof(facts->where));
		facts->kind = other->kind;
	}
	pvb_facts_weaker(attr->persistent && !part->persistent,
			 attr->persistent == part->persistent, other->persistent_source,
			 &facts->persistent_source);
	pvb_facts_weaker(part->domain < attr->domain, part->domain == attr->domain,
			 other->domain_source, &facts->domain_source);
	pvb_facts_weaker(part->ddio && !attr->ddio, part->ddio == attr->ddio,
			 other->ddio_source, &facts->ddio_source);
	pvb_facts_weaker(part->software && !attr->software,
			 part->software == attr->software, other->software_source,
			 &facts->software_source);
	attr->persistent &= part->persistent;
	attr->domain = CRN_MIN(attr->domain, part->domain);
	attr->ddio |= part->ddio;
	attr->software |= part->software;
	facts->replay &= other->replay;
}

/* A range, mapping after mapping. */
struct pvb_facts_walk {
	const struct pvb_host *host;
	const struct pvb_adapter *adapter;
	const struct pvb_declarations *declared;
	struct pvb_facts *facts;
	bool begun;
};

static int pvb_facts_mapping(const struct pvb_mapping *mapping, void *arg)
{
	struct pvb_facts_walk *walk = arg;
	struct pvb_found found;
	struct pvb_facts facts;

	pvb_mapping_detect(walk->host, mapping, &found);
	pvb_facts_combine(walk->adapter, walk->declared, &found, mapping->name, &facts);
	if (walk->begun)
		pvb_facts_merge(walk->facts, &facts);
	else
		*walk->facts = facts;
	walk->begun = true;
	return 0;
}

int pvb_facts_range(const struct pvb_host *host, const struct pvb_adapter *adapter,
		    const struct pvb_declarations *declared, uintptr_t begin, size_t len,
		    struct pvb_facts *facts)
{
	struct pvb_facts_walk walk = {host, adapter, declared, facts, false};

	if (!len || begin + len < begin)
		return -FI_EINVAL;
	return pvb_mappings(host, begin, begin + len, pvb_facts_mapping, &walk);
}

int pvb_facts_of(struct ibv_context *verbs, const void *addr, size_t len,
		 struct pvb_facts *facts)
{
	struct pvb_declarations *declared;
	struct pvb_adapter adapter;
	int ret;

	ret = pvb_declare(&declared);
	if (ret)
		return ret;
	pvb_adapter_detect(&pvb_host, ibv_get_device_name(verbs->device),
			   pvb_facts_library(verbs), &adapter);
	ret = pvb_facts_range(&pvb_host, &adapter, declared, (uintptr_t)addr, len, facts);
	free(declared);
	if (ret || pvb_native_offer(verbs, &facts->native))
		return ret;
	facts->key_attr.flush = pvb_native_access(&facts->native);
	facts->key_attr.atomic_write = facts->native.atomic_write;
	return 0;
}
