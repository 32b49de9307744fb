/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line common to all programs. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fabric.h>

#include "fct.h"

/* A run that does not end; the longest takes a minute where nothing else runs, or is
 * emulated or under a sanitizer. */
#define FCT_SECONDS 300
#define FCT_SECONDS_SLOW 120 /* times the scale */
#define FCT_MAX_OPTIONS 48

enum {
	OPT_LOWER = 0x10000,
	OPT_PEER_PROV,
	OPT_PEER_DOMAIN,
	OPT_PEER_NETNS,
	OPT_CTL_PORT
};

static const struct option common[] = {
	{"provider", required_argument, NULL, 'p'},
	{"lower", required_argument, NULL, OPT_LOWER},
	{"fabric", required_argument, NULL, 'f'},
	{"domain", required_argument, NULL, 'd'},
	{"source", required_argument, NULL, 's'},
	{"port", required_argument, NULL, 'P'},
	{"timeout", required_argument, NULL, 'T'},
	{"self", optional_argument, NULL, 'S'},
	{"peer-prov", required_argument, NULL, OPT_PEER_PROV},
	{"peer-domain", required_argument, NULL, OPT_PEER_DOMAIN},
	{"peer-netns", required_argument, NULL, OPT_PEER_NETNS},
	{"control-port", required_argument, NULL, OPT_CTL_PORT},
	{"case", required_argument, NULL, 't'},
	{"except", required_argument, NULL, 'x'},
	{"list", no_argument, NULL, 'l'},
	{"verbose", no_argument, NULL, 'v'},
	{"version", no_argument, NULL, 'V'},
	{"help", no_argument, NULL, 'h'},
};

static void usage(const struct fct_prog *prog)
{
	const char *args = prog->args ? prog->args : "";

	if (prog->single)
		printf("Usage: %s [options]\n", prog->name);
	else
		printf("Usage: %s [options]              server\n"
		       "       %s [options] HOST%s%s   client of the server on HOST\n"
		       "       %s [options] --self[=ADDR]%s%s   both\n",
		       prog->name, prog->name, *args ? " " : "", args, prog->name,
		       *args ? " " : "", args);
	printf("%s\n\n"
	       "  -p, --provider=NAME     libfabric provider, e.g. tcp, verbs, pverbs "
	       "(default: any)\n"
	       "      --lower=STACK       what the provider, a layer, is to run over: "
	       "one "
	       "provider, or several\n"
	       "                          from the lowest up, separated by ';'\n"
	       "  -f, --fabric=NAME       fabric name\n"
	       "  -d, --domain=NAME       domain name\n"
	       "  -s, --source=ADDR       local fabric address (server's default: where "
	       "the client reached it)\n",
	       prog->what);
	if (!prog->single)
		printf("  -P, --port=PORT         fabric port of the server (default: "
		       "the provider chooses)\n");
	printf("  -S ADDR, --self[=ADDR]  %s\n",
	       prog->single ? "local fabric address"
			    : "start both sides, the server's fabric address being ADDR\n"
			      "                          (default 127.0.0.1); -s is then "
			      "the client's");
	if (!prog->single)
		printf("      --peer-prov=NAME    with --self: the server's provider, if "
		       "another\n"
		       "      --peer-domain=NAME  with --self: the server's domain, if "
		       "another\n"
		       "      --peer-netns=FILE   with --self: the server's network "
		       "namespace, if another\n"
		       "      --control-port=PORT TCP port on which the two sides "
		       "coordinate (default " FCT_CTL_PORT ")\n");
	printf("  -T, --timeout=SECONDS   deadline of the whole run (default %d, longer "
	       "on emulated machines)\n",
	       FCT_SECONDS);
	if (fct_cases)
		printf("  -t, --case=NAME         run this case (may be repeated)\n"
		       "  -x, --except=NAME       do not run this case (may be "
		       "repeated)\n"
		       "  -l, --list              list the cases\n");
	printf("  -v, --verbose           say more\n"
	       "  -V, --version           the version of libfabric in use\n"
	       "  -h, --help              this text\n");
	if (prog->help)
		printf("\n%s", prog->help);
}

static void list_cases(void)
{
	const struct fct_case *c;

	for (c = fct_cases; c; c = c->next)
		printf("%-24s %s\n", c->name, c->what);
}

uint64_t fct_number(const char *text, uint64_t least, uint64_t most)
{
	char *end;
	uint64_t n = strtoull(text, &end, 0);

	if (*end == 'k' || *end == 'K')
		n <<= 10, end++;
	else if (*end == 'm' || *end == 'M')
		n <<= 20, end++;
	if (*text && !*end && n >= least && n <= most)
		return n;
	fprintf(stderr, "%s: '%s' is not a number from %llu to %llu\n", fct.prog->name,
		text, (unsigned long long)least, (unsigned long long)most);
	return 0;
}

