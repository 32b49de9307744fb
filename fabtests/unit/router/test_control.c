/* SPDX-License-Identifier: BSD-2-Clause */
/* util/fi_router/control: the socket, who asks there, and what they are shown. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <cairn/compat.h>
#include <cairn/wait.h>

#include "control/control.h"
#include "one.h"
#include "transit/transit.h"

static struct frt_control *control;
static char folder[64], path[96], text[4096];

static void set_up(struct one **t)
{
	strcpy(folder, "/tmp/cairn-control.XXXXXX");
	CT_ASSERT_NE(mkdtemp(folder), NULL);
	snprintf(path, sizeof(path), "%s/socket", folder);
	snprintf(text, sizeof(text), "%s", ONE_TEXT(""));
	one_open(&one, text);
	/* The file's default is not for tests. */
	free(frt_config(&one.node)->router.control);
	one.node.file->config->router.control = strdup(path);
	one.node.epfd = epoll_create1(EPOLL_CLOEXEC);
	frt_transit_ops.open(&one.node);
}

static void tear_down(struct one **t)
{
	if (!one.node.file)
		return;
	frt_control_close(control);
	control = NULL;
	frt_transit_ops.close(&one.node);
	one_close(&one);
	close(one.node.epfd);
	rmdir(folder);
}

static int connect_to(void)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	strcpy(addr.sun_path, path);
	if (!connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		return fd;
	close(fd);
	return -errno;
}

static void run(void)
{
	unsigned int i;

	for (i = 0; i < 8; i++)
		frt_control_run(control);
	crn_deadlines_run(&one.node.deadlines);
}

/* What it is answered until its end; NULL: nothing, or it is not over. */
static json_t *answer_of(int fd)
{
	static char buf[1 << 20];
	size_t len = 0;
	ssize_t ret;

	while ((ret = recv(fd, buf + len, sizeof(buf) - len, 0)) > 0)
		len += (size_t)ret;
	CT_EXPECT_TRUE(!ret || errno == EAGAIN || errno == ECONNRESET);
	return ret < 0 && errno == EAGAIN ? NULL : json_loadb(buf, len, 0, NULL);
}

static json_t *ask_for(const char *request)
{
	int fd = connect_to();
	json_t *answer;

	CT_EXPECT_GE(fd, 0);
	CT_EXPECT_EQ(send(fd, request, strlen(request), MSG_NOSIGNAL),
		     (ssize_t)strlen(request));
	run();
	answer = answer_of(fd);
	close(fd);
	run();
	return answer;
}

static void expect_error(const char *request, const char *named)
{
	json_t *answer = ask_for(request);

	CT_ASSERT_NE(answer, NULL);
	CT_EXPECT_DATA(json_string_value(json_object_get(answer, "error")), named);
	json_decref(answer);
}

CT_FIXTURE(control, struct one *, set_up, tear_down);

CT_TEST_F(control, is_a_socket_for_the_user_and_the_group)
{
	struct stat status;

	CT_ASSERT_EQ(frt_control_open(&one.node, &control), 0);
	CT_ASSERT_EQ(stat(path, &status), 0);
	CT_EXPECT_TRUE(S_ISSOCK(status.st_mode));
	CT_EXPECT_EQ(status.st_mode & 07777, 0660);
	frt_control_close(control);
	control = NULL;
	CT_EXPECT_EQ(stat(path, &status), -1);
}

CT_TEST_F(control, is_not_taken_from_who_listens)
{
	struct frt_control *other;

	CT_ASSERT_EQ(frt_control_open(&one.node, &control), 0);
	CT_EXPECT_EQ(frt_control_open(&one.node, &other), -EADDRINUSE);
	CT_EXPECT_EQ(other, NULL);
	/* And is still there. */
	CT_EXPECT_EQ(access(path, F_OK), 0);
}

