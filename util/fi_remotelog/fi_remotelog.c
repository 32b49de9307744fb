/* SPDX-License-Identifier: BSD-2-Clause */
/* A log replicated to remote persistent memory: benchmark and recovery. fi_remotelog(1)
 */
#include "client.h"
#include "recover.h"
#include "report.h"
#include "server.h"

int main(int argc, char **argv)
{
	struct rlg_options options;

	switch (rlg_options_parse(&options, argc, argv)) {
	case 0:
		break;
	case 1:
		return 0;
	default:
		return 2;
	}
	switch (options.mode) {
	case RLG_SERVER:
		return rlg_serve(&options);
	case RLG_RECOVER:
		return rlg_recover_file(&options);
	case RLG_REPORT:
		return rlg_report(&options);
	default:
		return rlg_append_all(&options);
	}
}
