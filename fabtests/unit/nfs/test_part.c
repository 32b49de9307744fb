/* SPDX-License-Identifier: BSD-2-Clause */
/* FILE.part of two runs at a time. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>
#include "cairn_test.h"
#include "part.h"

static char folder[] = "/tmp/cairn-part-XXXXXX", file[64], part_name[80], from_name[80];
static int ends; /* so often another run ends before this one has the lock */

/* In place of the C library's. */
int flock(int fd, int operation)
{
	if (ends) {
		ends--;
		rename(part_name, file);
	}
	return 0;
}

static void begin(void)
{
	strcpy(folder, "/tmp/cairn-part-XXXXXX");
	CT_ASSERT_TRUE(mkdtemp(folder));
	snprintf(file, sizeof(file), "%s/file", folder);
	snprintf(part_name, sizeof(part_name), "%s.part", file);
	snprintf(from_name, sizeof(from_name), "%s.part.from", file);
}

static void end(void)
{
	unlink(file);
	unlink(part_name);
	unlink(from_name);
	CT_EXPECT_EQ(rmdir(folder), 0);
}

static void write_file(const char *path, const char *text)
{
	FILE *to = fopen(path, "w");

	CT_ASSERT_TRUE(to);
	fputs(text, to);
	fclose(to);
}

static void holds(const char *path, const char *text)
{
	char found[64] = "";
	FILE *in = fopen(path, "r");

	CT_ASSERT_TRUE(in);
	if (fgets(found, sizeof(found), in))
		CT_EXPECT_STREQ(found, text);
	fclose(in);
}

/* What was opened as FILE.part is a complete FILE by then. */
CT_TEST(nfsget_part, a_file_that_another_run_has_completed_is_not_written_to)
{
	const struct nfc_attrs attrs = {.fileid = 1, .change = 2, .size = 8};
	static struct nfg_part part;

	for (int goes_on = 0; goes_on < 2; goes_on++) {
		begin();
		write_file(part_name, "complete");
		write_file(from_name, "fileid 1 change 2 size 8 of source\n");
		ends = 1;
		CT_ASSERT_TRUE(nfg_part_open(&part, file, "source", &attrs, goes_on));
		CT_EXPECT_EQ(part.have, 0);
		CT_EXPECT_TRUE(nfg_part_write(&part, "mine", 4));
		holds(file, "complete");
		holds(part_name, "mine");
		nfg_part_close(&part);
		end();
	}
}

CT_TEST(nfsget_part, what_is_there_is_gone_on_with)
{
	const struct nfc_attrs attrs = {.fileid = 1, .change = 2, .size = 8};
	static struct nfg_part part;

	begin();
	write_file(part_name, "comp");
	write_file(from_name, "fileid 1 change 2 size 8 of source\n");
	CT_ASSERT_TRUE(nfg_part_open(&part, file, "source", &attrs, true));
	CT_EXPECT_EQ(part.have, 4);
	CT_EXPECT_TRUE(nfg_part_write(&part, "lete", 4));
	CT_EXPECT_TRUE(nfg_part_finish(&part));
	nfg_part_close(&part);
	holds(file, "complete");
	CT_EXPECT_EQ(access(part_name, F_OK), -1);
	CT_EXPECT_EQ(access(from_name, F_OK), -1);
	end();
}