CT_TEST_F(control, replaces_a_socket_at_which_nobody_listens)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(addr.sun_path, path);
	CT_ASSERT_EQ(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	close(fd);
	CT_EXPECT_EQ(frt_control_open(&one.node, &control), 0);
}

CT_TEST_F(control, replaces_no_file_and_leaves_what_is_not_its)
{
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	CT_EXPECT_EQ(frt_control_open(&one.node, &control), -EEXIST);
	unlink(path);
	CT_ASSERT_EQ(frt_control_open(&one.node, &control), 0);
	unlink(path);
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	frt_control_close(control);
	control = NULL;
	CT_EXPECT_EQ(access(path, F_OK), 0);
	unlink(path);
}

CT_TEST_F(control, garbage_is_answered_with_an_error)
{
	char longest[1025 + 1];

	CT_ASSERT_EQ(frt_control_open(&one.node, &control), 0);
	expect_error("garbage\n", "JSON");
	expect_error("{\"command\":\"show\"}\n", "what");
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	expect_error(longest, "1024");
}

CT_TEST_F(control, shows_everything_of_this_router)
{
	static const char *const whats[][2] = {
		{"topology", "routers"},	{"routes", "routes"},
		{"connections", "connections"}, {"counters", "devices"},
		{"adjacencies", "adjacencies"},
	};
	char request[128];
	json_t *answer;
	size_t i;

	CT_ASSERT_EQ(frt_control_open(&one.node, &control), 0);
	for (i = 0; i < CRN_COUNT(whats); i++) {
		snprintf(request, sizeof(request),
			 "{\"command\": \"show\", \"what\": \"%s\"}\n", whats[i][0]);
		answer = ask_for(request);
		CT_NOTE("%s", whats[i][0]);
		CT_ASSERT_NE(answer, NULL);
		CT_EXPECT_STREQ(json_string_value(json_object_get(answer, "name")),
				"five");
		CT_EXPECT_EQ(json_integer_value(json_object_get(answer, "router")), 5);
		CT_EXPECT_TRUE(json_is_array(json_object_get(answer, whats[i][1])));
		json_decref(answer);
	}
}

/* "drain" of the answer; < 0: there is an error. The number of connections. */
static json_int_t drains(const char *action, bool *drain)
{
	json_t *answer;
	json_int_t left;
	char request[96];

	snprintf(request, sizeof(request), "{\"command\":\"drain\",\"action\":\"%s\"}\n",
		 action);
	answer = ask_for(request);
	*drain = json_is_true(json_object_get(answer, "drain"));
	left = json_object_get(answer, "error")
		       ? -1
		       : json_integer_value(
				 json_object_get(json_object_get(answer, "draining"),
						 "connections"));
	json_decref(answer);
	return left;
}

CT_TEST_F(control, drains_and_undoes_it)
{
	json_t *answer, *draining;
	bool drain;

	CT_ASSERT_EQ(frt_control_open(&one.node, &control), 0);
	CT_EXPECT_EQ(drains("look", &drain), 0);
	CT_EXPECT_FALSE(drain || one.node.drain);
	CT_EXPECT_EQ(drains("begin", &drain), 0);
	CT_EXPECT_TRUE(drain && one.node.drain);
	ct_time_pass(1200);
	answer = ask_for("{\"command\":\"show\",\"what\":\"topology\"}\n");
	draining = json_object_get(answer, "draining");
	CT_EXPECT_EQ(json_integer_value(json_object_get(draining, "age_ms")), 1200);
	CT_EXPECT_TRUE(json_is_false(json_object_get(draining, "exit")));
	json_decref(answer);
	CT_EXPECT_EQ(drains("exit", &drain), 0);
	CT_EXPECT_TRUE(one.node.draining.exit);
	CT_EXPECT_EQ(drains("undo", &drain), 0);
	CT_EXPECT_FALSE(drain || one.node.drain || one.node.leave);
	one.node.stopping = true;
	CT_EXPECT_EQ(drains("begin", &drain), -1);
}

