/* SPDX-License-Identifier: BSD-2-Clause */
/* What went wrong, in libfabric's words: fi_pverbs(7) has the same tables. */
#include <errno.h>
#include <stdlib.h>
#include "device.h"

static const int pvb_wc_errors[] = {
	[IBV_WC_LOC_LEN_ERR] = FI_EMSGSIZE,
	[IBV_WC_LOC_QP_OP_ERR] = FI_EINVAL,
	[IBV_WC_LOC_PROT_ERR] = FI_EFAULT,
	[IBV_WC_WR_FLUSH_ERR] = FI_ECANCELED,
	[IBV_WC_MW_BIND_ERR] = FI_EPERM,
	[IBV_WC_BAD_RESP_ERR] = FI_ECONNRESET,
	[IBV_WC_LOC_ACCESS_ERR] = FI_EKEYREJECTED,
	[IBV_WC_REM_INV_REQ_ERR] = FI_EOPNOTSUPP,
	[IBV_WC_REM_ACCESS_ERR] = FI_EACCES,
	[IBV_WC_REM_OP_ERR] = FI_EREMOTEIO,
	[IBV_WC_RETRY_EXC_ERR] = FI_ETIMEDOUT,
	[IBV_WC_RNR_RETRY_EXC_ERR] = FI_ENORX,
	[IBV_WC_REM_ABORT_ERR] = FI_ECONNABORTED,
	[IBV_WC_FATAL_ERR] = FI_EIO,
	[IBV_WC_RESP_TIMEOUT_ERR] = FI_EHOSTDOWN,
};

int pvb_wc_error(enum ibv_wc_status status, bool sent)
{
	/* A receive that is too small, rather than a send that is too large. */
	if (status == IBV_WC_LOC_LEN_ERR && !sent)
		return FI_ETRUNC;
	if ((size_t)status < CRN_COUNT(pvb_wc_errors) && pvb_wc_errors[status])
		return pvb_wc_errors[status];
	return FI_EOTHER;
}

/* The errno values that fi_errno(3) has as well; EAGAIN and EINTR are no failures there.
 */
static const int pvb_post_errors[] = {
	EPERM,	      EIO,	    EBADF,	ENOMEM,	       EACCES,	     EFAULT,
	EBUSY,	      ENODEV,	    EINVAL,	EMFILE,	       ENOSPC,	     ENOSYS,
	EOVERFLOW,    EMSGSIZE,	    EOPNOTSUPP, EADDRNOTAVAIL, ENETDOWN,     ENETUNREACH,
	ECONNABORTED, ECONNRESET,   ENOBUFS,	ENOTCONN,      ESHUTDOWN,    ETIMEDOUT,
	EHOSTDOWN,    EHOSTUNREACH, EREMOTEIO,	ECANCELED,     EKEYREJECTED,
};

int pvb_refused_error(int err)
{
	size_t i;

	if (err == -1) /* of a driver that gives no reason */
		return FI_EOTHER;
	err = abs(err); /* some drivers give it negative */
	/* Never "try again" for what will not get better. */
	if (err == EAGAIN || err == 0)
		return FI_EIO;
	for (i = 0; i < CRN_COUNT(pvb_post_errors); i++) {
		if (err == pvb_post_errors[i])
			return err;
	}
	return FI_EOTHER;
}

int pvb_post_error(int err)
{
	const int code = pvb_refused_error(err);

	/* Verbs says ENOMEM for a full queue: what is in flight makes room. */
	return code == FI_ENOMEM ? -FI_EAGAIN : -code;
}

int pvb_errno(void)
{
	return errno ? -errno : -FI_EOTHER;
}
