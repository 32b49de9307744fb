/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include <rdma/providers/fi_prov.h>
#include <cairn/pmem.h>
#include "cairn_test.h"

static const struct fi_provider prov = {.name = "test"};
static char error[160];

static int parse(const char *text, struct crn_pmem_declarations *out)
{
	memset(out, 0, sizeof(*out));
	return crn_pmem_declare_parse(text, strlen(text), out, error, sizeof(error));
}

CT_TEST(declare, a_file_says_things_of_the_host_and_of_paths)
{
	static struct crn_pmem_declarations all;
	struct crn_pmem_declared said;

	CT_ASSERT_EQ(parse("# what we bought\n"
			   "[host]\n"
			   "persistence = mhp\n"
			   "ddio=OFF ; with the switch in the BIOS\n"
			   "\n"
			   "[path /dev/dax0.0]\n"
			   "  persistence = WSP\n"
			   "  receive = replay\n"
			   "[path  /mnt/battery/ ]\r\n"
			   "persistent = yes\r\n",
			   &all),
		     0);
	said = crn_pmem_declared_of(&all, "");
	CT_EXPECT_TRUE(said.has_domain && said.has_ddio);
	CT_EXPECT_FALSE(said.has_persistent || said.has_replay);
	CT_EXPECT_EQ(said.domain, CRN_MHP);
	CT_EXPECT_FALSE(said.ddio);

	said = crn_pmem_declared_of(&all, "/dev/dax0.0");
	CT_EXPECT_EQ(said.domain, CRN_WSP);
	CT_EXPECT_TRUE(said.has_ddio && !said.ddio);
	CT_EXPECT_TRUE(said.has_replay && said.replay);

	said = crn_pmem_declared_of(&all, "/mnt/battery/log");
	CT_EXPECT_EQ(said.domain, CRN_MHP);
	CT_EXPECT_TRUE(said.has_persistent && said.persistent);
}

CT_TEST(declare, a_path_is_a_file_or_a_folder_and_all_below_it)
{
	static const struct {
		const char *path, *name;
		bool covered;
	} rows[] = {
		{"/mnt/pm", "/mnt/pm", true},	  {"/mnt/pm", "/mnt/pm/a", true},
		{"/mnt/pm", "/mnt/pm/a/b", true}, {"/mnt/pm/", "/mnt/pm/a", true},
		{"/mnt/pm", "/mnt/pm0/a", false}, {"/mnt/pm", "/mnt/p", false},
		{"/mnt/pm", "/mnt", false},	  {"/mnt/pm", "", false},
		{"/", "/mnt/pm", true},		  {"/", "[heap]", false},
	};
	static struct crn_pmem_declarations all;
	char text[200];

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("path %s, name %s", rows[i].path, rows[i].name);
		snprintf(text, sizeof(text), "[path %s]\npersistent = yes\n",
			 rows[i].path);
		CT_ASSERT_EQ(parse(text, &all), 0);
		CT_EXPECT_EQ(crn_pmem_declared_of(&all, rows[i].name).has_persistent,
			     rows[i].covered);
	}
}

CT_TEST(declare, the_longest_path_counts_before_the_shorter_ones_and_they_before_the_host)
{
	static struct crn_pmem_declarations all;
	struct crn_pmem_declared said;

	CT_ASSERT_EQ(parse("[path /mnt/pm/log/old]\nddio = on\n"
			   "[path /mnt]\npersistence = wsp\nddio = off\n"
			   "[path /mnt/pm]\npersistence = dmp\n"
			   "[host]\npersistence = mhp\n",
			   &all),
		     0);
	said = crn_pmem_declared_of(&all, "/mnt/pm/log/old/1");
	CT_EXPECT_EQ(said.domain, CRN_DMP);
	CT_EXPECT_TRUE(said.ddio);
	said = crn_pmem_declared_of(&all, "/mnt/pm/log/new");
	CT_EXPECT_EQ(said.domain, CRN_DMP);
	CT_EXPECT_FALSE(said.ddio);
	CT_EXPECT_EQ(crn_pmem_declared_of(&all, "/mnt/x").domain, CRN_WSP);
	CT_EXPECT_EQ(crn_pmem_declared_of(&all, "/srv").domain, CRN_MHP);

	/* In whatever order they stand. */
	CT_ASSERT_EQ(parse("[path /a]\npersistence = mhp\nddio = off\n"
			   "[path /a/b]\npersistence = dmp\n"
			   "[path /a/b/c]\nreceive = replay\n",
			   &all),
		     0);
	said = crn_pmem_declared_of(&all, "/a/b/c/d");
	CT_EXPECT_EQ(said.domain, CRN_DMP);
	CT_EXPECT_TRUE(said.has_ddio && !said.ddio && said.replay);
}

