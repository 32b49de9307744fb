/* SPDX-License-Identifier: BSD-2-Clause */
#include <rdma/fi_errno.h>
#include <cairn/bytes.h>
#include "sa_mad.h"

#define LOW(value, bits) ((value) & ((1u << (bits)) - 1))

static void pack_be24(struct crn_pack *out, uint32_t value)
{
	crn_pack_u8(out, (uint8_t)(value >> 16));
	crn_pack_be16(out, (uint16_t)value);
}

static uint32_t unpack_be24(struct crn_unpack *in)
{
	const uint32_t high = crn_unpack_u8(in);

	return high << 16 | crn_unpack_be16(in);
}

/* A selector of two bits and what it is about, six. */
static void pack_selected(struct crn_pack *out, uint8_t selector, uint8_t value)
{
	crn_pack_u8(out, (uint8_t)(LOW(selector, 2) << 6 | LOW(value, 6)));
}

static void unpack_selected(struct crn_unpack *in, uint8_t *selector, uint8_t *value)
{
	const uint8_t byte = crn_unpack_u8(in);

	*selector = byte >> 6;
	*value = LOW(byte, 6);
}

static int unpacked(const struct crn_unpack *in)
{
	return in->failed ? -FI_EINVAL : 0;
}

void pvb_sa_pack(uint8_t *mad, const struct pvb_sa_hdr *hdr)
{
	struct crn_pack out;

	crn_pack_init(&out, mad, PVB_MAD_SIZE);
	crn_pack_u8(&out, PVB_MAD_BASE_VERSION);
	crn_pack_u8(&out, PVB_SA_CLASS);
	crn_pack_u8(&out, PVB_SA_CLASS_VERSION);
	crn_pack_u8(&out, hdr->method);
	crn_pack_be16(&out, hdr->status);
	crn_pack_be16(&out, 0);
	crn_pack_be64(&out, hdr->tid);
	crn_pack_be16(&out, hdr->attr);
	crn_pack_be16(&out, 0);
	crn_pack_be32(&out, hdr->attr_mod);
	crn_pack_u8(&out, hdr->rmpp_version);
	crn_pack_u8(&out, hdr->rmpp_type);
	crn_pack_u8(&out,
		    (uint8_t)(LOW(hdr->rmpp_time, 5) << 3 | LOW(hdr->rmpp_flags, 3)));
	crn_pack_u8(&out, hdr->rmpp_status);
	crn_pack_be32(&out, hdr->segment);
	crn_pack_be32(&out, hdr->length);
	crn_pack_be64(&out, hdr->sm_key);
	crn_pack_be16(&out, hdr->attr_offset);
	crn_pack_be16(&out, 0);
	crn_pack_be64(&out, hdr->comp_mask);
	crn_pack_zero(&out, PVB_SA_DATA_SIZE);
}

static void unpack_rmpp(struct crn_unpack *in, struct pvb_sa_hdr *hdr)
{
	uint8_t byte;

	hdr->rmpp_version = crn_unpack_u8(in);
	hdr->rmpp_type = crn_unpack_u8(in);
	byte = crn_unpack_u8(in);
	hdr->rmpp_flags = LOW(byte, 3);
	hdr->rmpp_time = byte >> 3;
	hdr->rmpp_status = crn_unpack_u8(in);
	hdr->segment = crn_unpack_be32(in);
	hdr->length = crn_unpack_be32(in);
}

