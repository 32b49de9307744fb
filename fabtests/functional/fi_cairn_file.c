/* SPDX-License-Identifier: BSD-2-Clause */
/* Moves a file from the client to the server and proves that it arrived. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"

static const char *const mode_names[] = {"msg", "write", "read"};

static struct {
	enum file_mode mode;
	uint64_t chunk;
	uint64_t window;
	const char *output;
} opt = {.chunk = 256 << 10, .window = 8};

static int option(int val, const char *arg)
{
	unsigned int i;

	switch (val) {
	case 'o':
		opt.output = arg;
		return 0;
	case 'c':
		opt.chunk = fct_number(arg, 1, 1u << 30);
		return opt.chunk ? 0 : -1;
	case 'w':
		opt.window = fct_number(arg, 1, FILE_MAX_WINDOW);
		return opt.window ? 0 : -1;
	default:
		for (i = 0; i < sizeof(mode_names) / sizeof(mode_names[0]); i++) {
			if (!strcmp(arg, mode_names[i])) {
				opt.mode = i;
				return 0;
			}
		}
		fprintf(stderr, "fi_cairn_file: mode '%s' is none of msg, write, read\n",
			arg);
		return -1;
	}
}

static int open_input(struct file_ring *r)
{
	struct stat st;

	r->path = fct.opts.args[0];
	r->fd = open(r->path, O_RDONLY | O_CLOEXEC);
	if (r->fd < 0 || fstat(r->fd, &st))
		return fct_fail("cannot open %s: %s", r->path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return fct_fail("%s is not a regular file", r->path);
	r->job.size = (uint64_t)st.st_size;
	r->job.chunk = (uint32_t)opt.chunk;
	r->job.window = (uint32_t)opt.window;
	r->job.mode = opt.mode;
	return fct_tell("job", &r->job, sizeof(r->job));
}

static int open_output(struct file_ring *r)
{
	if (fct_hear("job", &r->job, sizeof(r->job)))
		return -1;
	if (!r->job.chunk || !r->job.window || r->job.window > FILE_MAX_WINDOW ||
	    r->job.mode > FILE_READ)
		return fct_fail("the client asked for an impossible transfer");
	r->path = opt.output;
	if (!r->path)
		return 0;
	r->fd = open(r->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (r->fd < 0)
		return fct_fail("cannot create %s: %s", r->path, strerror(errno));
	r->created = true;
	return 0;
}

/* Buffers of both sides, and the address of the ring that one of them exposes. */
static int prepare(struct file_ring *r)
{
	static const uint64_t access[][2] = {
		/* [mode][role] */
		[FILE_MSG] = {FI_RECV, FI_SEND},
		[FILE_WRITE] = {FI_REMOTE_WRITE, FI_WRITE},
		[FILE_READ] = {FI_READ, FI_REMOTE_READ},
	};
	struct fct_link *l = &r->l;
	bool exposes = access[r->job.mode][fct.role] & (FI_REMOTE_READ | FI_REMOTE_WRITE);
	size_t window = r->job.window;
	struct fct_target mine = {0};

	if (r->job.chunk > l->info->ep_attr->max_msg_size)
		r->job.chunk = (uint32_t)l->info->ep_attr->max_msg_size;
	if (r->job.chunk > l->peer.max_msg_size)
		r->job.chunk = (uint32_t)l->peer.max_msg_size;
	r->chunks = (r->job.size + r->job.chunk - 1) / r->job.chunk;
	FCT_DO(fct_mem_alloc(l, &r->data, window * r->job.chunk,
			     access[r->job.mode][fct.role]));
	FCT_DO(fct_mem_alloc(l, &r->notes, window * sizeof(struct file_note),
			     FI_SEND | FI_RECV));
	FCT_DO(fct_mem_alloc(l, &r->credits, window * sizeof(struct file_credit),
			     FI_SEND | FI_RECV));
	if (exposes)
		mine = fct_mem_target(l, &r->data);
	return fct_exchange("ring", &mine, &r->remote, sizeof(mine));
}

static void hex(char *text, const uint8_t *digest)
{
	int i;

	for (i = 0; i < FILE_DIGEST_LEN; i++)
		sprintf(text + 2 * i, "%02x", digest[i]);
}