CT_TEST(declare, a_line_that_says_nothing_is_an_error_that_names_it)
{
	static const struct {
		const char *text, *line, *named;
	} rows[] = {
		{"[host]\npersistence = eadr\n", "line 2", "persistence"},
		{"[host]\nddio = maybe\n", "line 2", "ddio"},
		{"[host]\nddio =\n", "line 2", "ddio"},
		{"[host]\nreceive = yes\n", "line 2", "receive"},
		{"[host]\ndido = off\n", "line 2", "dido"},
		{"[host]\npersistent = yes\n", "line 2", "persistent"},
		{"ddio = off\n", "line 1", "ddio"},
		{"\n[hosts]\n", "line 2", ""},
		{"[path]\n", "line 1", ""},
		{"[path dax0.0]\n", "line 1", "/"},
		{"[path ]\n", "line 1", ""},
		{"[host\n", "line 1", ""},
		{"[host]\nddio\n", "line 2", ""},
		{"[host]\nddio = off\n  on\n", "line 3", ""},
	};
	static struct crn_pmem_declarations all;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		CT_EXPECT_EQ(parse(rows[i].text, &all), -FI_EINVAL);
		CT_EXPECT_STRSTR(error, rows[i].line);
		CT_EXPECT_STRSTR(error, rows[i].named);
	}
}

CT_TEST(declare, a_path_is_never_cut)
{
	static struct crn_pmem_declarations all;
	char text[400], path[CRN_PMEM_DECLARE_PATH];

	memset(path, 'x', sizeof(path));
	path[0] = '/';
	/* As long as a line may be with "[path ]" around it. */
	path[CRN_PMEM_DECLARE_PATH - 8] = '\0';
	snprintf(text, sizeof(text), "[path %s]\npersistent = yes\n", path);
	CT_ASSERT_EQ(parse(text, &all), 0);
	CT_EXPECT_STREQ(all.path[0].name, path);
	snprintf(text, sizeof(text), "[path %sx]\npersistent = yes\n", path);
	CT_EXPECT_EQ(parse(text, &all), -FI_EINVAL);
	CT_EXPECT_STRSTR(error, "191");
}

CT_TEST(declare, only_so_many_paths_fit)
{
	static struct crn_pmem_declarations all;
	static char text[CRN_PMEM_DECLARE_PATHS * 20];
	size_t at = 0;

	for (int i = 0; i < CRN_PMEM_DECLARE_PATHS; i++)
		at += (size_t)sprintf(text + at, "[path /%d]\nddio=on\n", i);
	CT_EXPECT_EQ(parse(text, &all), 0);
	CT_EXPECT_EQ(all.count, CRN_PMEM_DECLARE_PATHS);
	sprintf(text + at, "[path /0]\n");
	CT_EXPECT_EQ(parse(text, &all), 0);
	sprintf(text + at, "[path /a]\n");
	CT_EXPECT_EQ(parse(text, &all), -FI_EINVAL);
	CT_EXPECT_STRSTR(error, "64");
}

CT_TEST(declare, bytes_that_are_no_text_are_refused)
{
	static struct crn_pmem_declarations all;

	CT_EXPECT_EQ(crn_pmem_declare_parse("[host]\n\0\n", 9, &all, error,
					    sizeof(error)),
		     -FI_EINVAL);
	CT_EXPECT_STRSTR(error, "line 2");
	CT_EXPECT_EQ(crn_pmem_declare_parse("", 0, &all, error, sizeof(error)), 0);
}

