/* SPDX-License-Identifier: BSD-2-Clause */
/* Which of a process' memory is persistent, and the processor's flushes of it. */
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "engine/engine.h"
#include "model.h"

bool svb_medium_find(const void *addr, size_t len, uint64_t *offset)
{
	uintptr_t at = (uintptr_t)addr, from, to;
	struct svb_medium *own = svb_medium_own();
	char *line = NULL, path[256];
	uint64_t start = 0;
	bool found = false;
	size_t size = 0;
	FILE *maps;

	maps = own && len ? fopen("/proc/self/maps", "re") : NULL;
	while (maps && !found && getline(&line, &size, maps) > 0)
		/* Address range, rights, offset, device, inode, path: proc(5). */
		found = sscanf(line,
			       "%" SCNxPTR "-%" SCNxPTR " %*s %" SCNx64 " %*s %*s %255s",
			       &from, &to, &start, path) == 4 &&
			at >= from && at < to && len <= to - at &&
			!strcmp(path, own->shadow);
	if (found)
		*offset = start + (at - from);
	free(line);
	if (maps)
		fclose(maps);
	return found;
}

static void svb_flush(uint64_t offset, size_t len)
{
	struct svb_medium *own = svb_medium_own();
	struct svb_touched touched = {0};
	struct svb_shared *shared = own->shared;

	svb_lock(&shared->lock);
	if (shared->off)
		_exit(SVB_POWER_STATUS);
	svb_model_only(own, 0);
	if (!shared->explore)
		svb_model_turn(own, 0, &touched);
	svb_machine_flush(&own->machine, offset, len);
	svb_unlock(&shared->lock);
	svb_model_advance(&touched);
}

/* The child of a fork comes here without having joined. */
static struct svb_medium *svb_on_machine(void)
{
	return svb_medium_wanted() && !svb_join() ? svb_medium_own() : NULL;
}

bool svb_medium_flush(const void *addr, size_t len)
{
	uint64_t offset;

	if (!svb_on_machine() || !svb_medium_find(addr, len, &offset))
		return false;
	svb_flush(offset, len);
	return true;
}

void svb_medium_sync(void)
{
	struct svb_medium *own = svb_on_machine();

	if (own)
		svb_flush(0, own->machine.size);
}

const char *svb_medium_path(const char *path)
{
	const char *wanted = svb_self.settings.persistent, *name, *end;
	char real[PATH_MAX];

	if (!svb_medium_wanted())
		return path;
	/* Most paths have another last part. */
	name = strrchr(path, '/');
	end = strrchr(wanted, '/');
	if (strcmp(name ? name + 1 : path, end ? end + 1 : wanted) ||
	    !realpath(path, real) || strcmp(real, wanted) || !svb_on_machine())
		return path;
	return svb_medium_own()->shadow;
}
