/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_log.h>
#include <cairn/compat.h>
#include <cairn/pmem.h>

const char *crn_pmem_source_name(enum crn_pmem_source source)
{
	static const char *const names[] = {"default", "detected", "declared"};

	return names[source];
}

const char *crn_persistence_name(enum crn_persistence domain)
{
	static const char *const names[] = {"DMP", "MHP", "WSP"};

	return names[domain];
}

/* Long names differ at their end. */
static void facts_where(struct crn_pmem_facts *facts, const char *name)
{
	const size_t len = strlen(name), room = sizeof(facts->where) - 1;

	if (len <= room)
		memcpy(facts->where, name, len + 1);
	else
		snprintf(facts->where, sizeof(facts->where), "...%s",
			 name + len - (room - 3));
}

/* What is known without declarations of the administrator. */
static void facts_machine(const struct crn_pmem_found *found,
			  struct crn_pmem_facts *facts)
{
	facts->kind = found->kind;
	facts->persistent = found->persistent;
	facts->domain = found->domain_known ? found->domain : CRN_DMP;
	if (found->persistent)
		facts->persistent_source =
			found->modelled ? CRN_PMEM_DECLARED : CRN_PMEM_DETECTED;
	if (found->modelled)
		facts->domain_source = CRN_PMEM_DECLARED;
	else if (found->domain_known)
		facts->domain_source = CRN_PMEM_DETECTED;
}

static void facts_persistent(const struct fi_provider *prov,
			     const struct crn_pmem_declared *said,
			     const struct crn_pmem_found *found,
			     struct crn_pmem_facts *facts)
{
	if (said->persistent && found->refused) {
		FI_WARN(prov, FI_LOG_MR,
			"%s is declared persistent but is %s: the declaration is "
			"ignored\n",
			facts->where, found->kind);
		return;
	}
	if (said->persistent && !facts->persistent)
		FI_WARN(prov, FI_LOG_MR,
			"%s counts as persistent memory only because it is declared so: "
			"it is %s\n",
			facts->where, found->kind);
	facts->persistent = said->persistent;
	facts->persistent_source = CRN_PMEM_DECLARED;
}

static void facts_domain(const struct fi_provider *prov,
			 const struct crn_pmem_declared *said,
			 const struct crn_pmem_found *found, struct crn_pmem_facts *facts)
{
	const char *reported =
		*found->reported ? found->reported : crn_persistence_name(found->domain);

	if (found->domain_known && said->domain > found->domain)
		FI_WARN(prov, FI_LOG_MR,
			"%s is declared %s but the machine reports %s: the declaration "
			"counts, and if it is wrong a power failure loses data that was "
			"reported durable\n",
			facts->where, crn_persistence_name(said->domain), reported);
	else if (found->domain_known && said->domain < found->domain)
		FI_INFO(prov, FI_LOG_MR,
			"%s is declared %s, less than the machine's %s\n", facts->where,
			crn_persistence_name(said->domain), reported);
	facts->domain = said->domain;
	facts->domain_source = CRN_PMEM_DECLARED;
}

void crn_pmem_combine(const struct fi_provider *prov,
		      const struct crn_pmem_declared *said,
		      const struct crn_pmem_found *found, const char *name,
		      struct crn_pmem_facts *facts)
{
	memset(facts, 0, sizeof(*facts));
	facts_where(facts, name);
	facts_machine(found, facts);
	if (said->has_persistent)
		facts_persistent(prov, said, found, facts);
	if (said->has_domain)
		facts_domain(prov, said, found, facts);
}

void crn_pmem_weaker(bool weaker, bool same, enum crn_pmem_source other,
		     enum crn_pmem_source *source)
{
	if (weaker || (same && other < *source))
		*source = other;
}

void crn_pmem_merge(struct crn_pmem_facts *facts, const struct crn_pmem_facts *other)
{
	const bool lost = facts->persistent && !other->persistent;

	if (lost) {
		memcpy(facts->where, other->where, sizeof(facts->where));
		facts->kind = other->kind;
	}
	crn_pmem_weaker(lost, facts->persistent == other->persistent,
			other->persistent_source, &facts->persistent_source);
	crn_pmem_weaker(other->domain < facts->domain, other->domain == facts->domain,
			other->domain_source, &facts->domain_source);
	facts->persistent &= other->persistent;
	facts->domain = CRN_MIN(facts->domain, other->domain);
}

/* A range, mapping after mapping. */
struct facts_walk {
	const struct fi_provider *prov;
	const struct crn_pmem_declarations *declared;
	struct crn_pmem_facts *facts;
	bool begun;
};

static int facts_mapping(const struct crn_pmem_mapping *mapping, void *arg)
{
	struct facts_walk *walk = arg;
	const struct crn_pmem_declared said =
		crn_pmem_declared_of(walk->declared, mapping->name);
	struct crn_pmem_found found;
	struct crn_pmem_facts facts;

	crn_pmem_mapping_detect(&crn_host, mapping, &found);
	crn_pmem_combine(walk->prov, &said, &found, mapping->name, &facts);
	if (walk->begun)
		crn_pmem_merge(walk->facts, &facts);
	else
		*walk->facts = facts;
	walk->begun = true;
	return 0;
}

int crn_pmem_facts_of(const struct crn_pmem_params *params, const void *addr, size_t len,
		      struct crn_pmem_facts *facts)
{
	const uintptr_t begin = (uintptr_t)addr;
	struct facts_walk walk = {.prov = params->prov, .facts = facts};
	struct crn_pmem_declarations *declared;
	int ret;

	if (!len || begin + len < begin)
		return -FI_EINVAL;
	ret = crn_pmem_declare(params, &declared);
	if (ret)
		return ret;
	walk.declared = declared;
	ret = crn_pmem_mappings(&crn_host, begin, begin + len, facts_mapping, &walk);
	free(declared);
	return ret;
}
