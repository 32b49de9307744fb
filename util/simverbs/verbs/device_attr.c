/* SPDX-License-Identifier: BSD-2-Clause */
/* What a device and its ports say of themselves. */
#include <errno.h>
#include <string.h>
#include <time.h>
#include "ports.h"
#include "verbs.h"

const struct svb_device_settings *svb_device_of(struct ibv_context *ctx)
{
	return &svb_self.settings.device[svb_context(ctx)->device->index];
}

const struct svb_port *svb_port_of(struct ibv_context *ctx, uint32_t port)
{
	const struct svb_device_settings *device = svb_device_of(ctx);

	return port >= 1 && port <= device->ports ? &device->port[port - 1] : NULL;
}

/* How many places the table of GIDs has. */
static uint32_t svb_gid_places(void)
{
	return svb_self.iwarp ? 1 : SVB_MAX_GIDS;
}

SVB_API int ibv_query_device(struct ibv_context *ctx, struct ibv_device_attr *attr)
{
	const struct svb_settings *set = &svb_self.settings;
	const struct svb_device_settings *device = svb_device_of(ctx);

	if (svb_removed_ctx(ctx))
		return EIO;
	*attr = (struct ibv_device_attr){
		.fw_ver = "simverbs",
		.node_guid = htobe64(device->guid),
		.sys_image_guid = htobe64(device->guid),
		.max_mr_size = UINT64_MAX,
		.page_size_cap = 0xfffffffffffff000ull,
		/* Nobody's: IEEE's local bit is set. */
		.vendor_id = 0x020000,
		.vendor_part_id = 1,
		.max_qp = (int)set->max_qp,
		.max_qp_wr = (int)set->max_qp_wr,
		.device_cap_flags =
			IBV_DEVICE_BAD_PKEY_CNTR | IBV_DEVICE_BAD_QKEY_CNTR |
			IBV_DEVICE_CURR_QP_STATE_MOD | IBV_DEVICE_PORT_ACTIVE_EVENT |
			IBV_DEVICE_SYS_IMAGE_GUID | IBV_DEVICE_RC_RNR_NAK_GEN |
			IBV_DEVICE_N_NOTIFY_CQ | IBV_DEVICE_MEM_WINDOW |
			IBV_DEVICE_MEM_MGT_EXTENSIONS | IBV_DEVICE_MEM_WINDOW_TYPE_2B,
		.max_sge = (int)set->max_sge,
		.max_sge_rd = (int)set->max_sge,
		.max_cq = (int)set->max_cq,
		.max_cqe = (int)set->max_cqe,
		.max_mr = (int)set->max_mr,
		.max_pd = 1 << 20,
		.max_qp_rd_atom = (int)set->max_rd_atomic,
		.max_res_rd_atom = (int)set->max_rd_atomic * (int)set->max_qp,
		.max_qp_init_rd_atom = (int)set->max_rd_atomic,
		/* Not atomic for the processor when the memory is another process'. */
		.atomic_cap = set->atomics ? IBV_ATOMIC_HCA : IBV_ATOMIC_NONE,
		.max_mw = (int)set->max_mr,
		.max_mcast_grp = (int)set->max_mcast,
		.max_mcast_qp_attach = (int)set->max_mcast,
		.max_total_mcast_qp_attach = (int)set->max_mcast,
		.max_ah = 1 << 20,
		.max_srq = (int)set->max_srq,
		.max_srq_wr = (int)set->max_srq_wr,
		.max_srq_sge = (int)set->max_sge,
		.max_pkeys = SVB_MAX_PKEYS,
		.local_ca_ack_delay = 15,
		.phys_port_cnt = (uint8_t)device->ports,
	};
	return 0;
}

int svb_query_device_ex(struct ibv_context *ctx,
			const struct ibv_query_device_ex_input *input,
			struct ibv_device_attr_ex *attr, size_t size)
{
	struct ibv_device_attr_ex full = {0};
	int ret;

