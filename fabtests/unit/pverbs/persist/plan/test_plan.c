/* SPDX-License-Identifier: BSD-2-Clause */
/* Every cell of the tables (plan_vectors.h). */
#include "plan_query.h"
#include "plan_vectors.h"

/* A cell, each field one bit of a vector's. */
struct cell {
	uint8_t domain, rq, native, wire, part;
	enum pvb_plan_op op;
};

static struct pvb_plan_query cell_query(const struct cell *cell)
{
	struct pvb_plan_query query = plain_query(cell->op);
	bool ib = cell->wire == V_IB;

	query.target.domain = cell->domain & V_DMP   ? CRN_DMP
			      : cell->domain & V_MHP ? CRN_MHP
						     : CRN_WSP;
	query.target.ddio = cell->domain & (V_DMP_D | V_MHP_D | V_WSP_D);
	query.target.flush = query.native_flush = cell->native & (V_FLUSH | V_BOTH);
	query.target.atomic_write = query.native_write =
		cell->native & (V_ATOMIC | V_BOTH);
	query.rq_pm = cell->rq == V_PM;
	query.weak = !ib;
	query.seq_word = ib;
	return query;
}

static const struct plan_vector *find_vector(const struct cell *cell)
{
	const struct plan_vector *found = NULL;
	size_t i;

	for (i = 0; i < CRN_COUNT(plan_vectors); i++) {
		const struct plan_vector *at = &plan_vectors[i];

		if (at->op != cell->op || !(at->domains & cell->domain) ||
		    !(at->rqs & cell->rq) || !(at->natives & cell->native) ||
		    !(at->wires & cell->wire) || !(at->parts & cell->part))
			continue;
		CT_EXPECT_TRUE(found == NULL);
		found = at;
	}
	return found;
}

static void check_cell(const struct cell *cell)
{
	const struct plan_vector *vector = find_vector(cell);
	struct pvb_plan_query query = cell_query(cell);
	struct pvb_plan a, b;
	char text[128], part[64];
	unsigned int trips;

	CT_NOTE("domain %#x rq %#x native %#x wire %#x part %#x op %d", cell->domain,
		cell->rq, cell->native, cell->wire, cell->part, cell->op);
	CT_ASSERT_TRUE(vector);
	CT_ASSERT_EQ(pvb_plan(&query, &a), 0);
	pvb_plan_text(&a, cell->op, text, sizeof(text));
	trips = a.round_trips;
	b = a;
	if (cell->part != V_ONE) {
		query.before = a.pending;
		query.len = cell->part == V_WORD ? 8 : cell->part == V_SMALL ? 16 : 200;
		CT_ASSERT_EQ(pvb_plan(&query, &b), 0);
		strcat(text, ", ");
		strcat(text, pvb_plan_text(&b, cell->op, part, sizeof(part)));
		if (b.after)
			trips += b.round_trips;
		else if (trips < b.round_trips)
			trips = b.round_trips;
	}
	CT_EXPECT_STREQ(text, vector->text);
	CT_EXPECT_EQ(trips, vector->round_trips);
	CT_EXPECT_EQ(b.no_overtake, vector->no_overtake);
}

/* Every value of a cell's fields, one after the other; false after the last. */
static bool next_cell(struct cell *cell)
{
	const struct {
		uint8_t *field, end;
	} fields[] = {
		{&cell->domain, 0x40}, {&cell->rq, 4},	  {&cell->native, 16},
		{&cell->wire, 4},      {&cell->part, 16},
	};
	size_t i;

	for (i = 0; i < CRN_COUNT(fields); i++) {
		*fields[i].field = (uint8_t)(*fields[i].field << 1);
		if (*fields[i].field < fields[i].end)
			return true;
		*fields[i].field = 1;
	}
	return false;
}

static void check_table(enum pvb_plan_op op)
{
	struct cell cell = {1, 1, 1, 1, 1, op};
	unsigned int cells = 0;

	do {
		check_cell(&cell);
		cells++;
	} while (next_cell(&cell));
	CT_EXPECT_EQ(cells, 6 * 2 * 4 * 2 * 4);
}

CT_TEST(plan, writes_follow_the_tables)
{
	check_table(PVB_PLAN_WRITE);
}

CT_TEST(plan, writes_with_immediate_are_durable_before_the_target_reports_them)
{
	check_table(PVB_PLAN_WRITE_IMM);
}

CT_TEST(plan, sends_follow_the_tables)
{
	check_table(PVB_PLAN_SEND);
}
