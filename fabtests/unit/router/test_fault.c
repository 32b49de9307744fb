/* SPDX-License-Identifier: BSD-2-Clause */
/* util/fi_router/control: faults as they are asked for, and shown. */
#include <stdio.h>
#include <string.h>
#include "cairn_test.h"
#include "control/inside.h"
#include "one.h"

static struct frt_request request;

/* NULL: it is right. members: behind the command. */
static const char *parse(const char *members)
{
	char text[FRT_REQUEST_MAX];

	snprintf(text, sizeof(text), "{\"command\":\"fault\",%s}", members);
	return frt_request_parse(&request, text, strlen(text));
}

CT_TEST(fault, is_of_all_messages_unless_it_is_said)
{
	const struct rte_fault *fault = &request.fault.fault;

	CT_EXPECT_EQ(parse("\"do\":\"set\",\"act\":\"blackhole\""), NULL);
	CT_EXPECT_EQ(request.command, FRT_FAULT);
	CT_EXPECT_EQ(request.fault.what, FRT_FAULT_SET);
	CT_EXPECT_EQ(fault->act, RTE_FAULT_BLACKHOLE);
	CT_EXPECT_EQ(fault->class, RTE_FAULT_ALL);
	CT_EXPECT_EQ(fault->ways, RTE_FAULT_IN | RTE_FAULT_OUT);
	CT_EXPECT_EQ(fault->chance, RTE_FAULT_ALWAYS);
	CT_EXPECT_EQ(fault->most, 0);
	CT_EXPECT_EQ(fault->router, 0);
	CT_EXPECT_EQ(fault->host.sa.sa_family, AF_UNSPEC);
	CT_EXPECT_STREQ(fault->device, "");
}

CT_TEST(fault, has_every_member_that_can_be_said)
{
	const struct rte_fault *fault = &request.fault.fault;

	CT_EXPECT_EQ(
		parse("\"do\":\"set\",\"act\":\"delay\",\"delay\":20,\"device\":\"n1\","
		      "\"peer\":\"7\",\"way\":\"in\",\"class\":\"acks\","
		      "\"chance\":0.25,\"seed\":9,\"count\":3"),
		NULL);
	CT_EXPECT_EQ(fault->act, RTE_FAULT_DELAY);
	CT_EXPECT_EQ(fault->delay, 20);
	CT_EXPECT_STREQ(fault->device, "n1");
	CT_EXPECT_EQ(fault->router, 7);
	CT_EXPECT_EQ(fault->ways, RTE_FAULT_IN);
	CT_EXPECT_EQ(fault->class, RTE_FAULT_ACKS);
	CT_EXPECT_EQ(fault->chance, RTE_FAULT_ALWAYS / 4);
	CT_EXPECT_EQ(fault->seed, 9);
	CT_EXPECT_EQ(fault->most, 3);
	CT_EXPECT_EQ(parse("\"do\":\"set\",\"act\":\"blackhole\",\"peer\":\"10.0.1.1\""),
		     NULL);
	CT_EXPECT_EQ(fault->host.sa.sa_family, AF_INET);
	CT_EXPECT_EQ(parse("\"do\":\"set\",\"act\":\"blackhole\",\"peer\":\"fe80::1\""),
		     NULL);
	CT_EXPECT_EQ(fault->host.sa.sa_family, AF_INET6);
	CT_EXPECT_EQ(parse("\"do\":\"clear\",\"id\":4"), NULL);
	CT_EXPECT_EQ(request.fault.id, 4);
	CT_EXPECT_EQ(parse("\"do\":\"clear\""), NULL);
	CT_EXPECT_EQ(request.fault.id, 0);
	CT_EXPECT_EQ(parse("\"do\":\"show\""), NULL);
}

