/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Q_Key of the IPoIB link of a domain, which all its queue pairs have to have (draft
 * section 6.2): that of the link's broadcast group.
 */
#include <poll.h>
#include <sys/socket.h>
#include <cairn/compat.h>
#include "device/device.h"
#include "internal.h"
#include "link/link.h"

/* ms: it is looked for while a domain is opened. */
#define FIND_LONGEST 2000u
#define FIND_WAIT 250u
#define FIND_TRIES 2u

struct ud_find {
	struct pvb_umad umad;
	struct pvb_link link;
	bool done;
	int err;
};

static void find_done(void *arg, struct pvb_link *link, int err, uint16_t status)
{
	struct ud_find *find = arg;

	find->done = true;
	find->err = err;
}

static void find_wait(struct ud_find *find)
{
	struct pollfd wait = {.fd = pvb_umad_fd(&find->umad), .events = POLLIN};
	uint64_t now = pvb_umad_now();
	const uint64_t end = now + FIND_LONGEST;
	int ms;

	while (!find->done && now < end && !pvb_umad_progress(&find->umad)) {
		ms = pvb_umad_timeout(&find->umad);
		if (!find->done)
			poll(&wait, 1,
			     ms < 0 ? (int)(end - now) : CRN_MIN(ms, (int)(end - now)));
		now = pvb_umad_now();
	}
}

int pvb_ud_link_qkey(const struct pvb_domain *domain, const struct pvb_ud_domain *ud,
		     uint32_t *qkey)
{
	const struct pvb_umad_config config = {.ca = pvb_domain_device(domain),
					       .port = ud->path.port};
	struct ud_find find = {.err = -FI_ETIMEDOUT};
	const struct pvb_link_config link = {
		.profile = (enum pvb_mc_profile)ud->link.profile,
		.family = AF_INET,
		.pkey = ud->link.pkey,
		.port_mtu = pvb_link_mtu_code(ud->path.mtu),
		.wait_ms = FIND_WAIT,
		.tries = FIND_TRIES,
		.done = find_done,
		.arg = &find,
	};
	int ret = pvb_umad_open(&find.umad, &config);

	/* fi_join logs another reason. */
	if (ret)
		return pvb_is_shortage(ret) ? ret : 0;
	if (!pvb_link_open(&find.link, &find.umad.client, &link, pvb_umad_now()))
		find_wait(&find);
	if (find.done && !find.err)
		*qkey = find.link.group.qkey;
	pvb_umad_close(&find.umad);
	return 0;
}
