/* SPDX-License-Identifier: BSD-2-Clause */
/* In place of rpma.c where the headers of librpma are not installed. */
#include "rpma.h"

const char *rlg_rpma_missing(void)
{
	return "this fi_remotelog was built without librpma: it needs the package "
	       "librpma-dev where it is configured";
}

int rlg_rpma_listen(struct rlg_rpma **rpma, const struct rlg_medium *medium,
		    const char *address, unsigned int *port, int timeout)
{
	return -FI_ENOSYS;
}

int rlg_rpma_accept(struct rlg_rpma *rpma)
{
	return -FI_ENOSYS;
}

int rlg_rpma_connect(struct rlg_rpma **rpma, const struct rlg_options *options,
		     unsigned int port, uint8_t *out, size_t size)
{
	return -FI_ENOSYS;
}

int rlg_rpma_post(struct rlg_rpma *rpma, uint8_t act, const uint8_t *from, size_t len,
		  size_t at, void *context)
{
	return -FI_ENOSYS;
}

int rlg_rpma_poll(struct rlg_rpma *rpma, void **context)
{
	return -FI_ENOSYS;
}

void rlg_rpma_close(struct rlg_rpma *rpma)
{
}
