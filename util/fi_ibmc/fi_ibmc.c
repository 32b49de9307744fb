/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_ibmc(1): IPoIB links and their multicast groups at the subnet administrator. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "commands/commands.h"
#include "map/map.h"
#include "options.h"
#include "print/print.h"

static int ask(const struct imc_options *options)
{
	static int (*const commands[])(struct imc_session * session) = {
		[IMC_LINK] = imc_link,
		[IMC_SHOW] = imc_show,
		[IMC_LIST] = imc_list,
		[IMC_CREATE_LINK] = imc_create_link,
		[IMC_CREATE_ROUTERS] = imc_create_routers,
		[IMC_JOIN] = imc_join,
		[IMC_LEAVE] = imc_leave,
		[IMC_WATCH] = imc_watch,
		[IMC_CHECK] = imc_check,
	};
	static struct imc_session session;
	int status = imc_session_open(&session, options);

	if (status)
		return status;
	status = commands[options->command](&session);
	imc_session_close(&session);
	return status;
}

/* Where an output is closed no device has its place, and what is written there fails. */
static void keep_places(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

/* Of what failed before, the reason is not known any more. */
static bool output_done(void)
{
	const bool before = ferror(stdout);

	if (fflush(stdout))
		perror("fi_ibmc: standard output");
	else if (before)
		fputs("fi_ibmc: standard output: not all could be written\n", stderr);
	else
		return true;
	return false;
}

int main(int argc, char **argv)
{
	static struct imc_options options;
	int status;

	keep_places();
	imc_options(argc, argv, &options);
	imc_json_begin();
	status = options.command == IMC_MAP ? imc_map(&options) : ask(&options);
	return output_done() ? status : IMC_FAILED;
}