int pvb_sa_unpack(const void *mad, size_t len, struct pvb_sa_hdr *hdr)
{
	struct crn_unpack in;
	uint8_t base, class, version;

	if (len < PVB_SA_DATA_AT)
		return -FI_EINVAL;
	crn_unpack_init(&in, mad, PVB_SA_DATA_AT);
	base = crn_unpack_u8(&in);
	class = crn_unpack_u8(&in);
	version = crn_unpack_u8(&in);
	hdr->method = crn_unpack_u8(&in);
	hdr->status = crn_unpack_be16(&in);
	crn_unpack_ref(&in, 2);
	hdr->tid = crn_unpack_be64(&in);
	hdr->attr = crn_unpack_be16(&in);
	crn_unpack_ref(&in, 2);
	hdr->attr_mod = crn_unpack_be32(&in);
	unpack_rmpp(&in, hdr);
	hdr->sm_key = crn_unpack_be64(&in);
	hdr->attr_offset = crn_unpack_be16(&in);
	crn_unpack_ref(&in, 2);
	hdr->comp_mask = crn_unpack_be64(&in);
	return base == PVB_MAD_BASE_VERSION && class == PVB_SA_CLASS &&
			       version == PVB_SA_CLASS_VERSION
		       ? 0
		       : -FI_EINVAL;
}

void pvb_mcm_pack(uint8_t *data, const struct pvb_mcm *mcm)
{
	struct crn_pack out;

	crn_pack_init(&out, data, PVB_MCM_SIZE);
	crn_pack_bytes(&out, mcm->mgid, sizeof(mcm->mgid));
	crn_pack_bytes(&out, mcm->port_gid, sizeof(mcm->port_gid));
	crn_pack_be32(&out, mcm->qkey);
	crn_pack_be16(&out, mcm->mlid);
	pack_selected(&out, mcm->mtu_selector, mcm->mtu);
	crn_pack_u8(&out, mcm->tclass);
	crn_pack_be16(&out, mcm->pkey);
	pack_selected(&out, mcm->rate_selector, mcm->rate);
	pack_selected(&out, mcm->life_selector, mcm->life);
	crn_pack_be32(&out, (uint32_t)mcm->sl << 28 | LOW(mcm->flow_label, 20) << 8 |
				    mcm->hop_limit);
	crn_pack_u8(&out, (uint8_t)(LOW(mcm->scope, 4) << 4 | LOW(mcm->join_state, 4)));
	crn_pack_u8(&out, mcm->proxy_join ? 0x80 : 0);
	crn_pack_zero(&out, 2);
}

int pvb_mcm_unpack(const void *data, size_t len, struct pvb_mcm *mcm)
{
	struct crn_unpack in;
	uint32_t word;
	uint8_t byte;

	crn_unpack_init(&in, data, len);
	crn_unpack_bytes(&in, mcm->mgid, sizeof(mcm->mgid));
	crn_unpack_bytes(&in, mcm->port_gid, sizeof(mcm->port_gid));
	mcm->qkey = crn_unpack_be32(&in);
	mcm->mlid = crn_unpack_be16(&in);
	unpack_selected(&in, &mcm->mtu_selector, &mcm->mtu);
	mcm->tclass = crn_unpack_u8(&in);
	mcm->pkey = crn_unpack_be16(&in);
	unpack_selected(&in, &mcm->rate_selector, &mcm->rate);
	unpack_selected(&in, &mcm->life_selector, &mcm->life);
	word = crn_unpack_be32(&in);
	mcm->sl = (uint8_t)(word >> 28);
	mcm->flow_label = LOW(word >> 8, 20);
	mcm->hop_limit = (uint8_t)word;
	byte = crn_unpack_u8(&in);
	mcm->scope = byte >> 4;
	mcm->join_state = LOW(byte, 4);
	mcm->proxy_join = crn_unpack_u8(&in) >> 7;
	crn_unpack_ref(&in, 2);
	return unpacked(&in);
}

