/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables of the taxonomy of remote persistence, with their errata and the methods
 * beyond them, as they apply to libfabric's operations. Every cell fits exactly one row.
 *
 * Compound rows are "plan of a, plan of b", a of 200 bytes. A Send in one message of what
 * belongs together is the singleton; two Sends are the compound here.
 */
#ifndef PLAN_VECTORS_H
#define PLAN_VECTORS_H

#include "persist/plan/plan.h"

/* Bits of a row. Domain, with DDIO on and off. */
#define V_DMP_D 0x01u
#define V_DMP_N 0x02u
#define V_MHP_D 0x04u
#define V_MHP_N 0x08u
#define V_WSP_D 0x10u
#define V_WSP_N 0x20u
#define V_DMP (V_DMP_D | V_DMP_N)
#define V_MHP (V_MHP_D | V_MHP_N)
#define V_WSP (V_WSP_D | V_WSP_N)

/* Receive buffers. */
#define V_DR 1u
#define V_PM 2u
#define V_RQ (V_DR | V_PM)

/* What the devices do natively. */
#define V_NEITHER 1u
#define V_FLUSH 2u
#define V_ATOMIC 4u
#define V_BOTH 8u
#define V_NATIVE 15u
#define V_NO_FLUSH (V_NEITHER | V_ATOMIC)

/* Transport. */
#define V_IB 1u
#define V_IWARP 2u
#define V_WIRE (V_IB | V_IWARP)

/* b: eight aligned bytes, small enough for a control message, larger. a: V_ONE. */
#define V_ONE 1u
#define V_WORD 2u
#define V_SMALL 4u
#define V_LARGE 8u
#define V_PAIR (V_WORD | V_SMALL | V_LARGE)

struct plan_vector {
	uint8_t domains, rqs, natives, wires, parts;
	enum pvb_plan_op op;
	const char *text;
	uint8_t round_trips; /* of a and b together */
	bool no_overtake;    /* of the last */
};

#define ROW_(op, domains, rqs, natives, wires, parts, text, trips, no_overtake)  \
	{                                                                        \
		domains, rqs, natives, wires, parts, PVB_PLAN_##op, text, trips, \
			no_overtake                                              \
	}
#define W_(...) ROW_(WRITE, __VA_ARGS__)
#define WI_(...) ROW_(WRITE_IMM, __VA_ARGS__)
#define S_(...) ROW_(SEND, __VA_ARGS__)

