/* SPDX-License-Identifier: BSD-2-Clause */
/* Connection management of FI_EP_MSG endpoints. */
#include "cm.h"

static const struct fct_case cases[] = {
	{"pep_address", "a passive endpoint on port 0 gets a real port", cm_pep_address},
	{"setname", "fi_setname gives a passive endpoint its port", cm_setname},
	{"setname_first", "and its only name", cm_setname_first},
	{"pep_connects", "an endpoint takes the name of a passive one", cm_pep_connects},
	{"listen_unbound", "fi_listen without an EQ is refused", cm_listen_unbound},
	{"names", "fi_getname and fi_getpeer agree on both sides", cm_names},
	{"request", "what a FI_CONNREQ event holds", cm_request},
	{"cm_data", "data of fi_connect and fi_accept, 0 bytes to the limit", cm_data},
	{"data_excess", "more data than fits is cut or refused", cm_data_excess},
	{"reject",
	 "fi_reject is FI_ECONNREFUSED for the client; the next request succeeds",
	 cm_reject},
	{"reject_data", "data of fi_reject arrives as err_data", cm_reject_data},
	{"nobody", "connecting where nobody listens is an error event", cm_nobody},
	{"give_up", "who asks and is not answered gives up; the next is served",
	 cm_give_up},
	{"pep_close", "closing a passive endpoint ends its pending requests",
	 cm_pep_close},
	{"request_outlives", "a request that was read outlives its passive endpoint",
	 cm_request_outlives},
	{"request_unused", "a request that nobody uses keeps nothing open",
	 cm_request_unused},
	{"shutdown", "fi_shutdown is seen by the peer exactly once", cm_shutdown},
	{"shutdown_both", "fi_shutdown by both sides at once", cm_shutdown_both},
	{"close", "fi_close without fi_shutdown is seen as a shutdown exactly once",
	 cm_close},
	{"reconnect", "after a shutdown, again with fresh endpoints", cm_reconnect},
	{"many", "several connections at once over one passive endpoint", cm_many},
	{"sequence", "one connection after the other over one passive endpoint",
	 cm_sequence},
	{"other_cq", "connections of one passive endpoint with CQs of their own",
	 cm_other_cq},
	{"early_receive", "receives posted before fi_connect and fi_accept are honoured",
	 cm_early_receive},
	{"not_enabled", "transfers on an endpoint that is not enabled are refused",
	 cm_not_enabled},
	{"not_connected", "sends on an endpoint that is not connected are refused",
	 cm_not_connected},
	{"connect_twice", "a second fi_connect on an endpoint is refused",
	 cm_connect_twice},
	{"sread", "connecting with nothing but fi_eq_sread", cm_sread},
	{"fd", "connecting with nothing but poll on the EQ's descriptor and fi_trywait",
	 cm_fd},
	{"sread_shutdown", "a side that only calls fi_eq_sread sees FI_SHUTDOWN",
	 cm_sread_shutdown},
	{"fd_shutdown", "a side that only polls the EQ's descriptor sees FI_SHUTDOWN",
	 cm_fd_shutdown},
	{"peek", "FI_PEEK shows an event without taking it", cm_peek},
};

int main(int argc, char **argv)
{
	const struct fct_prog prog = {
		.name = "fi_cairn_cm",
		.what = "Connection management of FI_EP_MSG endpoints.",
		.cases = cases,
		.n_cases = sizeof(cases) / sizeof(cases[0]),
	};

	return fct_main(argc, argv, &prog);
}
