/* SPDX-License-Identifier: BSD-2-Clause */
/* What is there: link, show, list, check. */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <rdma/fi_errno.h>

#include "commands.h"
#include "draw/draw.h"
#include "print/print.h"
#include "rules/rules.h"

/* RFC 4391 section 7: the encapsulation header takes them. */
#define ENCAPSULATION 4

static const struct imc_subnet nothing;

void imc_one_of(const struct pvb_mcm *mcm, struct imc_one *one)
{
	*one = (struct imc_one){.record = {.mcm = *mcm}};
	imc_name_of(mcm->mgid, &one->record.name);
	one->group.record = &one->record;
}

int imc_written(int ret)
{
	if (ret == -FI_ENOMEM)
		fputs("fi_ibmc: no memory\n", stderr);
	return ret ? IMC_FAILED : IMC_DONE;
}

static json_t *link_json(int family, const struct pvb_link *link)
{
	struct imc_one one;
	json_t *object;

	imc_one_of(&link->group, &one);
	object = imc_group_json(&nothing, &one.group);
	json_object_set_new(object, "family", json_integer(family == AF_INET ? 4 : 6));
	json_object_set_new(object, "ip_mtu", json_integer(link->mtu - ENCAPSULATION));
	return object;
}

static void print_link(int family, const struct pvb_link *link)
{
	char text[IMC_TEXT];

	printf("IPv%d: %s, scope %u, MLID 0x%04x, P_Key 0x%04x\n      ",
	       family == AF_INET ? 4 : 6, imc_gid_text(link->group.mgid, text),
	       link->map.scope, link->group.mlid, link->group.pkey);
	imc_print_attrs(&link->group, stdout);
}

/* Adds to the array what is there, or prints it. */
static int one_family(struct imc_session *session, int family, json_t *array)
{
	struct pvb_link link;
	const int status = imc_find_link(session, family, &link);

	if (status == IMC_NOT_THERE && !session->options->json)
		printf("IPv%d: there is no link of P_Key 0x%04x\n",
		       family == AF_INET ? 4 : 6, session->options->pkey);
	if (status)
		return status;
	if (session->options->json)
		json_array_append_new(array, link_json(family, &link));
	else
		print_link(family, &link);
	return IMC_DONE;
}

int imc_link(struct imc_session *session)
{
	const struct imc_options *options = session->options;
	json_t *array = json_array();
	int v4 = IMC_NOT_THERE, v6 = IMC_NOT_THERE;

	if (options->v4 || !options->v6)
		v4 = one_family(session, AF_INET, array);
	if (options->v6 || !options->v4)
		v6 = one_family(session, AF_INET6, array);
	if (!options->json)
		json_decref(array);
	else if (imc_written(imc_json_print(json_pack("{s:o}", "links", array), false,
					    stdout)))
		return IMC_FAILED;
	if (v4 == IMC_FAILED || v6 == IMC_FAILED)
		return IMC_FAILED;
	return v4 && v6 ? IMC_NOT_THERE : IMC_DONE;
}

static int show_one(struct imc_session *session, const char *word, json_t *array)
{
	struct imc_subnet subnet = {0};
	struct imc_name name;
	int status = imc_find_name(session, word, &name, NULL);

	if (status)
		return status;
	status = imc_gather(session, 0, name.mgid, &subnet);
	if (!status && !subnet.groups) {
		fprintf(stderr, "fi_ibmc: %s: there is no such group\n", word);
		status = IMC_NOT_THERE;
	} else if (!status && session->options->json) {
		json_array_append_new(array, imc_group_json(&subnet, subnet.group));
	} else if (!status) {
		status = imc_written(imc_print_group(&subnet, subnet.group));
	}
	imc_subnet_free(&subnet);
	return status;
}

int imc_show(struct imc_session *session)
{
	const struct imc_options *options = session->options;
	json_t *array = json_array();
	int status = IMC_DONE, one, i;

	for (i = 0; i < options->words; i++) {
		if (i && !options->json)
			putchar('\n');
		one = show_one(session, options->word[i], array);
		if (one)
			status = one;
	}
	if (!options->json)
		json_decref(array);
	else if (imc_written(imc_json_print(json_pack("{s:o}", "groups", array), false,
					    stdout)))
		status = IMC_FAILED;
	return status;
}

static int write_list(const struct imc_options *options, const struct imc_subnet *subnet,
		      FILE *out)
{
	if (options->dot)
		return imc_dot(subnet, out);
	if (options->svg)
		return imc_svg(subnet, out);
	if (options->json)
		return imc_json_print(imc_list_json(subnet), false, out);
	return imc_print_list(subnet, out);
}

static int write_to_file(const struct imc_options *options,
			 const struct imc_subnet *subnet)
{
	FILE *out = fopen(options->out, "w");
	int ret;

	if (!out) {
		fprintf(stderr, "fi_ibmc: %s: %s\n", options->out, strerror(errno));
		return IMC_FAILED;
	}
	ret = write_list(options, subnet, out);
	if (ferror(out) + fclose(out)) {
		fprintf(stderr, "fi_ibmc: %s: %s\n", options->out, strerror(errno));
		return IMC_FAILED;
	}
	return imc_written(ret);
}

int imc_list(struct imc_session *session)
{
	const struct imc_options *options = session->options;
	struct imc_subnet subnet = {0};
	int status = imc_gather(session, IMC_GATHER_NODES, NULL, &subnet);

	if (!status && options->out)
		status = write_to_file(options, &subnet);
	else if (!status)
		status = imc_written(write_list(options, &subnet, stdout));
	imc_subnet_free(&subnet);
	return status;
}

static int print_report(const struct imc_session *session,
			const struct imc_subnet *subnet, const struct imc_report *report)
{
	const bool strict = session->options->strict;

	if (!session->options->json)
		imc_print_report(subnet, report);
	else if (imc_written(
			 imc_json_print(imc_report_json(subnet, report), false, stdout)))
		return IMC_FAILED;
	return report->violated[IMC_MUST] || (strict && report->violated[IMC_SHOULD])
		       ? IMC_VIOLATED
		       : IMC_DONE;
}

int imc_check(struct imc_session *session)
{
	struct imc_subnet subnet = {0};
	struct imc_report report = {0};
	int status =
		imc_gather(session, IMC_GATHER_NODES | IMC_GATHER_PORTS, NULL, &subnet);

	if (!status)
		status = imc_written(
			imc_rules(&subnet, &session->options->attrs, &report));
	if (!status)
		status = print_report(session, &subnet, &report);
	imc_report_free(&report);
	imc_subnet_free(&subnet);
	return status;
}