static const struct plan_vector plan_vectors[] = {
	/* Singleton Write. E1 where native. */
	W_(V_DMP_D, V_RQ, V_NO_FLUSH, V_IB, V_ONE, "W D M A", 1, false),
	W_(V_DMP_D, V_RQ, V_FLUSH | V_BOTH, V_IB, V_ONE, "W FP C", 1, false),
	W_(V_DMP_N, V_RQ, V_NATIVE, V_WIRE, V_ONE, "W F C", 1, false),
	W_(V_MHP, V_RQ, V_NATIVE, V_WIRE, V_ONE, "W F C", 1, false),
	W_(V_WSP, V_RQ, V_NATIVE, V_IB, V_ONE, "W C", 1, false),
	W_(V_DMP_D, V_RQ, V_NATIVE, V_IWARP, V_ONE, "W F C M A", 2, false),
	W_(V_WSP, V_RQ, V_NATIVE, V_IWARP, V_ONE, "W F C", 1, false),

	/* Singleton WriteImm: fi_cq(3), nothing is reported at the peer before it is
	 * durable. */
	WI_(V_DMP, V_RQ, V_NATIVE, V_WIRE, V_ONE, "SLOT WI A", 1, false),
	WI_(V_MHP, V_RQ, V_NATIVE, V_WIRE, V_ONE, "WI F C", 1, false),
	WI_(V_WSP, V_RQ, V_NATIVE, V_IB, V_ONE, "WI C", 1, false),
	WI_(V_WSP, V_RQ, V_NATIVE, V_IWARP, V_ONE, "WI F C", 1, false),

	/* Singleton Send; also the table's Send(a,b). Errata 2 and 3: the answer comes
	 * from the target. */
	S_(V_DMP | V_MHP | V_WSP, V_DR, V_NATIVE, V_WIRE, V_ONE, "SLOT S A", 1, false),
	S_(V_DMP_D, V_PM, V_NATIVE, V_WIRE, V_ONE, "SLOT S A", 1, false),
	S_(V_DMP_N | V_MHP, V_PM, V_NATIVE, V_WIRE, V_ONE, "S F C", 1, false),
	S_(V_WSP, V_PM, V_NATIVE, V_IB, V_ONE, "S C", 1, false),
	S_(V_WSP, V_PM, V_NATIVE, V_IWARP, V_ONE, "S F C", 1, false),

	/* Compound Write, DMP with DDIO: E2, the table's two round trips, E1. Erratum 1:
	 * the first acknowledgement is the target's too. */
	W_(V_DMP_D, V_RQ, V_NO_FLUSH, V_IB, V_WORD | V_SMALL, "W D M A, Mb A", 1, true),
	W_(V_DMP_D, V_RQ, V_NO_FLUSH, V_IB, V_LARGE, "W D M A, after W D M A", 2, false),
	W_(V_DMP_D, V_RQ, V_FLUSH, V_IB, V_PAIR, "W FP C, after W FP C", 2, false),
	W_(V_DMP_D, V_RQ, V_BOTH, V_IB, V_WORD, "W FP C, AW FP C", 1, true),
	W_(V_DMP_D, V_RQ, V_BOTH, V_IB, V_SMALL | V_LARGE, "W FP C, after W FP C", 2,
	   false),
	W_(V_DMP_D, V_RQ, V_NATIVE, V_IWARP, V_WORD | V_SMALL, "W F C M A, Mb A", 2,
	   true),
	W_(V_DMP_D, V_RQ, V_NATIVE, V_IWARP, V_LARGE, "W F C M A, after W F C M A", 4,
	   false),
	/* DMP without DDIO. Erratum 4: the table's Write(b) is the atomic one. E3. */
	W_(V_DMP_N, V_RQ, V_NEITHER | V_FLUSH, V_IB, V_PAIR, "W F C, W! F C", 2, false),
	W_(V_DMP_N, V_RQ, V_ATOMIC | V_BOTH, V_IB, V_WORD, "W F C, AW F C", 1, true),
	W_(V_DMP_N, V_RQ, V_ATOMIC | V_BOTH, V_IB, V_SMALL | V_LARGE, "W F C, W! F C", 2,
	   false),
	W_(V_DMP_N, V_RQ, V_NATIVE, V_IWARP, V_PAIR, "W F C, W! F C", 2, false),
	/* iWARP orders no placement: W W F C only where arriving is enough. */
	W_(V_MHP, V_RQ, V_NATIVE, V_IB, V_PAIR, "W F C, W F C", 1, false),
	W_(V_MHP, V_RQ, V_NATIVE, V_IWARP, V_PAIR, "W F C, W! F C", 2, false),
	W_(V_WSP, V_RQ, V_NATIVE, V_IB, V_PAIR, "W C, W C", 1, false),
	W_(V_WSP, V_RQ, V_NATIVE, V_IWARP, V_PAIR, "W F C, W F C", 1, false),

	/* Compound WriteImm. */
	WI_(V_DMP, V_RQ, V_NATIVE, V_WIRE, V_PAIR, "SLOT WI A, after SLOT WI A", 2,
	    false),
	WI_(V_MHP, V_RQ, V_NATIVE, V_IB, V_PAIR, "WI F C, WI F C", 1, false),
	WI_(V_MHP, V_RQ, V_NATIVE, V_IWARP, V_PAIR, "WI F C, WI! F C", 2, false),
	WI_(V_WSP, V_RQ, V_NATIVE, V_IB, V_PAIR, "WI C, WI C", 1, false),
	WI_(V_WSP, V_RQ, V_NATIVE, V_IWARP, V_PAIR, "WI F C, WI F C", 1, false),

	/* Two Sends. */
	S_(V_DMP, V_DR, V_NATIVE, V_WIRE, V_PAIR, "SLOT S A, after SLOT S A", 2, false),
	S_(V_MHP, V_DR, V_NATIVE, V_IB, V_PAIR, "SLOT S A, SLOT S A", 1, false),
	S_(V_MHP, V_DR, V_NATIVE, V_IWARP, V_PAIR, "SLOT S A, F SLOT S! A", 2, false),
	S_(V_WSP, V_DR, V_NATIVE, V_WIRE, V_PAIR, "SLOT S A, SLOT S A", 1, false),
	S_(V_DMP_D, V_PM, V_NATIVE, V_WIRE, V_PAIR, "SLOT S A, after SLOT S A", 2, false),
	S_(V_DMP_N, V_PM, V_NATIVE, V_WIRE, V_PAIR, "S F C, S! F C", 2, false),
	S_(V_MHP, V_PM, V_NATIVE, V_IB, V_PAIR, "S F C, S F C", 1, false),
	S_(V_MHP, V_PM, V_NATIVE, V_IWARP, V_PAIR, "S F C, S! F C", 2, false),
	S_(V_WSP, V_PM, V_NATIVE, V_IB, V_PAIR, "S C, S C", 1, false),
	S_(V_WSP, V_PM, V_NATIVE, V_IWARP, V_PAIR, "S F C, S F C", 1, false),
};

#endif
