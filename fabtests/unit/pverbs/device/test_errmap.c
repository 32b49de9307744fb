/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include "../world.h"

/* fi_pverbs(7), "ERRORS". */
CT_TEST(errmap, a_completion_status_has_the_code_of_the_manual)
{
	static const struct {
		enum ibv_wc_status status;
		int sent, received;
	} rows[] = {
		{IBV_WC_LOC_LEN_ERR, FI_EMSGSIZE, FI_ETRUNC},
		{IBV_WC_LOC_QP_OP_ERR, FI_EINVAL, FI_EINVAL},
		{IBV_WC_LOC_PROT_ERR, FI_EFAULT, FI_EFAULT},
		{IBV_WC_WR_FLUSH_ERR, FI_ECANCELED, FI_ECANCELED},
		{IBV_WC_MW_BIND_ERR, FI_EPERM, FI_EPERM},
		{IBV_WC_BAD_RESP_ERR, FI_ECONNRESET, FI_ECONNRESET},
		{IBV_WC_LOC_ACCESS_ERR, FI_EKEYREJECTED, FI_EKEYREJECTED},
		{IBV_WC_REM_INV_REQ_ERR, FI_EOPNOTSUPP, FI_EOPNOTSUPP},
		{IBV_WC_REM_ACCESS_ERR, FI_EACCES, FI_EACCES},
		{IBV_WC_REM_OP_ERR, FI_EREMOTEIO, FI_EREMOTEIO},
		{IBV_WC_RETRY_EXC_ERR, FI_ETIMEDOUT, FI_ETIMEDOUT},
		{IBV_WC_RNR_RETRY_EXC_ERR, FI_ENORX, FI_ENORX},
		{IBV_WC_REM_ABORT_ERR, FI_ECONNABORTED, FI_ECONNABORTED},
		{IBV_WC_FATAL_ERR, FI_EIO, FI_EIO},
		{IBV_WC_RESP_TIMEOUT_ERR, FI_EHOSTDOWN, FI_EHOSTDOWN},
		{IBV_WC_LOC_EEC_OP_ERR, FI_EOTHER, FI_EOTHER},
		{IBV_WC_GENERAL_ERR, FI_EOTHER, FI_EOTHER},
		{IBV_WC_TM_ERR, FI_EOTHER, FI_EOTHER},
		{(enum ibv_wc_status)1000, FI_EOTHER, FI_EOTHER},
	};

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s", ibv_wc_status_str(rows[i].status));
		CT_EXPECT_EQ(pvb_wc_error(rows[i].status, true), rows[i].sent);
		CT_EXPECT_EQ(pvb_wc_error(rows[i].status, false), rows[i].received);
	}
}

CT_TEST(errmap, no_status_of_an_error_is_a_success)
{
	for (int status = IBV_WC_LOC_LEN_ERR; status <= IBV_WC_TM_RNDV_INCOMPLETE;
	     status++)
		CT_EXPECT_GT(pvb_wc_error((enum ibv_wc_status)status, true), 0);
}

CT_TEST(errmap, a_full_device_queue_says_try_again)
{
	CT_EXPECT_EQ(pvb_post_error(ENOMEM), -FI_EAGAIN);
}

CT_TEST(errmap, no_other_refused_post_says_try_again)
{
	static const int errors[] = {0, EAGAIN, EINVAL, EFAULT, EIO, ENODEV};

	for (size_t i = 0; i < CRN_COUNT(errors); i++) {
		CT_NOTE("%d", errors[i]);
		CT_EXPECT_LT(pvb_post_error(errors[i]), 0);
		CT_EXPECT_NE(pvb_post_error(errors[i]), -FI_EAGAIN);
	}
	CT_EXPECT_EQ(pvb_post_error(EINVAL), -FI_EINVAL);
}

/* fi_errno(3) */
CT_TEST(errmap, every_refusal_has_a_code_of_libfabric)
{
	for (int err = -200; err <= 200; err++) {
		CT_NOTE("%d", err);
		CT_EXPECT_GT(pvb_refused_error(err), 0);
		CT_EXPECT_NE(pvb_refused_error(err), FI_EAGAIN);
	}
	CT_EXPECT_EQ(pvb_refused_error(ENODEV), FI_ENODEV);
	CT_EXPECT_EQ(pvb_refused_error(ENOMEM), FI_ENOMEM);
	CT_EXPECT_EQ(pvb_refused_error(EBADSLT), FI_EOTHER);
	CT_EXPECT_EQ(pvb_post_error(EBADSLT), -FI_EOTHER);
}

/* Some drivers return a negative errno, or -1 for whatever it is. */
CT_TEST(errmap, the_sign_of_a_post_error_does_not_matter)
{
	CT_EXPECT_EQ(pvb_post_error(-EINVAL), -FI_EINVAL);
	CT_EXPECT_EQ(pvb_post_error(-ENOMEM), -FI_EAGAIN);
	CT_EXPECT_EQ(pvb_post_error(-1), -FI_EOTHER);
}

CT_TEST(errmap, a_failure_without_errno_is_a_failure)
{
	errno = 0;
	CT_EXPECT_EQ(pvb_errno(), -FI_EOTHER);
	errno = EMFILE;
	CT_EXPECT_EQ(pvb_errno(), -FI_EMFILE);
}
