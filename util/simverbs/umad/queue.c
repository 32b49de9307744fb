/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include "step.h"
#include "umad.h"

bool svb_umad_queue(struct svb_umad_port *port, const struct svb_umad_msg *what,
		    const uint8_t *data)
{
	struct svb_umad_msg *msg = malloc(sizeof(*msg) + what->len);
	struct crn_list *at;

	if (!msg)
		return false;
	*msg = *what;
	memcpy(msg->data, data, what->len);
	/* Behind those that are due before it. */
	for (at = port->msgs.prev; at != &port->msgs; at = at->prev)
		if (crn_container_of(at, struct svb_umad_msg, entry)->due <= msg->due)
			break;
	crn_list_add_tail(at->next, &msg->entry);
	return true;
}

/* The agent that takes reports of the SA; -1: none, and the kernel drops them. */
static int svb_umad_reporter(const struct svb_umad_port *port)
{
	int i;

	for (i = 0; i < SVB_UMAD_AGENTS; i++)
		if (port->agent[i].used && port->agent[i].class == SVB_CLASS_SA &&
		    port->agent[i].methods[0] & SVB_BIT(SVB_METHOD_REPORT))
			return i;
	return -1;
}

static uint64_t svb_umad_reports(struct svb_umad_port *port)
{
	const int agent = svb_port_down(port->port->index) ? -1 : svb_umad_reporter(port);
	struct svb_umad_msg msg = {.len = SVB_MAD_SIZE, .lid = SVB_SM_LID};
	struct svb_report report;
	uint8_t mad[SVB_MAD_SIZE];
	uint64_t next;

	while (svb_subnet_report(port->bell, &report, &next)) {
		msg.due = report.due;
		msg.agent = (uint32_t)agent;
		if (svb_sa_report(mad, &report) && agent >= 0)
			svb_umad_queue(port, &msg, mad);
	}
	return next;
}

static struct svb_umad_msg *svb_umad_head(struct svb_umad_port *port)
{
	return crn_list_empty(&port->msgs)
		       ? NULL
		       : crn_container_of(port->msgs.next, struct svb_umad_msg, entry);
}

struct svb_umad_msg *svb_umad_first(struct svb_umad_port *port)
{
	struct svb_umad_msg *msg;

	while (!svb_bell_take(port->bell_fd))
		;
	svb_umad_reports(port);
	msg = svb_umad_head(port);
	return msg && msg->due <= svb_now() ? msg : NULL;
}

void svb_umad_arm(struct svb_umad_port *port)
{
	struct itimerspec when = {0};
	uint64_t next = svb_umad_reports(port);
	const struct svb_umad_msg *msg = svb_umad_head(port);

	if (msg && (!next || msg->due < next))
		next = msg->due;
	when.it_value.tv_sec = (time_t)(next / 1000000000);
	when.it_value.tv_nsec = (long)(next % 1000000000);
	/* A time that is past makes it readable at once, until it is set again. */
	timerfd_settime(port->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}
