/* SPDX-License-Identifier: BSD-2-Clause */
/* The state machine of queue pairs: IBA 10.3.1, tables as the kernel's qp_state_table. */
#include "verbs.h"

#define SVB_STATES 7
#define SVB_RTS_RC                                                  \
	(IBV_QP_CUR_STATE | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | \
	 IBV_QP_MIN_RNR_TIMER | IBV_QP_PATH_MIG_STATE)
#define SVB_RTS_UD (IBV_QP_CUR_STATE | IBV_QP_QKEY)

struct svb_transition {
	bool valid;
	int need_rc, may_rc;
	int need_ud, may_ud;
};

static const struct svb_transition svb_transitions[SVB_STATES][SVB_STATES] = {
	[IBV_QPS_RESET][IBV_QPS_RESET] = {true},
	[IBV_QPS_RESET][IBV_QPS_INIT] =
		{
			.valid = true,
			.need_rc = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
			.need_ud = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY,
		},
	[IBV_QPS_INIT][IBV_QPS_INIT] =
		{
			.valid = true,
			.may_rc = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
			.may_ud = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY,
		},
	[IBV_QPS_INIT][IBV_QPS_RTR] =
		{
			.valid = true,
			.need_rc = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				   IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				   IBV_QP_MIN_RNR_TIMER,
			.may_rc =
				IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX,
			.may_ud = IBV_QP_PKEY_INDEX | IBV_QP_QKEY,
		},
	[IBV_QPS_RTR][IBV_QPS_RTS] =
		{
			.valid = true,
			.need_rc = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				   IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC,
			.may_rc = SVB_RTS_RC,
			.need_ud = IBV_QP_SQ_PSN,
			.may_ud = SVB_RTS_UD,
		},
	[IBV_QPS_RTS][IBV_QPS_RTS] = {true, 0, SVB_RTS_RC, 0, SVB_RTS_UD},
	[IBV_QPS_RTS][IBV_QPS_SQD] =
		{
			.valid = true,
			.may_rc = IBV_QP_EN_SQD_ASYNC_NOTIFY,
			.may_ud = IBV_QP_EN_SQD_ASYNC_NOTIFY,
		},
	[IBV_QPS_SQD][IBV_QPS_RTS] = {true, 0, SVB_RTS_RC, 0, SVB_RTS_UD},
	[IBV_QPS_SQD][IBV_QPS_SQD] =
		{
			.valid = true,
			.may_rc = IBV_QP_PORT | IBV_QP_AV | IBV_QP_TIMEOUT |
				  IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				  IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC |
				  IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS |
				  IBV_QP_PKEY_INDEX | IBV_QP_MIN_RNR_TIMER |
				  IBV_QP_PATH_MIG_STATE,
			.may_ud = IBV_QP_PKEY_INDEX | IBV_QP_QKEY,
		},
	[IBV_QPS_SQE][IBV_QPS_RTS] = {true, 0, 0, 0, SVB_RTS_UD},
	[IBV_QPS_ERR][IBV_QPS_ERR] = {true},
};

enum ibv_qp_state svb_qp_idle(void)
{
	return svb_self.iwarp ? IBV_QPS_INIT : IBV_QPS_RESET;
}

bool svb_qp_modify_ok(enum ibv_qp_state from, enum ibv_qp_state to, enum ibv_qp_type type,
		      int mask)
{
	const struct svb_transition *way;
	int need, may;

	if ((unsigned int)from >= SVB_STATES || (unsigned int)to >= SVB_STATES)
		return false;
	mask &= ~IBV_QP_STATE;
	/* From anywhere, with nothing else to say. */
	if (to == IBV_QPS_RESET || to == IBV_QPS_ERR)
		return !(mask & ~IBV_QP_CUR_STATE) &&
		       (to == IBV_QPS_RESET || from != IBV_QPS_RESET);
	way = &svb_transitions[from][to];
	need = type == IBV_QPT_UD ? way->need_ud : way->need_rc;
	may = type == IBV_QPT_UD ? way->may_ud : way->may_rc;
	return way->valid && (mask & need) == need && !(mask & ~(need | may));
}
