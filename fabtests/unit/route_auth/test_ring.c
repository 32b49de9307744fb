/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <rdma/fi_errno.h>
#include "auth/auth.h"
#include "cairn_test.h"

static char path[2][64];

static void file_write(int which, const char *text, size_t len, mode_t mode)
{
	int fd;

	snprintf(path[which], sizeof(path[which]), "/tmp/unit_route_auth.%d.%d",
		 (int)getpid(), which);
	unlink(path[which]);
	fd = open(path[which], O_WRONLY | O_CREAT | O_EXCL, 0600);
	CT_ASSERT_NE(fd, -1);
	CT_EXPECT_EQ(write(fd, text, len), (ssize_t)len);
	CT_EXPECT_EQ(fchmod(fd, mode), 0);
	close(fd);
}

static int ring_read(uint32_t keys, struct rte_auth_ring **ring, char why[256])
{
	struct rte_config_key key[2] = {{.id = 7, .file = path[0]},
					{.id = 9, .file = path[1]}};
	struct rte_config_device device = {.key = key, .keys = keys};

	*why = 0;
	return rte_auth_ring_read(&device, ring, why);
}

CT_TEST(ring, has_the_files_byte_for_byte)
{
	static const char second[20] = "0123456789\n\0abcdef\r\n";
	struct rte_auth_ring *ring;
	char why[256];

	file_write(0, "the first secret", 16, 0600);
	file_write(1, second, sizeof(second), 0400);
	CT_ASSERT_EQ(ring_read(2, &ring, why), 0);
	CT_EXPECT_EQ(ring->keys, 2);
	CT_EXPECT_EQ(ring->key[0].id, 7);
	CT_EXPECT_EQ(ring->key[0].len, 16);
	CT_EXPECT_MEMEQ(ring->key[0].secret, "the first secret", 16);
	CT_EXPECT_EQ(ring->key[1].len, sizeof(second));
	CT_EXPECT_MEMEQ(ring->key[1].secret, second, sizeof(second));
	CT_EXPECT_TRUE(rte_auth_ring_find(ring, 9) == &ring->key[1]);
	CT_EXPECT_TRUE(!rte_auth_ring_find(ring, 8));
	CT_EXPECT_TRUE(!rte_auth_ring_find(NULL, 7));
	rte_auth_ring_free(ring);
	unlink(path[0]);
	unlink(path[1]);
}

CT_TEST(ring, without_keys_is_none)
{
	struct rte_auth_ring *ring;
	char why[256];

	CT_EXPECT_EQ(ring_read(0, &ring, why), 0);
	CT_EXPECT_TRUE(!ring);
}

CT_TEST(ring, of_a_file_that_others_read_is_none)
{
	struct rte_auth_ring *ring;
	char why[256], text[5000];

	file_write(0, "the first secret", 16, 0640);
	CT_EXPECT_EQ(ring_read(1, &ring, why), -FI_EINVAL);
	CT_EXPECT_TRUE(!ring);
	CT_EXPECT_DATA(why, path[0]);
	file_write(0, "fifteen bytes..", 15, 0600);
	CT_EXPECT_EQ(ring_read(1, &ring, why), -FI_EINVAL);
	CT_EXPECT_DATA(why, path[0]);
	memset(text, 'x', sizeof(text));
	file_write(0, text, 4096, 0600);
	CT_EXPECT_EQ(ring_read(1, &ring, why), 0);
	rte_auth_ring_free(ring);
	file_write(0, text, 4097, 0600);
	CT_EXPECT_EQ(ring_read(1, &ring, why), -FI_EINVAL);
	unlink(path[0]);
	CT_EXPECT_EQ(ring_read(1, &ring, why), -FI_EINVAL);
	CT_EXPECT_DATA(why, strerror(ENOENT));
}