CT_TEST(fault, that_is_wrong_is_told_why)
{
	static const struct {
		const char *members, *named;
	} wrong[] = {
		{"\"id\":1", "do"},
		{"\"do\":\"kill\"", "do"},
		{"\"do\":\"set\"", "act"},
		{"\"do\":\"set\",\"act\":\"lose\"", "act"},
		{"\"do\":\"set\",\"act\":7", "act"},
		{"\"do\":\"set\",\"act\":\"drop\",\"id\":1", ""},
		{"\"do\":\"show\",\"id\":1", ""},
		{"\"do\":\"set\",\"act\":\"drop\",\"peer\":\"0\"", "id 64"},
		{"\"do\":\"set\",\"act\":\"drop\",\"peer\":\"18446744073709551616\"",
		 "id 64"},
		{"\"do\":\"set\",\"act\":\"drop\",\"peer\":\"r2\"", "peer"},
		{"\"do\":\"set\",\"act\":\"drop\",\"peer\":2", "peer"},
		{"\"do\":\"set\",\"act\":\"drop\",\"device\":\"\"", "device"},
		{"\"do\":\"set\",\"act\":\"drop\",\"way\":\"up\"", "way"},
		{"\"do\":\"set\",\"act\":\"drop\",\"class\":\"x\"", "class"},
		{"\"do\":\"set\",\"act\":\"drop\",\"chance\":0", "chance"},
		{"\"do\":\"set\",\"act\":\"drop\",\"chance\":1.5", "chance"},
		{"\"do\":\"set\",\"act\":\"drop\",\"seed\":-1", "seed"},
		{"\"do\":\"set\",\"act\":\"drop\",\"count\":0", "count"},
		{"\"do\":\"set\",\"act\":\"drop\"", "acks links"},
		{"\"do\":\"set\",\"act\":\"drop\",\"class\":\"data\"", "acks links"},
		{"\"do\":\"set\",\"act\":\"delay\"", "delay"},
		{"\"do\":\"set\",\"act\":\"drop\",\"delay\":5", "delay"},
		{"\"do\":\"set\",\"act\":\"delay\",\"delay\":60001", "delay"},
		{"\"do\":\"set\",\"act\":\"duplicate\",\"way\":\"out\"", "acks links"},
		{"\"do\":\"set\",\"act\":\"duplicate\",\"class\":\"acks\"", "acks links"},
		{"\"do\":\"set\",\"act\":\"blackhole\",\"class\":\"acks\"", "blackhole"},
		{"\"do\":\"set\",\"act\":\"blackhole\",\"count\":5", "blackhole"},
		{"\"do\":\"clear\",\"id\":0", "id"},
	};
	const char *why;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		CT_NOTE("%s", wrong[i].members);
		why = parse(wrong[i].members);
		CT_EXPECT_NE(why, NULL);
		if (why)
			CT_EXPECT_DATA(why, wrong[i].named);
	}
}

/* What is shown sets the same again. */
CT_TEST(fault, is_shown_as_it_was_asked_for)
{
	struct rte_fault fault;
	char text[512];
	json_t *object;

	CT_ASSERT_EQ(parse("\"do\":\"set\",\"act\":\"drop\",\"device\":\"n1\",\"peer\":"
			   "\"10.0.1.1\",\"way\":\"out\",\"class\":\"links\","
			   "\"chance\":0.5,\"seed\":9,\"count\":3"),
		     NULL);
	fault = request.fault.fault;
	object = frt_fault_json(&fault);
	CT_ASSERT_NE(object, NULL);
	json_object_del(object, "id");
	json_object_del(object, "hits");
	json_object_set_new(object, "do", json_string("set"));
	json_object_set_new(object, "command", json_string("fault"));
	json_dumpb(object, text, sizeof(text), 0);
	CT_EXPECT_EQ(frt_request_parse(&request, text, json_dumpb(object, NULL, 0, 0)),
		     NULL);
	json_decref(object);
	CT_EXPECT_EQ(memcmp(&request.fault.fault, &fault, sizeof(fault)), 0);
}

static json_int_t faults_in(json_t *document)
{
	const json_t *faults = json_object_get(document, "faults");
	const json_int_t count = faults ? (json_int_t)json_array_size(faults) : -1;

	json_decref(document);
	return count;
}

CT_FIXTURE(fault, struct one *, one_set_up, one_tear_down);

CT_TEST_F(fault, comes_and_goes)
{
	struct rte_port *port = frt_device_port(one_device(&one, "a"));

	rte_faults_init(&one.node.faults);
	CT_ASSERT_EQ(parse("\"do\":\"set\",\"act\":\"blackhole\",\"peer\":\"2\""), NULL);
	CT_EXPECT_EQ(faults_in(frt_inject(&one.node, &request.fault)), 1);
	/* Devices are told, of what ends as well: they may hold messages back. */
	CT_EXPECT_EQ(port->faults, &one.node.faults);
	CT_EXPECT_EQ(faults_in(frt_inject(&one.node, &request.fault)), 2);
	port->faults = NULL;
	CT_ASSERT_EQ(parse("\"do\":\"clear\",\"id\":1"), NULL);
	CT_EXPECT_EQ(faults_in(frt_inject(&one.node, &request.fault)), 1);
	CT_EXPECT_EQ(port->faults, &one.node.faults);
	CT_EXPECT_EQ(faults_in(frt_inject(&one.node, &request.fault)), -1);
	CT_ASSERT_EQ(parse("\"do\":\"clear\""), NULL);
	CT_EXPECT_EQ(faults_in(frt_inject(&one.node, &request.fault)), 0);
	CT_ASSERT_EQ(parse("\"do\":\"show\""), NULL);
	CT_EXPECT_EQ(faults_in(frt_inject(&one.node, &request.fault)), 0);
}
