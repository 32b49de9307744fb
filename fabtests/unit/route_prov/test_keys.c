/* SPDX-License-Identifier: BSD-2-Clause */
/* Which routers a program that listens believes, and the keys that it has now. */
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cairn/wait.h>
#include "addr/addr.h"
#include "info.h"
#include "router.h"

#define FIRST "the first secret"
#define SECOND "the other secret"

static struct router far;
static struct rte_auth_ring ring;
static struct rte_peer *caller;
static unsigned int ups, downs;
static int down_err;
static char key[3][64];

/* How often two.test was looked up. */
static unsigned int lookups;

/* In place of the C library's: two.test has two addresses, of one block of memory each,
 * as its own answers have. */
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		struct addrinfo **out)
{
	static int (*real)(const char *, const char *, const struct addrinfo *,
			   struct addrinfo **);
	struct addrinfo *more;
	int ret;

	if (!real)
		real = (__typeof__(real))dlsym(RTLD_NEXT, "getaddrinfo");
	if (!node || strcmp(node, "two.test"))
		return real(node, service, hints, out);
	lookups++;
	ret = real("127.0.0.9", service, hints, out);
	if (!ret && !real("127.0.0.1", service, hints, &more))
		(*out)->ai_next = more;
	return ret;
}

static void caller_up(struct rte_peer *peer)
{
	ups++;
}

static void caller_down(struct rte_peer *peer, int err)
{
	downs++;
	down_err = err;
}

static const struct rte_peer_ops caller_ops = {.up = caller_up, .down = caller_down};

/* In place of what was there: another file. */
static void key_write(int which, const char *secret)
{
	char fresh[80];
	int fd;

	snprintf(key[which], sizeof(key[which]), "/tmp/unit_route_prov.%d.key%d",
		 (int)getpid(), which);
	snprintf(fresh, sizeof(fresh), "%s.new", key[which]);
	fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	CT_ASSERT_NE(fd, -1);
	CT_EXPECT_EQ(write(fd, secret, strlen(secret)), (ssize_t)strlen(secret));
	close(fd);
	CT_EXPECT_EQ(rename(fresh, key[which]), 0);
}

/* A section whose router is not the one that calls; keys: lines. */
static void config(const char *keys)
{
	char lines[512];

	snprintf(lines, sizeof(lines), "router = tcp://127.0.0.9:1\n%s", keys);
	ends_config(lines, "");
}

static const char *key_lines(const char *auth, int first, int second)
{
	static char lines[300];
	int len =
		snprintf(lines, sizeof(lines), "auth = %s\nkey_file = %s\nkey_id = %d\n",
			 auth, key[first], first);

	if (second)
		snprintf(lines + len, sizeof(lines) - (size_t)len,
			 "key_file = %s\nkey_id = %d\n", key[second], second);
	return lines;
}

/* What the router that calls has; id 0: nothing. */
static void far_key(uint32_t id, const char *secret)
{
	ring = (struct rte_auth_ring){.keys = 1, .key = {{.id = id}}};
	ring.key[0].len = (uint32_t)strlen(secret);
	memcpy(ring.key[0].secret, secret, ring.key[0].len);
	far.port->attr.keys = id ? &ring : NULL;
}

static void begin(struct ends *ends)
{
	ends_open(ends);
	ends_listen(ends);
	router_open(&far, 77);
}

static void finish(struct ends *ends)
{
	router_close(&far);
	ends_close(ends);
	unlink(key[1]);
	unlink(key[2]);
}

static void set_up(struct ends *t)
{
	key_write(1, FIRST);
	key_write(2, SECOND);
}

CT_FIXTURE(keys, struct ends, set_up, finish);

static void turn(struct ends *ends)
{
	struct ends_event event;

	CT_EXPECT_EQ(fi_eq_read(ends->eq, &event.event, event.room, sizeof(event.room),
				0),
		     -FI_EAGAIN);
	router_turn(&far);
}

/* 0, or what the router is told. */
static int call(struct ends *ends)
{
	const uint64_t end = crn_now_ms() + 20000;
	union crn_addr addr;

	ups = downs = 0;
	down_err = 0;
	rte_addr_lower(&ends->target, &addr);
	CT_EXPECT_EQ(rte_peer_connect(far.port, &addr.sa, 0, &caller_ops, NULL, &caller),
		     0);
	while (!ups && !downs && crn_now_ms() < end)
		turn(ends);
	rte_peer_close(caller, 0);
	return ups && !downs ? 0 : down_err;
}

