/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
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

/* The file is refused, and the error has its name and the data. */
static void expect_wrong(const char *file, const char *data)
{
	char wanted[200];

	snprintf(wanted, sizeof(wanted), "f:6: %s %s", file, data);
	CONF_EXPECT_ERRORS(key_errors(file), wanted);
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
		expect_wrong(path, "chmod 600");
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
		if (rows[i].right)
			CT_EXPECT_STREQ(key_errors(path), "");
		else
			expect_wrong(path, "16 4096");
	}
	unlink(path);
}

CT_TEST(keyfile, is_a_file)
{
	make_key(0600, 32);
	unlink(path);
	expect_wrong(path, strerror(ENOENT));
	CT_EXPECT_EQ(mkfifo(path, 0600), 0);
	expect_wrong(path, "");
	unlink(path);
	expect_wrong("/", "");
}

CT_TEST(keyfile, of_another_user_is_refused)
{
	make_key(0600, 32);
	if (geteuid() || chown(path, 12345, (gid_t)-1)) {
		unlink(path);
		CT_SKIP("needs root");
	}
	expect_wrong(path, "chown");
	unlink(path);
}