	if (size < sizeof(full.orig_attr))
		return EINVAL;
	ret = ibv_query_device(ctx, &full.orig_attr);
	if (ret)
		return ret;
	full.device_cap_flags_ex = full.orig_attr.device_cap_flags;
	if (svb_self.settings.flush)
		full.device_cap_flags_ex |= SVB_DEVICE_FLUSH_GLOBAL |
					    SVB_DEVICE_FLUSH_PERSISTENT |
					    SVB_DEVICE_ATOMIC_WRITE;
	full.completion_timestamp_mask = UINT64_MAX;
	full.hca_core_clock = 1000000; /* kHz: timestamps are in ns */
	full.phys_port_cnt_ex = full.orig_attr.phys_port_cnt;
	memset(attr, 0, size);
	memcpy(attr, &full, size < sizeof(full) ? size : sizeof(full));
	return 0;
}

int svb_query_rt_values(struct ibv_context *ctx, struct ibv_values_ex *values)
{
	uint32_t asked = values->comp_mask;

	values->comp_mask = asked & IBV_VALUES_MASK_RAW_CLOCK;
	if (values->comp_mask)
		clock_gettime(CLOCK_MONOTONIC, &values->raw_clock);
	return asked & ~(uint32_t)IBV_VALUES_MASK_RAW_CLOCK ? EINVAL : 0;
}

int svb_query_port(struct ibv_context *ctx, uint8_t num, struct ibv_port_attr *attr,
		   size_t size)
{
	const struct svb_port *port = svb_port_of(ctx, num);
	bool ib = svb_self.settings.link == SVB_LINK_IB;
	struct ibv_port_attr full = {
		.state = IBV_PORT_ACTIVE,
		.max_mtu = IBV_MTU_4096,
		.active_mtu = svb_self.settings.mtu,
		.port_cap_flags = IBV_PORT_CM_SUP,
		.max_msg_sz = 1u << 30,
		.sm_lid = ib ? 1 : 0,
		.max_vl_num = 1,
		.subnet_timeout = ib ? 18 : 0,
		.active_width = 2,  /* 4x */
		.active_speed = 32, /* EDR */
		.phys_state = 5,    /* LinkUp */
		.link_layer = ib ? IBV_LINK_LAYER_INFINIBAND : IBV_LINK_LAYER_ETHERNET,
	};

	if (svb_removed_ctx(ctx))
		return EIO;
	if (!port)
		return EINVAL;
	if (svb_port_down(port->index)) {
		full.state = IBV_PORT_DOWN;
		full.phys_state = 2; /* Polling */
	}
	full.lid = port->lid;
	full.bad_pkey_cntr = (uint32_t)svb_counted(port->index, SVB_COUNT_BAD_PKEY);
	full.qkey_viol_cntr = (uint32_t)svb_counted(port->index, SVB_COUNT_BAD_QKEY);
	full.pkey_tbl_len = (uint16_t)port->pkeys;
	full.gid_tbl_len = (int)svb_gid_places();
	if (svb_self.settings.link == SVB_LINK_ROCE) {
		full.port_cap_flags |= IBV_PORT_IP_BASED_GIDS;
		full.flags = IBV_QPF_GRH_REQUIRED;
	}
	memset(attr, 0, size);
	memcpy(attr, &full, size < sizeof(full) ? size : sizeof(full));
	return 0;
}

/* The function, not the macro of verbs.h: programs built with old headers have less room.
 */
#undef ibv_query_port
SVB_API int ibv_query_port(struct ibv_context *ctx, uint8_t port,
			   struct _compat_ibv_port_attr *attr)
{
	return svb_query_port(ctx, port, (struct ibv_port_attr *)attr,
			      offsetof(struct ibv_port_attr, port_cap_flags2));
}

/* Units of 100 Mb/s: 4 lanes of EDR (svb_query_port). */
SVB_API int ibv_query_port_speed(struct ibv_context *ctx, uint32_t port, uint64_t *speed)
{
	if (svb_removed_ctx(ctx))
		return EIO;
	if (!svb_port_of(ctx, port))
		return EINVAL;
	*speed = 4 * 250;
	return 0;
}

