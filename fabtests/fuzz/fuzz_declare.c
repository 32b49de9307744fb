/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that declare persistent memory, as somebody may have written them. */
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/pmem.h>
#include "fuzz.h"

/* What is noted is a value, and a path is one. */
static void check_said(const struct crn_pmem_declared *said)
{
	FUZZ_CHECK(said->domain <= CRN_WSP);
	FUZZ_CHECK(said->has_domain || said->domain == CRN_DMP);
	FUZZ_CHECK(said->has_ddio || !said->ddio);
	FUZZ_CHECK(said->has_persistent || !said->persistent);
	FUZZ_CHECK(said->has_replay || !said->replay);
}

static void check_paths(const struct crn_pmem_declarations *all)
{
	struct crn_pmem_declared said;
	size_t len;

	FUZZ_CHECK(all->count <= CRN_PMEM_DECLARE_PATHS);
	FUZZ_CHECK(!all->host.has_persistent);
	for (size_t i = 0; i < all->count; i++) {
		len = strnlen(all->path[i].name, CRN_PMEM_DECLARE_PATH);
		FUZZ_CHECK(len && len < CRN_PMEM_DECLARE_PATH &&
			   *all->path[i].name == '/');
		check_said(&all->path[i].said);
		/* What is said of a path counts for it. */
		said = crn_pmem_declared_of(all, all->path[i].name);
		check_said(&said);
		FUZZ_CHECK(!all->path[i].said.has_domain ||
			   said.domain == all->path[i].said.domain);
		FUZZ_CHECK(!all->path[i].said.has_ddio ||
			   said.ddio == all->path[i].said.ddio);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct crn_pmem_declarations *all = calloc(1, sizeof(*all));
	char error[100];
	int ret = crn_pmem_declare_parse((const char *)data, size, all, error,
					 sizeof(error));

	FUZZ_CHECK(ret == 0 || ret == -FI_EINVAL);
	FUZZ_CHECK(strnlen(error, sizeof(error)) < sizeof(error));
	FUZZ_CHECK(!ret == !*error);
	FUZZ_CHECK(!ret || !strncmp(error, "line ", 5));
	check_said(&all->host);
	check_paths(all);
	free(all);
	return 0;
}
