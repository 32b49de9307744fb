/* SPDX-License-Identifier: BSD-2-Clause */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/stat.h>
#include <rdma/fi_errno.h>
#include "conf.h"

static char path[64];

/* Lines of errors of a router with that key. */
static const char *key_errors(const char *file)
{
	struct rte_config_errors errors = {0};
	struct rte_config *config;
	char text[300];
	int ret;

	snprintf(text, sizeof(text),
		 "[eth0]\ntransport = sock\nas = 3\nsubnet = 1\nrouter = sock://h:1\n"
		 "key_file = %s\nkey_id = 1\n",
		 file);
	config = conf_parse(text);
	if (!config)
		return "";
	ret = rte_config_check_keys(config, &errors);
	CT_EXPECT_EQ(ret, errors.errors ? -FI_EINVAL : 0);
	rte_config_free(config);
	return conf_errors(&errors);
}

static const char *expected(const char *what)
{
	static char text[200];

	snprintf(text, sizeof(text), "f:6: %s%s\n", path, what);
	return text;
}

static void make_key(mode_t mode, off_t size)
{
	int fd;

	snprintf(path, sizeof(path), "/tmp/route_key.%d", getpid());
	unlink(path);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	CT_EXPECT_GE(fd, 0);
	CT_EXPECT_EQ(ftruncate(fd, size), 0);
	CT_EXPECT_EQ(fchmod(fd, mode), 0);
	close(fd);
}

CT_TEST(keyfile, is_for_its_owner_alone)
{
	static const mode_t wrong[] = {0640, 0620, 0610, 0604, 0602, 0601, 04600, 02600};

	make_key(0600, 32);
	CT_EXPECT_STREQ(key_errors(path), "");
	make_key(0400, 32);
	CT_EXPECT_STREQ(key_errors(path), "");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		make_key(wrong[i], 32);
		CT_NOTE("%o", (unsigned int)wrong[i]);
		CT_EXPECT_STREQ(key_errors(path),
				expected(
					" is open to others than its owner (chmod 600)"));
	}
	unlink(path);
}

CT_TEST(keyfile, has_16_to_4096_bytes)
{
	static const struct {
		off_t size;
		bool right;
	} rows[] = {{0, false}, {15, false}, {16, true}, {4096, true}, {4097, false}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		make_key(0600, rows[i].size);
		CT_EXPECT_STREQ(
			key_errors(path),
			rows[i].right
				? ""
				: expected(" has the wrong size (16 to 4096 bytes)"));
	}
	unlink(path);
}

CT_TEST(keyfile, is_a_file)
{
	make_key(0600, 32);
	unlink(path);
	CT_EXPECT_STREQ(key_errors(path),
			expected(" cannot be read: No such file or directory"));
	CT_EXPECT_EQ(mkfifo(path, 0600), 0);
	CT_EXPECT_STREQ(key_errors(path), expected(" is no regular file"));
	unlink(path);
	CT_EXPECT_STREQ(key_errors("/"), "f:6: / is no regular file\n");
}

CT_TEST(keyfile, of_another_user_is_refused)
{
	make_key(0600, 32);
	if (geteuid() || chown(path, 12345, (gid_t)-1)) {
		unlink(path);
		CT_SKIP("needs root");
	}
	CT_EXPECT_STREQ(key_errors(path), expected(" belongs to another user (chown)"));
	unlink(path);
}