void pvb_path_record_pack(uint8_t *data, const struct pvb_path_record *path)
{
	struct crn_pack out;

	crn_pack_init(&out, data, PVB_PATH_SIZE);
	crn_pack_be64(&out, path->service_id);
	crn_pack_bytes(&out, path->dgid, sizeof(path->dgid));
	crn_pack_bytes(&out, path->sgid, sizeof(path->sgid));
	crn_pack_be16(&out, path->dlid);
	crn_pack_be16(&out, path->slid);
	crn_pack_be32(&out, (uint32_t)path->raw << 31 | LOW(path->flow_label, 20) << 8 |
				    path->hop_limit);
	crn_pack_u8(&out, path->tclass);
	crn_pack_u8(&out,
		    (uint8_t)((uint32_t)path->reversible << 7 | LOW(path->numb_path, 7)));
	crn_pack_be16(&out, path->pkey);
	crn_pack_be16(&out, (uint16_t)(LOW(path->qos_class, 12) << 4 | LOW(path->sl, 4)));
	pack_selected(&out, path->mtu_selector, path->mtu);
	pack_selected(&out, path->rate_selector, path->rate);
	pack_selected(&out, path->life_selector, path->life);
	crn_pack_u8(&out, path->preference);
	crn_pack_zero(&out, 6);
}

int pvb_path_record_unpack(const void *data, size_t len, struct pvb_path_record *path)
{
	struct crn_unpack in;
	uint32_t word;

	crn_unpack_init(&in, data, len);
	path->service_id = crn_unpack_be64(&in);
	crn_unpack_bytes(&in, path->dgid, sizeof(path->dgid));
	crn_unpack_bytes(&in, path->sgid, sizeof(path->sgid));
	path->dlid = crn_unpack_be16(&in);
	path->slid = crn_unpack_be16(&in);
	word = crn_unpack_be32(&in);
	path->raw = word >> 31;
	path->flow_label = LOW(word >> 8, 20);
	path->hop_limit = (uint8_t)word;
	path->tclass = crn_unpack_u8(&in);
	word = crn_unpack_u8(&in);
	path->reversible = word >> 7;
	path->numb_path = LOW(word, 7);
	path->pkey = crn_unpack_be16(&in);
	word = crn_unpack_be16(&in);
	path->qos_class = (uint16_t)(word >> 4);
	path->sl = LOW(word, 4);
	unpack_selected(&in, &path->mtu_selector, &path->mtu);
	unpack_selected(&in, &path->rate_selector, &path->rate);
	unpack_selected(&in, &path->life_selector, &path->life);
	path->preference = crn_unpack_u8(&in);
	crn_unpack_ref(&in, 6);
	return unpacked(&in);
}

void pvb_inform_info_pack(uint8_t *data, const struct pvb_inform_info *inform)
{
	struct crn_pack out;

	crn_pack_init(&out, data, PVB_INFORM_SIZE);
	crn_pack_bytes(&out, inform->gid, sizeof(inform->gid));
	crn_pack_be16(&out, inform->lid_begin);
	crn_pack_be16(&out, inform->lid_end);
	crn_pack_zero(&out, 2);
	crn_pack_u8(&out, inform->generic);
	crn_pack_u8(&out, inform->subscribe);
	crn_pack_be16(&out, inform->type);
	crn_pack_be16(&out, inform->trap);
	pack_be24(&out, inform->qpn);
	crn_pack_u8(&out, LOW(inform->resp_time, 5));
	crn_pack_zero(&out, 1);
	pack_be24(&out, inform->producer);
}

int pvb_inform_info_unpack(const void *data, size_t len, struct pvb_inform_info *inform)
{
	struct crn_unpack in;

	crn_unpack_init(&in, data, len);
	crn_unpack_bytes(&in, inform->gid, sizeof(inform->gid));
	inform->lid_begin = crn_unpack_be16(&in);
	inform->lid_end = crn_unpack_be16(&in);
	crn_unpack_ref(&in, 2);
	inform->generic = crn_unpack_u8(&in) != 0;
	inform->subscribe = crn_unpack_u8(&in) != 0;
	inform->type = crn_unpack_be16(&in);
	inform->trap = crn_unpack_be16(&in);
	inform->qpn = unpack_be24(&in);
	inform->resp_time = LOW(crn_unpack_u8(&in), 5);
	crn_unpack_ref(&in, 1);
	inform->producer = unpack_be24(&in);
	return unpacked(&in);
}

