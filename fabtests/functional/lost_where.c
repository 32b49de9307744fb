/* SPDX-License-Identifier: BSD-2-Clause */
#include <unistd.h>

#include "lost_where.h"

/* In each process. */
static int whereabouts[2];

int fct_lost_where_open(void)
{
	return pipe(whereabouts);
}

int fct_lost_where_tell(const struct fct_where *where)
{
	return write(whereabouts[1], where, sizeof(*where)) == sizeof(*where) ? 0 : -1;
}

int fct_lost_where_hear(struct fct_where *where)
{
	return read(whereabouts[0], where, sizeof(*where)) == sizeof(*where) ? 0 : -1;
}

void fct_lost_where_only_hear(void)
{
	close(whereabouts[1]);
}

void fct_lost_where_close(void)
{
	close(whereabouts[0]);
	close(whereabouts[1]);
}
