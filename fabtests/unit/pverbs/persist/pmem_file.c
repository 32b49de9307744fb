/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include "../world.h"
#include "pmem_file.h"

bool pmem_file_open(struct pmem_file *pm, size_t len, const char *say)
{
	char cwd[128], text[400];
	int fd, size;

	pm->len = len;
	strcpy(pm->file, "pvb_pmem.XXXXXX");
	fd = mkstemp(pm->file);
	CT_EXPECT_EQ(ftruncate(fd, (off_t)len), 0);
	pm->mem = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	strcpy(pm->config, "pvb_pmem.XXXXXX");
	fd = mkstemp(pm->config);
	size = snprintf(text, sizeof(text), "[path %s/%s]\n%s",
			getcwd(cwd, sizeof(cwd)) ? cwd : "", pm->file, say);
	CT_EXPECT_EQ(write(fd, text, (size_t)size), size);
	close(fd);
	pvb_params.pmem_config = pm->config;
	return pm->mem != MAP_FAILED;
}

void pmem_file_close(struct pmem_file *pm)
{
	munmap(pm->mem, pm->len);
	unlink(pm->file);
	unlink(pm->config);
}