static int add_case(const struct fct_prog *prog, const char *name, const char **list,
		    int *n)
{
	if (!fct_find_case(name)) {
		fprintf(stderr, "%s: no case '%s' (-l lists them)\n", prog->name, name);
		return -1;
	}
	if (*n == FCT_MAX_CASES)
		return -1;
	list[(*n)++] = name;
	return 0;
}

static int one(struct fct_opts *o, const struct fct_prog *prog, int c, char *arg)
{
	switch (c) {
	case 'p':
		o->prov = arg;
		return 0;
	case 'f':
		o->fabric = arg;
		return 0;
	case 'd':
		o->domain = arg;
		return 0;
	case 's':
		o->src = arg;
		return 0;
	case 'P':
		o->port = arg;
		return 0;
	case 'S':
		o->self = arg ? arg : "127.0.0.1";
		return 0;
	case 'v':
		o->verbose = true;
		return 0;
	case 'l':
		o->list = true;
		return 0;
	case 't':
		return add_case(prog, arg, o->cases, &o->n_cases);
	case 'x':
		return add_case(prog, arg, o->except, &o->n_except);
	case 'T':
		o->seconds = (unsigned int)fct_number(arg, 1, UINT32_MAX);
		return o->seconds ? 0 : -1;
	case OPT_LOWER:
		o->lower = arg;
		return 0;
	case OPT_PEER_PROV:
		o->peer_prov = arg;
		return 0;
	case OPT_PEER_DOMAIN:
		o->peer_domain = arg;
		return 0;
	case OPT_PEER_NETNS:
		o->peer_netns = arg;
		return 0;
	case OPT_CTL_PORT:
		o->ctl_port = arg;
		return 0;
	case 'V':
		printf("libfabric %u.%u\n", FI_MAJOR(fi_version()),
		       FI_MINOR(fi_version()));
		return 1;
	case 'h':
		usage(prog);
		return 1;
	case '?':
		break;
	default:
		return prog->option ? prog->option(c, arg) : -1;
	}
	fprintf(stderr, "Try '%s --help'.\n", prog->name);
	return -1;
}

/* The short options are those of the table whose value is a letter. */
static void short_options(char *s, const struct option *table)
{
	*s++ = ':';
	for (; table->name; table++) {
		if (table->val >= 0x100)
			continue;
		*s++ = (char)table->val;
		if (table->has_arg != no_argument)
			*s++ = ':';
	}
	*s = '\0';
}

/* "LOWER;PROVIDER" is how fi_getinfo's hints name a stack. */
static int stack(struct fct_opts *o, const struct fct_prog *prog)
{
	static char name[256];

	if (!o->lower)
		return 0;
	if (!o->prov) {
		fprintf(stderr, "%s: --lower of which provider? (-p NAME)\n", prog->name);
		return -1;
	}
	if (snprintf(name, sizeof(name), "%s;%s", o->lower, o->prov) >=
	    (int)sizeof(name)) {
		fprintf(stderr, "%s: --lower is too long\n", prog->name);
		return -1;
	}
	o->prov = name;
	return 0;
}

static unsigned int deadline(unsigned int scale)
{
	return scale * FCT_SECONDS_SLOW > FCT_SECONDS ? scale * FCT_SECONDS_SLOW
						      : FCT_SECONDS;
}

int fct_parse(struct fct_opts *o, int argc, char **argv, const struct fct_prog *prog)
{
	struct option table[FCT_MAX_OPTIONS] = {0};
	char letters[3 * FCT_MAX_OPTIONS];
	size_t n = sizeof(common) / sizeof(common[0]);
	int c, ret;

	memset(o, 0, sizeof(*o));
	o->ctl_port = FCT_CTL_PORT;
	memcpy(table, common, sizeof(common));
	for (c = 0; prog->options && prog->options[c].name; c++)
		table[n++] = prog->options[c];
	short_options(letters, table);
	opterr = 0;
	while ((c = getopt_long(argc, argv, letters, table, NULL)) != -1) {
		if (c == '?' || c == ':') {
			fprintf(stderr, "%s: %s '%s'\n", prog->name,
				c == ':' ? "missing value of option" : "unknown option",
				argv[optind - 1]);
			c = '?';
		}
		ret = one(o, prog, c, optarg);
		if (ret)
			return ret;
	}
	if (o->list) {
		list_cases();
		return 1;
	}
	if (stack(o, prog))
		return -1;
	if (!o->seconds)
		o->seconds = deadline(fct_time_scale());
	if (!o->self && !prog->single && optind < argc)
		o->host = argv[optind++];
	o->args = argv + optind;
	o->n_args = argc - optind;
	if (o->n_args && !prog->args) {
		fprintf(stderr, "%s: unexpected argument '%s'\n", prog->name, o->args[0]);
		return -1;
	}
	return 0;
}