CT_TEST_F(keys, of_routers_those_are_heard_that_the_section_names)
{
	static const struct {
		const char *routers;
		int err;
	} rows[] = {
		{"router = tcp://127.0.0.9:1\n", FI_ECONNREFUSED},
		{"router = tcp://127.0.0.9:1\nrouter = tcp://127.0.0.1:1\n", 0},
		{"router = tcp://localhost:1\n", 0},
	};
	size_t i;

	for (i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s", rows[i].routers);
		ends_config(rows[i].routers, "");
		begin(t);
		CT_EXPECT_EQ(call(t), rows[i].err);
		finish(t);
	}
}

/* The second address is the one that calls. */
CT_TEST_F(keys, a_router_is_heard_at_each_address_of_its_name)
{
	ends_config("router = tcp://127.0.0.8:1\nrouter = tcp://two.test:1\n", "");
	begin(t);
	lookups = 0;
	CT_EXPECT_EQ(call(t), 0);
	CT_EXPECT_EQ(call(t), 0);
	/* Who comes has it looked up once in a while, however often he does. */
	CT_EXPECT_EQ(lookups, 1);
}

CT_TEST_F(keys, of_routers_those_are_heard_that_prove_themselves)
{
	config(key_lines("required", 1, 0));
	begin(t);
	CT_EXPECT_EQ(call(t), FI_EACCES);
	far_key(1, SECOND);
	CT_EXPECT_EQ(call(t), FI_EACCES);
	far_key(1, FIRST);
	CT_EXPECT_EQ(call(t), 0);
}

/* Where the section does not ask for proofs, the router may. */
CT_TEST_F(keys, a_router_that_asks_for_proofs_gives_one)
{
	config(key_lines("open", 1, 0));
	begin(t);
	far_key(1, FIRST);
	CT_EXPECT_EQ(call(t), FI_ECONNREFUSED);
	far.config->device[0].auth = RTE_AUTH_REQUIRED;
	CT_EXPECT_EQ(call(t), 0);
	far_key(1, SECOND);
	CT_EXPECT_EQ(call(t), FI_EACCES);
}

CT_TEST_F(keys, are_read_again_when_their_files_change)
{
	config(key_lines("required", 1, 0));
	begin(t);
	far_key(2, SECOND);
	CT_EXPECT_EQ(call(t), FI_EACCES);
	config(key_lines("required", 1, 2));
	CT_EXPECT_EQ(call(t), 0);
	far_key(1, FIRST);
	CT_EXPECT_EQ(call(t), 0);
	config(key_lines("required", 2, 0));
	CT_EXPECT_EQ(call(t), FI_EACCES);
	key_write(2, FIRST);
	far_key(2, SECOND);
	CT_EXPECT_EQ(call(t), FI_EACCES);
	far_key(2, FIRST);
	CT_EXPECT_EQ(call(t), 0);
}

CT_TEST_F(keys, stay_while_their_files_are_wrong)
{
	config(key_lines("required", 1, 0));
	begin(t);
	far_key(1, FIRST);
	CT_EXPECT_EQ(call(t), 0);
	CT_EXPECT_EQ(chmod(key[1], 0644), 0);
	CT_EXPECT_EQ(call(t), 0);
	config("auth = ");
	CT_EXPECT_EQ(call(t), 0);
	config("");
	CT_EXPECT_EQ(call(t), 0);
	key_write(1, FIRST);
	config(key_lines("required", 2, 0));
	CT_EXPECT_EQ(call(t), FI_EACCES);
}

CT_TEST_F(keys, that_are_required_and_cannot_be_read_open_nothing)
{
	struct fi_info *hints = ends_hints(FI_MSG), *info = NULL;
	struct fid_fabric *fabric = NULL;
	struct fid_domain *domain = NULL;

	CT_EXPECT_EQ(chmod(key[1], 0644), 0);
	config(key_lines("required", 1, 0));
	CT_ASSERT_EQ(rte_getinfo(ENDS_API, NULL, "0", FI_SOURCE, hints, &info), 0);
	CT_ASSERT_EQ(rte_fabric_open(info->fabric_attr, &fabric, NULL), 0);
	CT_EXPECT_EQ(fi_domain(fabric, info, &domain, NULL), -FI_EACCES);
	CT_EXPECT_EQ(fi_close(&fabric->fid), 0);
	fi_freeinfo(info);
	fi_freeinfo(hints);
}