CT_TEST_F(control, a_neighbour_is_shown)
{
	json_t *answer, *adjacency;

	CT_ASSERT_EQ(frt_control_open(&one.node, &control), 0);
	CT_ASSERT_NE(one_visitor(&one, 9, 1), NULL);
	answer = ask_for("{\"command\":\"show\",\"what\":\"adjacencies\"}\n");
	adjacency = json_array_get(json_object_get(answer, "adjacencies"), 0);
	CT_EXPECT_EQ(json_integer_value(json_object_get(adjacency, "router")), 9);
	CT_EXPECT_STREQ(json_string_value(json_object_get(adjacency, "subnet")), "3:1");
	json_decref(answer);
}

CT_TEST_F(control, a_probe_of_nowhere_is_answered_at_once)
{
	json_t *answer;

	CT_ASSERT_EQ(frt_control_open(&one.node, &control), 0);
	answer = ask_for("{\"command\":\"probe\",\"target\":\"3:77:10.0.0.1\"}\n");
	CT_ASSERT_NE(answer, NULL);
	CT_EXPECT_TRUE(json_is_false(json_object_get(answer, "reached")));
	CT_EXPECT_EQ(json_integer_value(json_object_get(answer, "answered_by")), 5);
	json_decref(answer);
}

CT_TEST_F(control, who_says_nothing_is_let_go_in_time)
{
	char byte;
	int fd;

	CT_ASSERT_EQ(frt_control_open(&one.node, &control), 0);
	fd = connect_to();
	CT_EXPECT_EQ(send(fd, "{", 1, 0), 1);
	run();
	ct_time_pass(FRT_CONTROL_MS - 1);
	run();
	CT_EXPECT_EQ(recv(fd, &byte, 1, 0), -1);
	ct_time_pass(1);
	run();
	CT_EXPECT_EQ(recv(fd, &byte, 1, 0), 0);
	close(fd);
}

CT_TEST_F(control, so_many_may_ask_at_a_time)
{
	int fd[FRT_CONTROL_CLIENTS], more;
	json_t *answer;
	size_t i;

	CT_ASSERT_EQ(frt_control_open(&one.node, &control), 0);
	for (i = 0; i < FRT_CONTROL_CLIENTS; i++) {
		fd[i] = connect_to();
		run();
	}
	more = connect_to();
	run();
	answer = answer_of(more);
	CT_EXPECT_TRUE(json_string_value(json_object_get(answer, "error")));
	json_decref(answer);
	close(more);
	/* Who goes makes room. */
	close(fd[0]);
	run();
	fd[0] = connect_to();
	CT_EXPECT_GT(send(fd[0], "{}\n", 3, 0), 0);
	run();
	answer = answer_of(fd[0]);
	CT_EXPECT_DATA(json_string_value(json_object_get(answer, "error")), "command");
	json_decref(answer);
	for (i = 0; i < FRT_CONTROL_CLIENTS; i++)
		close(fd[i]);
}

/* An answer that is longer than what a socket holds. */
#define MANY 3000u

static int ask_long(void)
{
	struct rte_lsa lsa = {.as = 3, .epoch = 1, .seq = 1, .lifetime = 60000};
	struct rte_lsdb *db = rte_sync_db(one.node.sync);
	int fd;

	for (lsa.router = 1000; lsa.router < 1000 + MANY; lsa.router++)
		CT_EXPECT_EQ(rte_lsdb_put(db, &lsa, crn_now_ms()), 1);
	CT_EXPECT_EQ(frt_control_open(&one.node, &control), 0);
	fd = connect_to();
	CT_EXPECT_GT(send(fd, "{\"command\":\"show\",\"what\":\"topology\"}\n", 37, 0),
		     0);
	run();
	return fd;
}