/* Both digests are of what each side had in its own memory. */
static int compare(struct file_ring *r)
{
	uint8_t mine[FILE_DIGEST_LEN], theirs[FILE_DIGEST_LEN];
	char here[2 * FILE_DIGEST_LEN + 1], there[2 * FILE_DIGEST_LEN + 1];
	uint64_t ns = fct_now_ns() - r->start_ns;

	EVP_DigestFinal_ex(r->md, mine, NULL);
	FCT_DO(fct_exchange("digest", mine, theirs, sizeof(mine)));
	hex(here, mine);
	hex(there, theirs);
	if (memcmp(mine, theirs, sizeof(mine)))
		FCT_FAIL("the file arrived changed: SHA-256 here %s, there %s", here,
			 there);
	printf("%s: %s %llu bytes in %.3f s, %.1f MB/s, SHA-256 %s\n", fct_role_name(),
	       fct_is_client() ? "sent" : "received", (unsigned long long)r->job.size,
	       (double)ns / 1e9, (double)r->job.size * 1e3 / (double)(ns ? ns : 1), here);
	fflush(stdout);
	return 0;
}

static int connected(struct file_ring *r)
{
	struct fct_setup s = {.caps = FI_MSG};

	if (r->job.mode != FILE_MSG) {
		s.caps |= FI_RMA;
		s.msg_order = FI_ORDER_SAW | FI_ORDER_SAS;
	}
	s.tx_size = 2 * (size_t)r->job.window;
	s.rx_size = r->job.window;
	FCT_DO(fct_link_up(&r->l, &s));
	FCT_DO(prepare(r));
	FCT_DO(fct_is_client() ? fct_file_send(r) : fct_file_receive(r));
	if (r->fd >= 0 && close(r->fd)) {
		r->fd = -1;
		FCT_FAIL("cannot write %s: %s", r->path, strerror(errno));
	}
	r->fd = -1;
	return compare(r);
}

static int transfer(struct file_ring *r)
{
	r->fd = -1;
	r->md = EVP_MD_CTX_new();
	if (!r->md || !EVP_DigestInit_ex(r->md, EVP_sha256(), NULL))
		return fct_fail("SHA-256 is not available");
	if (fct_is_client() ? open_input(r) : open_output(r))
		return -1;
	return fct_link_down(&r->l, connected(r));
}

static int report(const struct file_ring *r)
{
	enum fct_result peer = FCT_PASS;
	const char *mode = r->job.mode <= FILE_READ ? mode_names[r->job.mode] : "?";
	const char *other = fct_is_client() ? "server" : "client";
	char why[FCT_WHY_LEN] = "";
	bool followed = false, mine, gone;

	gone = fct_ctl_end(&peer, why, sizeof(why), &followed) < 0;
	if (fct.result == FCT_PASS && peer == FCT_PASS && !gone) {
		if (fct_is_client())
			printf("ok %s: the file is the same on both sides\n", mode);
		return 0;
	}
	mine = fct.result != FCT_PASS && !fct.followed;
	if (gone)
		printf("not ok %s: the %s ended before the transfer was complete (%s)\n",
		       mode, other, fct.why);
	else if (fct_is_client() || !fct.opts.self)
		printf("%s %s: %s%s%s\n",
		       fct.result == FCT_SKIP || peer == FCT_SKIP ? "skip" : "not ok",
		       mode, mine ? "" : other, mine ? "" : ": ", mine ? fct.why : why);
	if (fct_is_server() && r->path && r->created)
		printf("%s is not complete\n", r->path);
	return !gone && (fct.result == FCT_SKIP || peer == FCT_SKIP) ? 77 : 1;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"mode", required_argument, NULL, 'm'},
						{"output", required_argument, NULL, 'o'},
						{"chunk", required_argument, NULL, 'c'},
						{"window", required_argument, NULL, 'w'},
						{0}};
	static const struct fct_prog prog = {
		.name = "fi_cairn_file",
		.what = "Moves FILE from the client to the server; both compute its "
			"SHA-256 and compare.",
		.args = "FILE",
		.options = options,
		.option = option,
		.help = "  -m, --mode=MODE         client: msg (FI_MSG), write or read "
			"(FI_RMA by client or server)\n"
			"  -o, --output=OUT        server: keep the file under this name "
			"(default: only hash it)\n"
			"  -c, --chunk=BYTES       client: size of a piece, with suffix "
			"K or M (default 256K)\n"
			"  -w, --window=COUNT      client: pieces in flight (default "
			"8)\n",
	};
	static struct file_ring ring;
	int ret = fct_start(argc, argv, &prog);

	if (fct_is_client() && fct.opts.n_args != 1) {
		fprintf(stderr, "fi_cairn_file: one FILE to send is needed (--help)\n");
		exit(2);
	}
	ret = fct_probe() ? 1 : 0;
	if (fct_agree(ret))
		ret = 1;
	if (!ret) {
		transfer(&ring);
		EVP_MD_CTX_free(ring.md);
		if (ring.fd >= 0)
			close(ring.fd);
		ret = report(&ring);
	}
	fct_watchdog_stop();
	return fct_stop(ret);
}
