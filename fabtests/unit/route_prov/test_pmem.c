/* SPDX-License-Identifier: BSD-2-Clause */
/* FI_RMA_PMEM: what is offered, and which memory is taken. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/mman.h>
#include "ends.h"
#include "info.h"

#define ROUTER "router = tcp://127.0.0.1:1\n"
#define LEN 8192u

static struct fi_info *ask(struct fi_info *hints)
{
	struct fi_info *info = NULL;
	const int ret = rte_getinfo(ENDS_API, NULL, NULL, 0, hints, &info);

	CT_EXPECT_EQ(ret, info ? 0 : -FI_ENODATA);
	fi_freeinfo(hints);
	return info;
}

CT_TEST(pmem, is_offered_to_who_asks_for_it_with_rma)
{
	static const struct {
		uint64_t caps, op_flags;
		bool answered, offered;
	} rows[] = {
		{FI_MSG | FI_RMA, 0, true, false},
		{FI_MSG | FI_RMA | FI_RMA_PMEM, 0, true, true},
		{FI_MSG | FI_RMA_PMEM, 0, false, false},
		{FI_MSG | FI_RMA | FI_RMA_PMEM, FI_COMMIT_COMPLETE, true, true},
		/* Durable by default is what has somewhere to go. */
		{FI_MSG | FI_RMA, FI_COMMIT_COMPLETE, false, false},
	};
	struct fi_info *hints, *info;
	size_t i;

	ends_config(ROUTER, "");
	for (i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		hints = ends_hints(rows[i].caps);
		hints->tx_attr->op_flags = rows[i].op_flags;
		info = ask(hints);
		CT_EXPECT_EQ(info != NULL, rows[i].answered);
		if (!info)
			continue;
		CT_EXPECT_EQ(!!(info->caps & FI_RMA_PMEM), rows[i].offered);
		CT_EXPECT_EQ(info->tx_attr->op_flags & FI_COMMIT_COMPLETE,
			     rows[i].op_flags);
		fi_freeinfo(info);
	}
}

/* A file, mapped, that is declared persistent by another. */
struct declared {
	char name[64], config[64];
	uint8_t *at;
};

static void put(char name[64], const char *text)
{
	FILE *file;
	int fd;

	snprintf(name, 64, "./rte_pmem.XXXXXX");
	fd = mkstemp(name);
	CT_ASSERT_GE(fd, 0);
	file = fdopen(fd, "w");
	CT_EXPECT_GE(fputs(text, file), 0);
	fclose(file);
}

static void declare(struct declared *declared, const char *said, int how)
{
	char text[PATH_MAX + 64], *path;
	FILE *file;

	put(declared->name, "");
	CT_ASSERT_EQ(truncate(declared->name, LEN), 0);
	path = realpath(declared->name, NULL);
	snprintf(text, sizeof(text), "[path %s]\n%s\n", path, said);
	free(path);
	put(declared->config, text);
	file = fopen(declared->name, "r+");
	CT_ASSERT_NE(file, NULL);
	declared->at = mmap(NULL, LEN, PROT_READ | PROT_WRITE, how, fileno(file), 0);
	CT_ASSERT_NE(declared->at, MAP_FAILED);
	fclose(file);
	rte_params.pmem_config = declared->config;
}

static void undeclare(struct declared *declared)
{
	munmap(declared->at, LEN);
	unlink(declared->name);
	unlink(declared->config);
	rte_params.pmem_config = NULL;
}

static int reg(const struct ends *ends, void *at, size_t len, struct fid_mr **mr)
{
	return fi_mr_reg(ends->domain, at, len, FI_REMOTE_WRITE, 0, 0, FI_RMA_PMEM, mr,
			 NULL);
}

CT_TEST(pmem, memory_that_is_not_is_refused)
{
	static uint8_t memory[LEN];
	struct declared declared;
	struct fid_mr *mr = NULL;
	struct ends ends;

	ends_config(ROUTER, "");
	ends_open(&ends);
	CT_EXPECT_EQ(reg(&ends, memory, LEN, &mr), -FI_EOPNOTSUPP);
	CT_EXPECT_WARNED("FI_RMA_PMEM 8192 FI_ROUTE_PMEM_CONFIG");
	declare(&declared, "persistent = no", MAP_SHARED);
	CT_EXPECT_EQ(reg(&ends, declared.at, LEN, &mr), -FI_EOPNOTSUPP);
	undeclare(&declared);
	declare(&declared, "persistent = yes", MAP_PRIVATE);
	CT_EXPECT_EQ(reg(&ends, declared.at, LEN, &mr), -FI_EOPNOTSUPP);
	undeclare(&declared);
	rte_params.pmem_config = "rte_pmem.missing";
	CT_EXPECT_EQ(reg(&ends, memory, LEN, &mr), -FI_EINVAL);
	rte_params.pmem_config = NULL;
	CT_EXPECT_EQ(mr, NULL);
	ends_close(&ends);
}

static struct rte_mr *rte_mr_of(struct fid_mr *mr)
{
	return crn_container_of(mr, struct rte_mr, fid);
}

CT_TEST(pmem, memory_that_is_declared_is_taken_with_its_domain)
{
	struct declared declared;
	struct fid_mr *mr;
	struct ends ends;

	ends_config(ROUTER, "");
	ends_open(&ends);
	declare(&declared, "persistent = yes", MAP_SHARED);
	CT_ASSERT_EQ(reg(&ends, declared.at, LEN, &mr), 0);
	CT_EXPECT_TRUE(rte_mr_persistent(NULL, &rte_mr_of(mr)->mr));
	CT_EXPECT_TRUE(rte_mr_of(mr)->flush);
	CT_EXPECT_EQ(fi_close(&mr->fid), 0);
	/* The same memory, without the flag. */
	CT_ASSERT_EQ(fi_mr_reg(ends.domain, declared.at, LEN, FI_REMOTE_WRITE, 0, 0, 0,
			       &mr, NULL),
		     0);
	CT_EXPECT_FALSE(rte_mr_persistent(NULL, &rte_mr_of(mr)->mr));
	CT_EXPECT_EQ(fi_close(&mr->fid), 0);
	undeclare(&declared);
	declare(&declared, "persistent = yes\npersistence = mhp", MAP_SHARED);
	CT_ASSERT_EQ(reg(&ends, declared.at, LEN, &mr), 0);
	CT_EXPECT_FALSE(rte_mr_of(mr)->flush);
	CT_EXPECT_EQ(fi_close(&mr->fid), 0);
	undeclare(&declared);
	ends_close(&ends);
}