void pvb_notice_pack(uint8_t *data, const struct pvb_notice *notice)
{
	struct crn_pack out;

	crn_pack_init(&out, data, PVB_NOTICE_SIZE);
	crn_pack_u8(&out,
		    (uint8_t)((uint32_t)notice->generic << 7 | LOW(notice->type, 7)));
	pack_be24(&out, notice->producer);
	crn_pack_be16(&out, notice->trap);
	crn_pack_be16(&out, notice->issuer_lid);
	crn_pack_be16(&out, (uint16_t)((uint32_t)notice->toggle << 15 |
				       LOW(notice->count, 15)));
	crn_pack_bytes(&out, notice->details, sizeof(notice->details));
	crn_pack_bytes(&out, notice->issuer_gid, sizeof(notice->issuer_gid));
}

int pvb_notice_unpack(const void *data, size_t len, struct pvb_notice *notice)
{
	struct crn_unpack in;
	uint16_t word;

	crn_unpack_init(&in, data, len);
	word = crn_unpack_u8(&in);
	notice->generic = word >> 7;
	notice->type = LOW(word, 7);
	notice->producer = unpack_be24(&in);
	notice->trap = crn_unpack_be16(&in);
	notice->issuer_lid = crn_unpack_be16(&in);
	word = crn_unpack_be16(&in);
	notice->toggle = word >> 15;
	notice->count = LOW(word, 15);
	crn_unpack_bytes(&in, notice->details, sizeof(notice->details));
	crn_unpack_bytes(&in, notice->issuer_gid, sizeof(notice->issuer_gid));
	return unpacked(&in);
}

/* The number of bytes before the MTU, and behind it. */
#define PORT_INFO_BEFORE 37
#define PORT_INFO_BEHIND 17

void pvb_port_info_pack(uint8_t *data, const struct pvb_port_info *info)
{
	struct crn_pack out;

	crn_pack_init(&out, data, PVB_PORT_INFO_SIZE);
	crn_pack_be16(&out, info->lid);
	crn_pack_u8(&out, info->port);
	crn_pack_zero(&out, PORT_INFO_BEFORE);
	crn_pack_u8(&out, (uint8_t)(LOW(info->mtu, 4) << 4));
	crn_pack_zero(&out, PORT_INFO_BEHIND);
}

int pvb_port_info_unpack(const void *data, size_t len, struct pvb_port_info *info)
{
	struct crn_unpack in;

	crn_unpack_init(&in, data, len);
	info->lid = crn_unpack_be16(&in);
	info->port = crn_unpack_u8(&in);
	crn_unpack_ref(&in, PORT_INFO_BEFORE);
	info->mtu = crn_unpack_u8(&in) >> 4;
	crn_unpack_ref(&in, PORT_INFO_BEHIND);
	return unpacked(&in);
}

void pvb_sm_info_pack(uint8_t *data, const struct pvb_sm_info *info)
{
	struct crn_pack out;

	crn_pack_init(&out, data, PVB_SM_INFO_SIZE);
	crn_pack_be64(&out, info->guid);
	crn_pack_be64(&out, info->sm_key);
	crn_pack_be32(&out, info->act_count);
	crn_pack_u8(&out, (uint8_t)(LOW(info->priority, 4) << 4 | LOW(info->state, 4)));
	crn_pack_zero(&out, 3);
}

int pvb_sm_info_unpack(const void *data, size_t len, struct pvb_sm_info *info)
{
	struct crn_unpack in;
	uint8_t byte;

	crn_unpack_init(&in, data, len);
	info->guid = crn_unpack_be64(&in);
	info->sm_key = crn_unpack_be64(&in);
	info->act_count = crn_unpack_be32(&in);
	byte = crn_unpack_u8(&in);
	info->priority = byte >> 4;
	info->state = LOW(byte, 4);
	crn_unpack_ref(&in, 3);
	return unpacked(&in);
}
