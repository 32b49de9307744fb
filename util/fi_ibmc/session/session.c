/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include <rdma/fi_errno.h>

#include "session.h"

static void notice(void *arg, const struct pvb_notice *notice)
{
	struct imc_session *session = arg;

	if (session->notices < IMC_NOTICES)
		session->notice[session->notices++] = *notice;
	else
		session->lost++;
}

int imc_failed(const struct imc_session *session, const char *what, int err,
	       uint16_t status)
{
	if (err == -FI_ETIMEDOUT)
		fprintf(stderr,
			"fi_ibmc: %s: no answer of the subnet administrator at LID %u, "
			"asked %u times, %u ms each\n",
			what, session->umad.port.sm_lid, session->options->tries,
			session->options->timeout_ms);
	else if (err == -FI_ECANCELED || session->umad.gone)
		fprintf(stderr, "fi_ibmc: %s: %s port %d does not work any more\n", what,
			session->umad.port.ca, session->umad.port.number);
	else if (err == -FI_EIO)
		fprintf(stderr,
			"fi_ibmc: %s: the subnet administrator at LID %u does not tell, "
			"or broke off\n",
			what, session->umad.port.sm_lid);
	else if (err)
		fprintf(stderr, "fi_ibmc: %s: %s\n", what, strerror(-err));
	else
		fprintf(stderr, "fi_ibmc: %s: status 0x%04x, %s\n", what, status,
			imc_status_text(status));
	return IMC_FAILED;
}

int imc_ask(struct imc_session *session, struct pvb_sa_request *request,
	    struct pvb_sa_reply *reply)
{
	request->wait_ms = session->options->timeout_ms;
	request->tries = session->options->tries;
	return pvb_sa_wait(&session->umad, request, reply);
}

static const char *hint(int err)
{
	switch (err) {
	case -FI_ENODEV:
		return ". ibstat(8) lists ports; libibumad needs the kernel module "
		       "ib_umad (modprobe ib_umad)";
	case -FI_EACCES:
		return ". Run it as root, or let a group have it by a rule of udev(7)";
	case -FI_ENETDOWN:
		return ". Is opensm(8), or a switch's manager, running?";
	default:
		return "";
	}
}

int imc_session_open(struct imc_session *session, const struct imc_options *options)
{
	const struct pvb_umad_config config = {.ca = options->ca,
					       .port = options->port,
					       .notice = options->command == IMC_WATCH
								 ? notice
								 : NULL,
					       .arg = session};
	int ret;

	memset(session, 0, sizeof(*session));
	session->options = options;
	ret = pvb_umad_open(&session->umad, &config);
	if (ret) {
		fprintf(stderr, "fi_ibmc: %s%s\n", session->umad.error, hint(ret));
		return IMC_FAILED;
	}
	ret = pvb_umad_mtu(&session->umad, options->timeout_ms, options->tries,
			   &session->port_mtu);
	if (!ret)
		return IMC_DONE;
	imc_failed(session, "the port's MTU", ret, 0);
	imc_session_close(session);
	return IMC_FAILED;
}

void imc_session_close(struct imc_session *session)
{
	pvb_umad_close(&session->umad);
}