/* Variables without a value, the file that config names, and what is declared. */
struct declare_scene {
	struct crn_pmem_params params;
	struct crn_pmem_declarations *all;
	char path[64]; /* "": there is none */
};

static void set_up(struct declare_scene *s)
{
	s->params = (struct crn_pmem_params){.prov = &prov, .prefix = "FI_TEST"};
}

static void tear_down(struct declare_scene *s)
{
	free(s->all);
	if (*s->path)
		unlink(s->path);
}

static int declare(struct declare_scene *s)
{
	free(s->all);
	s->all = NULL;
	return crn_pmem_declare(&s->params, &s->all);
}

/* A new file with that text is the configuration. */
static void put(struct declare_scene *s, const char *text, size_t len)
{
	int fd;

	if (*s->path)
		unlink(s->path);
	snprintf(s->path, sizeof(s->path), "crn_pmem_declare.XXXXXX");
	s->params.config = s->path;
	fd = mkstemp(s->path);
	CT_ASSERT_GE(fd, 0);
	CT_EXPECT_EQ(write(fd, text, len), (ssize_t)len);
	close(fd);
}

CT_FIXTURE(declare, struct declare_scene, set_up, tear_down);

CT_TEST_F(declare, variables_count_before_the_host_and_after_paths)
{
	static const char text[] = "[host]\npersistence=mhp\nddio=off\n"
				   "[path /a]\npersistence=dmp\n";

	put(t, text, strlen(text));
	t->params.persistence = "wsp";
	CT_ASSERT_EQ(declare(t), 0);
	CT_EXPECT_EQ(crn_pmem_declared_of(t->all, "").domain, CRN_WSP);
	CT_EXPECT_FALSE(crn_pmem_declared_of(t->all, "").ddio);
	CT_EXPECT_EQ(crn_pmem_declared_of(t->all, "/a").domain, CRN_DMP);
}

CT_TEST_F(declare, without_variables_nothing_is_declared)
{
	struct crn_pmem_declared said;

	CT_ASSERT_EQ(declare(t), 0);
	said = crn_pmem_declared_of(t->all, "/dev/dax0.0");
	CT_EXPECT_FALSE(said.has_domain || said.has_ddio || said.has_persistent ||
			said.has_replay);
}

CT_TEST_F(declare, a_variable_that_says_nothing_is_ignored_with_a_warning)
{
	t->params.ddio = "disabled";
	CT_ASSERT_EQ(declare(t), 0);
	CT_EXPECT_FALSE(crn_pmem_declared_of(t->all, "").has_ddio);
	CT_EXPECT_EQ(ct_log_count(), 1);
	CT_EXPECT_STRSTR(ct_log_last(), "FI_TEST_DDIO");
}

CT_TEST_F(declare, a_file_that_cannot_be_used_is_an_error_and_in_the_log)
{
	static char large[CRN_PMEM_DECLARE_FILE + 1];

	t->params.config = "crn_pmem_declare.missing";
	CT_EXPECT_EQ(declare(t), -FI_EINVAL);
	CT_EXPECT_STRSTR(ct_log_last(), "crn_pmem_declare.missing");

	put(t, "[host]\nddio=no\n", 15);
	CT_EXPECT_EQ(declare(t), -FI_EINVAL);
	CT_EXPECT_STRSTR(ct_log_last(), "ddio");

	memset(large, '\n', sizeof(large));
	put(t, large, sizeof(large));
	CT_EXPECT_EQ(declare(t), -FI_EINVAL);
	CT_EXPECT_STRSTR(ct_log_last(), "65536");
	put(t, large, sizeof(large) - 1);
	CT_EXPECT_EQ(declare(t), 0);
}

CT_TEST_F(declare, memory_that_runs_out_is_an_error)
{
	put(t, "[host]\nddio=on\n", 15);
	for (unsigned int nth = 1; nth <= 2; nth++) {
		CT_NOTE("allocation %u", nth);
		ct_fail_alloc(nth);
		CT_EXPECT_EQ(declare(t), -FI_ENOMEM);
		CT_EXPECT_TRUE(ct_alloc_failed());
	}
}
