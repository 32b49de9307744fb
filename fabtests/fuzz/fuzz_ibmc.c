/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fi_ibmc, of tables as a subnet administrator may send them: a byte says which table,
 * two how many bytes of records follow, at what is its usual distance.
 */
#include <stdio.h>
#include <stdlib.h>
#include <cairn/bytes.h>
#include "fuzz.h"
#include "draw/draw.h"
#include "print/print.h"
#include "rules/rules.h"

static void load_tables(struct imc_subnet *subnet, const uint8_t *data, size_t size)
{
	static const struct {
		uint16_t attr;
		size_t stride;
	} tables[] = {
		{PVB_SA_MCMEMBER_RECORD, 56},  {IMC_NODE_RECORD, 112},
		{PVB_SA_PORT_INFO_RECORD, 72}, {IMC_SWITCH_INFO_RECORD, 24},
		{IMC_PKEY_TABLE_RECORD, 72},   {IMC_NODE_RECORD, 8},
	};
	size_t which, len;

	while (size > 3) {
		which = data[0] % (sizeof(tables) / sizeof(tables[0]));
		len = crn_get_be16(data + 1);
		data += 3;
		size -= 3;
		if (len > size)
			len = size;
		imc_subnet_load(subnet, tables[which].attr, data, len,
				tables[which].stride);
		data += len;
		size -= len;
	}
}

/* Every group has its place, and each member once. */
static void check_subnet(const struct imc_subnet *subnet)
{
	uint32_t i, groups = 0, members = 0;

	for (i = 0; i < subnet->links; i++)
		groups += subnet->link[i].groups;
	for (i = 0; i < subnet->groups; i++) {
		members += subnet->group[i].members;
		groups += !subnet->group[i].record->name.ip;
	}
	FUZZ_CHECK(groups == subnet->groups);
	FUZZ_CHECK(members <= subnet->records);
}

static void check_text(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		FUZZ_CHECK(text[i] == '\n' || text[i] == '\t' ||
			   (text[i] >= ' ' && text[i] <= '~'));
}

/* What is written is text, whatever nodes are called. */
static void check_output(const struct imc_subnet *subnet)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	FUZZ_CHECK(out);
	FUZZ_CHECK(!imc_print_list(subnet, out));
	FUZZ_CHECK(!imc_dot(subnet, out));
	FUZZ_CHECK(!imc_svg(subnet, out));
	FUZZ_CHECK(!imc_json_print(imc_list_json(subnet), false, out));
	fclose(out);
	check_text(text, size);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct imc_attrs expected = {.set = IMC_MTU, .mtu = 4};
	struct imc_subnet subnet = {.has = IMC_HAS_MEMBERS};
	struct imc_report report;
	json_t *json;

	load_tables(&subnet, data, size);
	FUZZ_CHECK(!imc_subnet_finish(&subnet));
	check_subnet(&subnet);
	check_output(&subnet);
	FUZZ_CHECK(!imc_rules(&subnet, &expected, &report));
	json = imc_report_json(&subnet, &report);
	FUZZ_CHECK(json);
	json_decref(json);
	imc_report_free(&report);
	imc_subnet_free(&subnet);
	return 0;
}