/* What there is now: false: that was the end. */
static bool read_some(int fd, char *buf, size_t size, size_t *len)
{
	ssize_t ret = recv(fd, buf + *len, size - *len, 0);

	if (ret > 0)
		*len += (size_t)ret;
	return ret > 0 || (ret < 0 && errno == EAGAIN);
}

CT_TEST_F(control, a_long_answer_goes_as_it_is_read)
{
	static char buf[4u << 20];
	size_t len = 0;
	json_t *answer;
	int fd = ask_long();

	while (read_some(fd, buf, sizeof(buf), &len))
		run();
	answer = json_loadb(buf, len, 0, NULL);
	CT_EXPECT_EQ(json_array_size(json_object_get(answer, "routers")), MANY + 1);
	json_decref(answer);
	close(fd);
}

CT_TEST_F(control, who_does_not_read_is_let_go_in_time)
{
	static char buf[4u << 20];
	size_t len = 0;
	json_t *answer;
	int fd = ask_long();

	ct_time_pass(FRT_CONTROL_MS - 1);
	run();
	ct_time_pass(1);
	run();
	/* What was sent before is there, and nothing more. */
	while (read_some(fd, buf, sizeof(buf), &len))
		run();
	answer = json_loadb(buf, len, 0, NULL);
	CT_EXPECT_GT(len, 0);
	CT_EXPECT_EQ(answer, NULL);
	close(fd);
}

CT_TEST_F(control, who_goes_before_the_answer_leaves_nothing_behind)
{
	int fd;

	CT_ASSERT_EQ(frt_control_open(&one.node, &control), 0);
	fd = connect_to();
	CT_EXPECT_GT(send(fd, "{\"command\":\"show\",\"what\":\"routes\"}\n", 35, 0), 0);
	close(fd);
	run();
	CT_EXPECT_FALSE(frt_control_run(control));
}

/* More subnets than are looked at before the loop goes on. */
static int ask_many_routes(void)
{
	static struct rte_link link[60];
	struct rte_lsa lsa = {.as = 3, .epoch = 1, .seq = 1, .links = 60, .link = link};
	const char *request = "{\"command\":\"show\",\"what\":\"routes\"}\n";
	uint32_t i;
	int fd;

	for (lsa.router = 1000; lsa.router < 1010; lsa.router++) {
		for (i = 0; i < 60; i++)
			link[i] = (struct rte_link){
				.subnet = (uint32_t)lsa.router * 100 + i,
				.scope_as = 3,
				.rate = 1000000000,
				.frag_max = 4096,
				.up = true,
				.uri = "",
			};
		frt_routes_put(&one.node, &lsa);
	}
	CT_EXPECT_GE(rte_graph_nets(frt_routes_graph(&one.node)), 600);
	CT_EXPECT_EQ(frt_control_open(&one.node, &control), 0);
	fd = connect_to();
	CT_EXPECT_GT(send(fd, request, strlen(request), 0), 0);
	/* There is more to do at once. */
	CT_EXPECT_TRUE(frt_control_run(control));
	CT_EXPECT_TRUE(frt_control_run(control));
	return fd;
}

CT_TEST_F(control, routes_are_computed_a_few_at_a_time)
{
	static char buf[1u << 20];
	unsigned int runs = 0;
	size_t len = 0;
	json_t *answer;
	int fd = ask_many_routes();

	while (frt_control_run(control))
		runs++;
	CT_EXPECT_GT(runs, 20);
	while (read_some(fd, buf, sizeof(buf), &len))
		run();
	answer = json_loadb(buf, len, 0, NULL);
	CT_EXPECT_EQ(json_array_size(json_object_get(answer, "routes")),
		     rte_graph_nets(frt_routes_graph(&one.node)));
	json_decref(answer);
	close(fd);
}

CT_TEST_F(control, who_goes_while_routes_are_computed_makes_no_more_work)
{
	int fd = ask_many_routes();

	close(fd);
	CT_EXPECT_FALSE(frt_control_run(control));
}
