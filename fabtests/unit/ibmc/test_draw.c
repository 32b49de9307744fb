/* SPDX-License-Identifier: BSD-2-Clause */
/* Of util/fi_ibmc/draw and print: what others have called their nodes stays text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "draw/draw.h"
#include "print/print.h"
#include "world.h"

#define GROUP "ff12:401b:ffff::5"

static char *text;
static size_t size;
static FILE *out;

static void begin(const char *name)
{
	const struct pvb_mcm mcm = world_group(GROUP);

	world_begin();
	world_add(&mcm);
	world_add_node(2, IMC_CA, 2, name);
	world_add_member(GROUP, 2, PVB_MCM_FULL);
	world_finish();
	out = open_memstream(&text, &size);
	CT_ASSERT_NE(out, NULL);
}

static void end(void)
{
	free(text);
	world_end();
}

CT_TEST(draw, a_name_is_no_markup_of_a_picture)
{
	begin("<a>&]]>");
	CT_EXPECT_EQ(imc_svg(&world, out), 0);
	fclose(out);
	CT_EXPECT_TRUE(strstr(text, ">&lt;a&gt;&amp;]]&gt;, LID 2<"));
	end();
}

CT_TEST(draw, a_name_does_not_end_a_label)
{
	begin("a\"\\");
	CT_EXPECT_EQ(imc_dot(&world, out), 0);
	fclose(out);
	CT_EXPECT_TRUE(strstr(text, "[label=\"a\\\"\\\\, LID 2\"]"));
	end();
}

/* Each allocation fails once. */
CT_TEST(draw, json_that_lacks_memory_is_not_written)
{
	unsigned int nth = 0;
	bool failed = true;
	int ret;

	while (failed) {
		begin("host");
		imc_json_begin();
		ct_fail_alloc(++nth);
		ret = imc_json_print(imc_list_json(&world), false, out);
		failed = ct_alloc_failed();
		fclose(out);
		CT_EXPECT_EQ(ret, failed ? -FI_ENOMEM : 0);
		CT_EXPECT_EQ(!failed, strstr(text, "\"others\": []\n}\n") != NULL);
		end();
	}
	CT_EXPECT_TRUE(nth > 20);
}

CT_TEST(draw, json_that_cannot_be_written_is_no_lack_of_memory)
{
	FILE *full = fopen("/dev/full", "w");

	begin("host");
	imc_json_begin();
	CT_ASSERT_NE(full, NULL);
	setbuf(full, NULL);
	CT_EXPECT_EQ(imc_json_print(imc_list_json(&world), false, full), -FI_EIO);
	fclose(full);
	fclose(out);
	end();
}