SVB_API int ibv_query_gid(struct ibv_context *ctx, uint8_t num, int index,
			  union ibv_gid *gid)
{
	const struct svb_port *port = svb_port_of(ctx, num);

	if (svb_removed_ctx(ctx))
		return -1;
	if (!port || index < 0 || (uint32_t)index >= svb_gid_places()) {
		errno = EINVAL;
		return -1;
	}
	/* Beyond the last the table is empty, not over. */
	*gid = port->gid[index];
	return 0;
}

SVB_API int ibv_query_pkey(struct ibv_context *ctx, uint8_t num, int index, __be16 *pkey)
{
	const struct svb_port *port = svb_port_of(ctx, num);

	if (svb_removed_ctx(ctx))
		return -1;
	if (!port || index < 0 || (uint32_t)index >= port->pkeys) {
		errno = EINVAL;
		return -1;
	}
	*pkey = htobe16(port->pkey[index]);
	return 0;
}

SVB_API int ibv_get_pkey_index(struct ibv_context *ctx, uint8_t num, __be16 pkey)
{
	const struct svb_port *port = svb_port_of(ctx, num);
	uint32_t i;

	if (svb_removed_ctx(ctx))
		return -1;
	/* As libibverbs: the same value, not only the same partition. */
	for (i = 0; port && i < port->pkeys; i++)
		if (port->pkey[i] == be16toh(pkey))
			return (int)i;
	errno = EINVAL;
	return -1;
}

static void svb_gid_entry(const struct svb_port *port, uint32_t num, uint32_t index,
			  struct ibv_gid_entry *entry)
{
	const struct svb_address *address = svb_port_address(port, index);

	*entry = (struct ibv_gid_entry){
		.gid = port->gid[index],
		.gid_index = index,
		.port_num = num,
		.gid_type = port->gid_type[index],
		.ndev_ifindex = address ? address->ifindex : 0,
	};
}

SVB_API int _ibv_query_gid_ex(struct ibv_context *ctx, uint32_t num, uint32_t index,
			      struct ibv_gid_entry *entry, uint32_t flags,
			      size_t entry_size)
{
	const struct svb_port *port = svb_port_of(ctx, num);
	struct ibv_gid_entry full;

	if (svb_removed_ctx(ctx))
		return EIO;
	if (!port || index >= svb_gid_places() || flags)
		return EINVAL;
	if (index >= svb_port_gids(port))
		return ENODATA;
	svb_gid_entry(port, num, index, &full);
	memset(entry, 0, entry_size);
	memcpy(entry, &full, entry_size < sizeof(full) ? entry_size : sizeof(full));
	return 0;
}

SVB_API ssize_t _ibv_query_gid_table(struct ibv_context *ctx,
				     struct ibv_gid_entry *entries, size_t max_entries,
				     uint32_t flags, size_t entry_size)
{
	const struct svb_port *port;
	size_t count = 0;
	uint32_t num, i;

	if (flags || entry_size != sizeof(*entries))
		return -EINVAL;
	if (svb_removed_ctx(ctx))
		return -EIO;
	for (num = 1; (port = svb_port_of(ctx, num)); num++)
		for (i = 0; i < svb_port_gids(port); i++) {
			if (count == max_entries)
				return -EINVAL;
			svb_gid_entry(port, num, i, &entries[count++]);
		}
	return (ssize_t)count;
}

/* Private in libibverbs, but its own examples call it. */
SVB_API int ibv_query_gid_type(struct ibv_context *ctx, uint8_t num, unsigned int index,
			       int *type);
SVB_API int ibv_query_gid_type(struct ibv_context *ctx, uint8_t num, unsigned int index,
			       int *type)
{
	const struct svb_port *port = svb_port_of(ctx, num);

	if (svb_removed_ctx(ctx))
		return -1;
	if (!port || index >= svb_gid_places()) {
		errno = EINVAL;
		return -1;
	}
	/* libibverbs' own numbering: 0 InfiniBand and RoCE v1, 1 RoCE v2. */
	*type = port->gid_type[index] == IBV_GID_TYPE_ROCE_V2;
	return 0;
}
