/* SPDX-License-Identifier: BSD-2-Clause */
/* One message at a time, in every form and size, in both directions. */
#include "forms.h"

FCT_CASE_CALL(send, "fi_send, all sizes, both directions",
	      fct_form_case(&(struct form){.form = FCT_SEND}))

FCT_CASE_CALL(sendv, "fi_sendv from up to iov_limit pieces",
	      fct_form_case(&(struct form){.form = FCT_SENDV}))

FCT_CASE_CALL(sendmsg, "fi_sendmsg", fct_form_case(&(struct form){.form = FCT_SENDMSG}))

FCT_CASE_CALL(inject, "fi_inject: no completion, buffer free at once",
	      fct_form_case(&(struct form){.form = FCT_INJECT}))

FCT_CASE_CALL(senddata, "fi_senddata carries remote CQ data",
	      fct_form_case(&(struct form){.form = FCT_SENDDATA}))

FCT_CASE_CALL(injectdata, "fi_injectdata",
	      fct_form_case(&(struct form){.form = FCT_INJECTDATA}))

FCT_CASE_CALL(sendmsg_data, "fi_sendmsg with FI_REMOTE_CQ_DATA",
	      fct_form_case(&(struct form){.form = FCT_SENDMSG,
					   .flags = FI_REMOTE_CQ_DATA}))

FCT_CASE_CALL(sendmsg_inject,
	      "fi_sendmsg with FI_INJECT: completion, buffer free at once",
	      fct_form_case(&(struct form){.form = FCT_SENDMSG, .flags = FI_INJECT}))

FCT_CASE_CALL(recvv, "fi_recvv into up to iov_limit pieces",
	      fct_form_case(&(struct form){.form = FCT_SEND, .recv = FCT_RECVV}))

FCT_CASE_CALL(recvmsg, "fi_recvmsg",
	      fct_form_case(&(struct form){.form = FCT_SENDV, .recv = FCT_RECVMSG}))

FCT_PROGRAM(.name = "fi_cairn_msg", .what = "Messages on connected endpoints (FI_MSG).")
