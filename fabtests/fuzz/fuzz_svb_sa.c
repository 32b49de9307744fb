/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a client sends to simverbs' subnet administration: a LID (two bytes), then a
 * datagram. There is an answer or there is none; it is one, and the groups hold together.
 */
#include <dirent.h>
#include <string.h>
#include <unistd.h>
#include "fuzz.h"
#include "sa/sa.h"

static char dir[] = "/dev/shm/fuzz_svb_sa.XXXXXX";

static void end(void)
{
	DIR *folder = opendir(dir);
	struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		unlinkat(dirfd(folder), entry->d_name, 0);
	if (folder)
		closedir(folder);
	rmdir(dir);
}

static void begin(void)
{
	static bool begun;

	if (begun)
		return;
	begun = true;
	FUZZ_CHECK(mkdtemp(dir));
	atexit(end);
	setenv("SIMVERBS_DIR", dir, 1);
	setenv("SIMVERBS_LINK_LAYER", "infiniband", 1);
	setenv("SIMVERBS_DEVICES", "2", 1);
	FUZZ_CHECK(!svb_join());
}

static void check_answer(const uint8_t *asked, const uint8_t *answer, size_t len)
{
	FUZZ_CHECK(answer && len >= SVB_SA_DATA);
	FUZZ_CHECK(answer[SVB_MAD_METHOD] & SVB_METHOD_RESPONSE);
	FUZZ_CHECK(answer[SVB_MAD_CLASS] == asked[SVB_MAD_CLASS]);
	FUZZ_CHECK(!memcmp(answer + SVB_MAD_TID, asked + SVB_MAD_TID, 10));
	if (answer[SVB_MAD_CLASS] == SVB_CLASS_SA && answer[SVB_RMPP_VERSION])
		FUZZ_CHECK((len - SVB_SA_DATA) %
				   (svb_mad_get(answer, SVB_SA_OFFSET, 2) * 8) ==
			   0);
	else
		FUZZ_CHECK(len == SVB_MAD_SIZE);
}

/* A group that no manager made has a full member; who is sent to is a member. */
static void check_groups(void)
{
	uint32_t place, port, places = svb_subnet_places();
	struct svb_group group;
	uint8_t all, state;

	for (place = 0; place < places; place++) {
		if (!svb_subnet_get(place, &group))
			continue;
		FUZZ_CHECK(svb_subnet_find(&group.mgid) == (int)place);
		for (all = 0, port = 0; port < SVB_MAX_SUBNET_PORTS; port++) {
			state = svb_group_state(&group, port);
			all |= state;
			FUZZ_CHECK(!(state & SVB_JOIN_RECEIVES) ==
				   !(group.receivers >> port & 1));
		}
		FUZZ_CHECK(group.made || all & SVB_JOIN_KEEPS);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct svb_sa_client client = {.bell = 1};
	uint8_t mad[SVB_MAD_SIZE] = {0}, *answer;
	uint32_t late;
	size_t len;

	begin();
	if (size < 2)
		return 0;
	client.port = svb_port_by_index(0);
	memcpy(mad, data + 2, size - 2 < sizeof(mad) ? size - 2 : sizeof(mad));
	len = svb_sa_answer(&client, (uint16_t)svb_mad_get(data, 0, 2), mad, &answer,
			    &late);
	if (len)
		check_answer(mad, answer, len);
	free(answer);
	check_groups();
	return 0;
}
