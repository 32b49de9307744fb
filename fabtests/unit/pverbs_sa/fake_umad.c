/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <sys/eventfd.h>
#include "fake_umad.h"

struct fake_umad fake;
static int fake_fd = -1;

void fake_reset(void)
{
	fake = (struct fake_umad){.port = {.ca_name = "fake0",
					   .portnum = 1,
					   .base_lid = 7,
					   .sm_lid = 1,
					   .sm_sl = 3,
					   .state = 4,
					   .gid_prefix = htobe64(0xfe80ull << 48),
					   .port_guid = htobe64(0x100001),
					   .pkeys_size = 4,
					   .link_layer = "InfiniBand"},
				  .pkeys = {0x8008, 0xffff, 0, 0x0009}};
}

void fake_arrive(const uint8_t *mad, uint32_t status)
{
	struct fake_mad *const in = &fake.in[fake.arrived++ % FAKE_MADS];

	memcpy(in->data, mad, sizeof(in->data));
	in->status = status;
	eventfd_write(fake_fd, 1);
}

int umad_init(void)
{
	return 0;
}

int umad_get_port(const char *ca_name, int portnum, umad_port_t *port)
{
	if ((ca_name && strcmp(ca_name, fake.port.ca_name)) ||
	    (portnum && portnum != fake.port.portnum))
		return -ENODEV;
	errno = fake.port_errno;
	if (errno)
		return -EIO;
	*port = fake.port;
	port->pkeys = fake.pkeys;
	return 0;
}

int umad_release_port(umad_port_t *port)
{
	port->pkeys = NULL;
	return 0;
}

int umad_open_port(const char *ca_name, int portnum)
{
	errno = fake.open_errno;
	if (errno)
		return -EIO;
	fake.opened++;
	fake_fd = eventfd(0, EFD_NONBLOCK | EFD_SEMAPHORE);
	return fake_fd;
}

int umad_close_port(int portid)
{
	fake.closed++;
	return close(portid);
}

int umad_get_fd(int portid)
{
	return portid;
}

int umad_register(int portid, int mgmt_class, int mgmt_version, uint8_t rmpp_version,
		  long method_mask[16 / sizeof(long)])
{
	if (mgmt_class != PVB_SA_CLASS || mgmt_version != PVB_SA_CLASS_VERSION ||
	    (method_mask && fake.reports_used))
		return -EPERM;
	fake.reporters += method_mask != NULL;
	return fake.agents++;
}

size_t umad_size(void)
{
	return sizeof(ib_user_mad_t);
}

void *umad_get_mad(void *umad)
{
	return ((ib_user_mad_t *)umad)->data;
}

int umad_status(void *umad)
{
	return (int)((ib_user_mad_t *)umad)->status;
}

int umad_set_addr(void *umad, int dlid, int dqp, int sl, int qkey)
{
	ib_mad_addr_t *const addr = &((ib_user_mad_t *)umad)->addr;

	addr->lid = htons((uint16_t)dlid);
	addr->qpn = htonl((uint32_t)dqp);
	addr->sl = (uint8_t)sl;
	addr->qkey = htonl((uint32_t)qkey);
	return 0;
}

int umad_set_pkey(void *umad, int pkey_index)
{
	((ib_user_mad_t *)umad)->addr.pkey_index = (uint16_t)pkey_index;
	return 0;
}

int umad_send(int portid, int agentid, void *umad, int length, int timeout_ms,
	      int retries)
{
	struct fake_mad *const sent = &fake.sent[fake.sends % FAKE_MADS];

	errno = fake.send_errno;
	if (errno || length != PVB_MAD_SIZE)
		return -EIO;
	sent->addr = ((ib_user_mad_t *)umad)->addr;
	sent->timeout_ms = timeout_ms;
	memcpy(sent->data, umad_get_mad(umad), sizeof(sent->data));
	fake.sends++;
	if (fake.on_send)
		fake.on_send(sent);
	return 0;
}

int umad_recv(int portid, void *umad, int *length, int timeout_ms)
{
	const struct fake_mad *in;
	eventfd_t count;

	errno = fake.gone ? EIO : EAGAIN;
	if (fake.gone || eventfd_read(fake_fd, &count))
		return -errno;
	in = &fake.in[fake.received++ % FAKE_MADS];
	((ib_user_mad_t *)umad)->status = in->status;
	memcpy(umad_get_mad(umad), in->data, sizeof(in->data));
	*length = sizeof(in->data);
	return 0;
}
