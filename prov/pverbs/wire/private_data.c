/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <cairn/bytes.h>
#include "private_data.h"

/* In the trailer. */
#define PVB_CM_CONTROL_QP 5
#define PVB_CM_CONTROL_PSN 8
#define PVB_CM_WORD_ADDR 11
#define PVB_CM_WORD_RKEY 19

static const uint8_t pvb_cm_magic[3] = {'C', 'r', 'n'};

static void pvb_cm_pack24(uint8_t *out, uint32_t value)
{
	out[0] = (uint8_t)(value >> 16);
	out[1] = (uint8_t)(value >> 8);
	out[2] = (uint8_t)value;
}

static uint32_t pvb_cm_parse24(const uint8_t *in)
{
	return (uint32_t)in[0] << 16 | (uint32_t)in[1] << 8 | in[2];
}

static void pvb_cm_pack_control(uint8_t *trailer, const struct pvb_cm_control *control)
{
	trailer[4] |= PVB_CM_CONTROL | (control->seq_word ? PVB_CM_SEQ_WORD : 0);
	pvb_cm_pack24(trailer + PVB_CM_CONTROL_QP, control->qp_num);
	pvb_cm_pack24(trailer + PVB_CM_CONTROL_PSN, control->psn);
}

static void pvb_cm_pack48(uint8_t *trailer, uint64_t cookie)
{
	pvb_cm_pack24(trailer + PVB_CM_CONTROL_QP, (uint32_t)(cookie >> 24));
	pvb_cm_pack24(trailer + PVB_CM_CONTROL_PSN, (uint32_t)cookie);
}

static uint64_t pvb_cm_parse48(const uint8_t *trailer)
{
	return (uint64_t)pvb_cm_parse24(trailer + PVB_CM_CONTROL_QP) << 24 |
	       pvb_cm_parse24(trailer + PVB_CM_CONTROL_PSN);
}

static void pvb_cm_pack_word(uint8_t *trailer, const struct pvb_cm_word *word)
{
	trailer[4] |= PVB_CM_WORD;
	crn_put_be64(trailer + PVB_CM_WORD_ADDR, word->addr);
	crn_put_be32(trailer + PVB_CM_WORD_RKEY, word->rkey);
}

static void pvb_cm_parse_word(struct pvb_cm_word *word, const uint8_t *trailer)
{
	word->addr = crn_get_be64(trailer + PVB_CM_WORD_ADDR);
	word->rkey = crn_get_be32(trailer + PVB_CM_WORD_RKEY);
}

size_t pvb_cm_pack(uint8_t out[PVB_CM_REQ_SIZE], const void *app, size_t app_len,
		   const struct pvb_cm_offer *offer)
{
	uint8_t *trailer = out + PVB_CM_TRAILER_AT;

	if (app_len > PVB_CM_APP_SIZE)
		return 0;
	memset(out, 0, PVB_CM_REQ_SIZE);
	out[0] = (uint8_t)app_len;
	if (app_len)
		memcpy(out + 1, app, app_len);
	memcpy(trailer, pvb_cm_magic, sizeof(pvb_cm_magic));
	trailer[3] = PVB_CM_VERSION;
	if (!offer)
		return PVB_CM_REQ_SIZE;
	pvb_cm_pack_word(trailer, &offer->word);
	if (offer->control.qp_num)
		pvb_cm_pack_control(trailer, &offer->control);
	if (offer->control_conn) {
		trailer[4] |= PVB_CM_CONTROL_CONN;
		pvb_cm_pack48(trailer, offer->cookie);
	}
	return PVB_CM_REQ_SIZE;
}

void pvb_cm_pack_cookie(uint8_t out[PVB_CM_REQ_SIZE], uint64_t cookie)
{
	uint8_t *trailer = out + PVB_CM_TRAILER_AT;

	pvb_cm_pack(out, NULL, 0, NULL);
	trailer[4] = PVB_CM_COOKIE;
	pvb_cm_pack48(trailer, cookie);
}

/* The control queue pair: at most one of three forms. */
static void pvb_cm_parse_control(struct pvb_cm_data *data, const uint8_t *trailer)
{
	const uint8_t what = data->flags & (PVB_CM_WORD | PVB_CM_CONTROL |
					    PVB_CM_CONTROL_CONN | PVB_CM_COOKIE);

	/* Of no use without the word, where its area is. */
	if (what == (PVB_CM_WORD | PVB_CM_CONTROL)) {
		data->control.qp_num = pvb_cm_parse24(trailer + PVB_CM_CONTROL_QP);
		data->control.psn = pvb_cm_parse24(trailer + PVB_CM_CONTROL_PSN);
		data->control.seq_word = data->flags & PVB_CM_SEQ_WORD;
	}
	data->control_conn = what == (PVB_CM_WORD | PVB_CM_CONTROL_CONN);
	data->shows = what == PVB_CM_COOKIE && !data->app_len;
	if (data->control_conn || data->shows)
		data->cookie = pvb_cm_parse48(trailer);
}

void pvb_cm_parse(struct pvb_cm_data *data, const void *bytes, size_t len)
{
	const uint8_t *in = bytes;
	const uint8_t *trailer;

	memset(data, 0, sizeof(*data));
	if (!in || !len)
		return;
	data->app = in + 1;
	data->app_len = in[0] < len ? in[0] : (uint8_t)(len - 1);

	trailer = in + PVB_CM_TRAILER_AT;
	if (data->app_len > PVB_CM_APP_SIZE || len < PVB_CM_REQ_SIZE ||
	    memcmp(trailer, pvb_cm_magic, sizeof(pvb_cm_magic)) != 0)
		return;
	data->trailer = true;
	data->version = trailer[3];
	data->flags = trailer[4];
	if (data->flags & PVB_CM_WORD)
		pvb_cm_parse_word(&data->word, trailer);
	pvb_cm_parse_control(data, trailer);
}

void pvb_cm_app_data(bool raw, const uint8_t *bytes, uint8_t len,
		     struct pvb_cm_data *data)
{
	if (!raw) {
		pvb_cm_parse(data, bytes, len);
		return;
	}
	memset(data, 0, sizeof(*data));
	data->app = bytes;
	data->app_len = len;
}
