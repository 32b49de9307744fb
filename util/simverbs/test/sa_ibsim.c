/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ibsim gives reports only to a node that could be a subnet manager: it has agents for
 * both classes of subnet management, has opened its issm file, and says of itself that it
 * does not want to be one. It says so here, behind libibumad's calls.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/umad.h>
#include "sa_ask.h"

#define CLASS_SMP 0x01
#define CLASS_SMP_DIRECTED 0x81
#define METHOD_GET 0x01
#define ATTR_SM_INFO 0x20
#define SMP_DATA_AT 64

/* Of which the linker makes the calls of the port. */
int __real_umad_recv(int portid, void *umad, int *length, int timeout_ms);
int __wrap_umad_recv(int portid, void *umad, int *length, int timeout_ms);

bool sa_be_manager(void)
{
	long methods[16 / sizeof(long)] = {1l << METHOD_GET};
	char path[64];

	return umad_register(sa.portid, CLASS_SMP_DIRECTED, 1, 0, methods) >= 0 &&
	       umad_register(sa.portid, CLASS_SMP, 1, 0, methods) >= 0 &&
	       !umad_get_issm_path(sa.port.ca, sa.port.number, path, sizeof(path)) &&
	       open(path, O_NONBLOCK) >= 0;
}

/* Not active, of the lowest priority. */
static void answer(int portid, int agent, uint8_t *mad, void *umad)
{
	struct pvb_sm_info info = {.act_count = 1};

	if (mad[3] != METHOD_GET || (mad[16] << 8 | mad[17]) != ATTR_SM_INFO)
		return;
	memcpy(&info.guid, sa.port.gid + 8, sizeof(info.guid));
	info.guid = be64toh(info.guid);
	mad[3] = METHOD_GET | PVB_SA_RESPONSE;
	if (mad[1] == CLASS_SMP_DIRECTED)
		mad[4] |= 0x80; /* it goes back */
	pvb_sm_info_pack(mad + SMP_DATA_AT, &info);
	umad_send(portid, agent, umad, PVB_MAD_SIZE, 0, 0);
}

int __wrap_umad_recv(int portid, void *umad, int *length, int timeout_ms)
{
	const int ret = __real_umad_recv(portid, umad, length, timeout_ms);
	uint8_t *const mad = umad_get_mad(umad);

	if (ret < 0 || mad[1] == PVB_SA_CLASS)
		return ret;
	answer(portid, ret, mad, umad);
	errno = EAGAIN;
	return -EAGAIN;
}
