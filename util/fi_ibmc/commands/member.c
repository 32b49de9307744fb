/* SPDX-License-Identifier: BSD-2-Clause */
/* Memberships of the port: join and leave (draft section 8). */
#include <math.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "print/print.h"

/* What this process joined, and so leaves. */
struct joined {
	uint8_t mgid[16];
	bool ours;
};

static void tell(const struct imc_session *session, const struct pvb_mcm *mcm, bool ours,
		 bool created)
{
	static const struct imc_subnet nothing;
	char gid[IMC_TEXT], state[IMC_TEXT];
	struct imc_one one;
	json_t *object;

	imc_one_of(mcm, &one);
	if (session->options->json) {
		object = imc_group_json(&nothing, &one.group);
		json_object_set_new(object, "joined", json_boolean(ours));
		json_object_set_new(object, "created", json_boolean(created));
		json_object_set_new(object, "state",
				    json_string(imc_state_text(mcm->join_state, state)));
		imc_json_print(object, true, stdout);
	} else {
		printf("%s %s as %s, MLID 0x%04x: ",
		       created ? "Created and joined"
		       : ours  ? "Joined"
			       : "The port is a member already of",
		       imc_gid_text(mcm->mgid, gid),
		       imc_state_text(mcm->join_state, state), mcm->mlid);
		imc_print_attrs(mcm, stdout);
	}
	fflush(stdout);
}

static int check_mtu(const struct imc_session *session, const struct pvb_mcm *mcm)
{
	char gid[IMC_TEXT];

	if (mcm->mtu <= session->port_mtu)
		return IMC_DONE;
	fprintf(stderr,
		"fi_ibmc: %s: its MTU %u is above the port's, %u: not joined (draft 7: "
		"R16)\n",
		imc_gid_text(mcm->mgid, gid), imc_mtu_bytes(mcm->mtu),
		imc_mtu_bytes(session->port_mtu));
	return IMC_FAILED;
}

/* A membership that is there may be another program's: it stays, also if nobody tells of
 * what state it is. */
static int is_member(struct imc_session *session, const uint8_t mgid[16],
		     struct pvb_mcm *mcm)
{
	const int status = imc_get_member(session, mgid, mcm);

	return !status && mcm->join_state && !(mcm->join_state & session->options->state)
		       ? IMC_NOT_THERE
		       : status;
}

/* Of a link, a group that is absent is created as the link's groups are. */
static int join_one(struct imc_session *session, const char *word, struct joined *joined)
{
	const uint8_t state = session->options->state;
	struct pvb_link link = {0};
	struct imc_name name;
	struct pvb_mcm mcm;
	bool absent = false;
	int status = imc_find_name(session, word, &name, &link);

	if (status)
		return status;
	memcpy(joined->mgid, name.mgid, sizeof(joined->mgid));
	status = is_member(session, name.mgid, &mcm);
	if (!status)
		tell(session, &mcm, false, false);
	if (status != IMC_NOT_THERE)
		return status;
	status = imc_get_group(session, name.mgid, &mcm);
	absent = status == IMC_NOT_THERE;
	if (!status)
		status = check_mtu(session, &mcm);
	else if (absent)
		status = IMC_DONE;
	/* Who only sends creates none (draft section 8). */
	if (absent && (!link.mtu || state != PVB_MCM_FULL)) {
		fprintf(stderr, "fi_ibmc: %s: there is no such group\n", word);
		return IMC_NOT_THERE;
	}
	if (!status)
		status = imc_join_group(session, name.mgid, state,
					absent ? &link.group : NULL, &mcm);
	if (status)
		return status;
	joined->ours = true;
	tell(session, &mcm, true, absent);
	return IMC_DONE;
}

/* A subnet manager that has begun anew knows no members. */
static void join_again(struct imc_session *session, struct joined *joined)
{
	const int words = session->options->words;
	int i;

	session->events = 0;
	fputs("fi_ibmc: the subnet manager has begun anew: joining again\n", stderr);
	for (i = 0; i < words; i++)
		if (joined[i].ours) {
			joined[i].ours = false;
			join_one(session, session->options->word[i], &joined[i]);
		}
}

static int hold(struct imc_session *session, struct joined *joined)
{
	const uint64_t until = imc_deadline(session->options->seconds);
	int ret = imc_follow(session, false);

	while (!ret && !imc_stopped() && pvb_umad_now() < until) {
		ret = imc_wait(session, until);
		if (session->events & IMC_RESTARTED)
			join_again(session, joined);
	}
	return ret ? imc_failed(session, "waiting", ret, 0) : IMC_DONE;
}

static int leave_all(struct imc_session *session, const struct joined *joined, int count)
{
	int status = IMC_DONE, i;

	for (i = 0; i < count; i++)
		if (joined[i].ours &&
		    imc_leave_group(session, joined[i].mgid, session->options->state))
			status = IMC_FAILED;
	return status;
}

int imc_join(struct imc_session *session)
{
	const struct imc_options *options = session->options;
	struct joined *joined = calloc((size_t)options->words, sizeof(struct joined));
	int status = joined ? IMC_DONE : IMC_FAILED, left, i;

	imc_catch();
	for (i = 0; i < options->words && !status && !imc_stopped(); i++)
		status = join_one(session, options->word[i], &joined[i]);
	if (!status && !options->stay)
		status = hold(session, joined);
	if (joined && (status || !options->stay)) {
		left = leave_all(session, joined, options->words);
		status = status ? status : left;
	}
	free(joined);
	return status;
}

int imc_leave(struct imc_session *session)
{
	const struct imc_options *options = session->options;
	struct imc_name name;
	int status = IMC_DONE, one, i;

	for (i = 0; i < options->words; i++) {
		one = imc_find_name(session, options->word[i], &name, NULL);
		if (!one)
			one = imc_leave_group(session, name.mgid, options->state);
		if (one)
			status = one;
	}
	return status;
}
