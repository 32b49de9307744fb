/* SPDX-License-Identifier: BSD-2-Clause */
/* Connection management of FI_EP_MSG endpoints. */
#include "cm.h"

static const struct fct_case cases[] = {
	{"pep_address", "a passive endpoint on port 0 gets a real port",
	 fct_cm_pep_address},
	{"setname", "fi_setname gives a passive endpoint its port", fct_cm_setname},
	{"setname_first", "and its only name", fct_cm_setname_first},
	{"pep_connects", "an endpoint takes the name of a passive one",
	 fct_cm_pep_connects},
	{"listen_unbound", "fi_listen without an EQ is refused", fct_cm_listen_unbound},
	{"names", "fi_getname and fi_getpeer agree on both sides", fct_cm_names},
	{"request", "what a FI_CONNREQ event holds", fct_cm_request},
	{"cm_data", "data of fi_connect and fi_accept, 0 bytes to the limit",
	 fct_cm_data},
	{"data_excess", "more data than fits is cut or refused", fct_cm_data_excess},
	{"reject",
	 "fi_reject is FI_ECONNREFUSED for the client; the next request succeeds",
	 fct_cm_reject},
	{"reject_data", "data of fi_reject arrives as err_data", fct_cm_reject_data},
	{"nobody", "connecting where nobody listens is an error event", fct_cm_nobody},
	{"give_up", "who asks and is not answered gives up; the next is served",
	 fct_cm_give_up},
	{"pep_close", "closing a passive endpoint ends its pending requests",
	 fct_cm_pep_close},
	{"request_outlives", "a request that was read outlives its passive endpoint",
	 fct_cm_request_outlives},
	{"request_unused", "a request that nobody uses keeps nothing open",
	 fct_cm_request_unused},
	{"shutdown", "fi_shutdown is seen by the peer exactly once", fct_cm_shutdown},
	{"shutdown_both", "fi_shutdown by both sides at once", fct_cm_shutdown_both},
	{"close", "fi_close without fi_shutdown is seen as a shutdown exactly once",
	 fct_cm_close},
	{"reconnect", "after a shutdown, again with fresh endpoints", fct_cm_reconnect},
	{"many", "several connections at once over one passive endpoint", fct_cm_many},
	{"sequence", "one connection after the other over one passive endpoint",
	 fct_cm_sequence},
	{"other_cq", "connections of one passive endpoint with CQs of their own",
	 fct_cm_other_cq},
	{"early_receive", "receives posted before fi_connect and fi_accept are honoured",
	 fct_cm_early_receive},
	{"not_enabled", "transfers on an endpoint that is not enabled are refused",
	 fct_cm_not_enabled},
	{"not_connected", "sends on an endpoint that is not connected are refused",
	 fct_cm_not_connected},
	{"connect_twice", "a second fi_connect on an endpoint is refused",
	 fct_cm_connect_twice},
	{"sread", "connecting with nothing but fi_eq_sread", fct_cm_sread},
	{"fd", "connecting with nothing but poll on the EQ's descriptor and fi_trywait",
	 fct_cm_fd},
	{"sread_shutdown", "a side that only calls fi_eq_sread sees FI_SHUTDOWN",
	 fct_cm_sread_shutdown},
	{"fd_shutdown", "a side that only polls the EQ's descriptor sees FI_SHUTDOWN",
	 fct_cm_fd_shutdown},
	{"sread_and_fd",
	 "a server that only calls fi_eq_sread, a client that only polls descriptors",
	 fct_cm_sread_and_fd},
	{"peek", "FI_PEEK shows an event without taking it", fct_cm_peek},
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
