/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A small append-only log on several machines with persistent memory: standard libfabric
 * calls only. An append is durable on all replicas when its line comes out; what is
 * common to the replicas that are left is the log, however the others died.
 *
 *	replicated_log target FILE ADDRESS PORT		has a replica in FILE
 *	replicated_log append ADDRESS:PORT...		appends the lines it reads
 *	replicated_log recover ADDRESS:PORT...		prints the log
 *
 * A record is two cache lines: its number from 1, a checksum, the text. Replica i is
 * written with FI_COMMIT_COMPLETE: its completion means durable there, by whatever the
 * provider has to do for that target. Nothing is sent to a target's program, which only
 * keeps the connection. One append at a time, so that replicas differ by one record at
 * most.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#define RECORDS 1024u
#define REPLICAS 8
#define PATIENCE_MS 10000

struct record {
	uint64_t number;
	uint64_t sum;
	char text[112];
};

/* Where a target's log is: it tells when it accepts a connection. Both in its byte order,
 * which is ours too. */
struct place {
	uint64_t address;
	uint64_t key;
};

/* A connection, and at the writer a copy of the replica. */
struct end {
	const char *name;
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_eq *eq;
	struct fid_cq *cq;
	struct fid_ep *ep;
	struct fid_mr *mr;
	struct place log;
	struct record *copy;
};

static void need(const struct end *end, const char *what, ssize_t ret)
{
	if (!ret)
		return;
	fprintf(stderr, "%s: %s: %s\n", end->name, what, fi_strerror((int)-ret));
	exit(1);
}

/* FNV-1a, 64 bits; it covers the number, so that a record at a wrong place is none. */
static uint64_t checksum(const struct record *record)
{
	const unsigned char *text = (const unsigned char *)record->text;
	uint64_t sum = 0xcbf29ce484222325u ^ record->number;
	size_t i;

	for (i = 0; i < sizeof(record->text); i++)
		sum = (sum ^ text[i]) * 0x100000001b3u;
	return sum;
}

static bool whole(const struct record *record, uint64_t number)
{
	return record->number == number && record->sum == checksum(record);
}

/* --- both sides */

static void open_end(struct end *end, const char *address, const char *port, bool listens)
{
	struct fi_info *hints = fi_allocinfo();
	struct fi_eq_attr eq_attr = {.wait_obj = FI_WAIT_UNSPEC};
	struct fi_cq_attr cq_attr = {.format = FI_CQ_FORMAT_CONTEXT,
				     .wait_obj = FI_WAIT_UNSPEC};

	if (!hints)
		need(end, "fi_allocinfo", -FI_ENOMEM);
	hints->caps = FI_MSG | FI_RMA | FI_RMA_PMEM;
	hints->mode = FI_RX_CQ_DATA;
	hints->ep_attr->type = FI_EP_MSG;
	hints->domain_attr->mr_mode =
		FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
	/* The provider makes writes durable while a target's program sleeps. */
	hints->domain_attr->data_progress = FI_PROGRESS_AUTO;
	need(end, "no provider offers FI_RMA_PMEM there",
	     fi_getinfo(FI_VERSION(1, 17), address, port, listens ? FI_SOURCE : 0, hints,
			&end->info));
	fi_freeinfo(hints);
	need(end, "fi_fabric", fi_fabric(end->info->fabric_attr, &end->fabric, NULL));
	need(end, "fi_domain", fi_domain(end->fabric, end->info, &end->domain, NULL));
	need(end, "fi_eq_open", fi_eq_open(end->fabric, &eq_attr, &end->eq, NULL));
	need(end, "fi_cq_open", fi_cq_open(end->domain, &cq_attr, &end->cq, NULL));
}

static void open_endpoint(struct end *end, struct fi_info *info)
{
	need(end, "fi_endpoint", fi_endpoint(end->domain, info, &end->ep, NULL));
	need(end, "fi_ep_bind", fi_ep_bind(end->ep, &end->eq->fid, 0));
	need(end, "fi_ep_bind",
	     fi_ep_bind(end->ep, &end->cq->fid, FI_TRANSMIT | FI_RECV));
	need(end, "fi_enable", fi_enable(end->ep));
}

/* The next event, its size in *len; 0 is returned for what is no event. */
static uint32_t event(struct end *end, void *entry, size_t *len, int timeout)
{
	struct fi_eq_err_entry error = {0};
	uint32_t event = 0;
	ssize_t ret;

	do {
		ret = fi_eq_sread(end->eq, &event, entry, *len, timeout, 0);
	} while (ret == -FI_EINTR || (ret == -FI_EAGAIN && timeout < 0));
	if (ret == -FI_EAVAIL)
		fi_eq_readerr(end->eq, &error, 0);
	*len = ret > 0 ? (size_t)ret : 0;
	return ret > 0 ? event : 0;
}

/* --- target */

static int target(const char *file, const char *address, const char *port)
{
	struct end end = {.name = file};
	struct place place;
	const size_t size = RECORDS * sizeof(struct record);
	struct fi_eq_cm_entry entry;
	struct fid_pep *pep;
	size_t len;
	int fd = open(file, O_RDWR);
	void *log = MAP_FAILED;
	uint32_t got;

	/* Without MAP_SYNC the file system may lose blocks that were flushed. */
	if (fd >= 0)
		log = mmap(NULL, size, PROT_READ | PROT_WRITE,
			   MAP_SHARED_VALIDATE | MAP_SYNC, fd, 0);
	if (log == MAP_FAILED) {
		perror(file);
		return 1;
	}
	open_end(&end, address, port, true);
	need(&end, "fi_mr_reg: is it persistent memory?",
	     fi_mr_reg(end.domain, log, size, FI_REMOTE_WRITE | FI_REMOTE_READ, 0, 0,
		       FI_RMA_PMEM, &end.mr, NULL));
	place.address = (uintptr_t)log;
	place.key = fi_mr_key(end.mr);
	need(&end, "fi_passive_ep", fi_passive_ep(end.fabric, end.info, &pep, NULL));
	need(&end, "fi_pep_bind", fi_pep_bind(pep, &end.eq->fid, 0));
	need(&end, "fi_listen", fi_listen(pep));
	printf("listening\n");
	fflush(stdout);
	for (;;) {
		len = sizeof(entry);
		got = event(&end, &entry, &len, -1);
		if (got == FI_SHUTDOWN && end.ep) {
			fi_close(&end.ep->fid);
			end.ep = NULL;
		} else if (got == FI_CONNREQ && end.ep) {
			fi_reject(pep, entry.info->handle, NULL, 0);
			fi_freeinfo(entry.info);
		} else if (got == FI_CONNREQ) {
			open_endpoint(&end, entry.info);
			need(&end, "fi_accept", fi_accept(end.ep, &place, sizeof(place)));
			fi_freeinfo(entry.info);
		}
	}
}

/* --- writer */

static void connect_end(struct end *end, char *address)
{
	uint8_t bytes[sizeof(struct fi_eq_cm_entry) + sizeof(struct place)];
	const struct fi_eq_cm_entry *entry = (const void *)bytes;
	size_t len = sizeof(bytes);
	char *colon = strrchr(address, ':');

	end->name = address;
	if (!colon)
		need(end, "is not ADDRESS:PORT", -FI_EINVAL);
	*colon = '\0';
	open_end(end, address, colon + 1, false);
	*colon = ':';
	end->copy = aligned_alloc(4096, RECORDS * sizeof(struct record));
	if (!end->copy)
		need(end, "memory", -FI_ENOMEM);
	need(end, "fi_mr_reg",
	     fi_mr_reg(end->domain, end->copy, RECORDS * sizeof(struct record),
		       FI_WRITE | FI_READ, 0, 0, 0, &end->mr, NULL));
	open_endpoint(end, end->info);
	need(end, "fi_connect", fi_connect(end->ep, end->info->dest_addr, NULL, 0));
	if (event(end, bytes, &len, PATIENCE_MS) != FI_CONNECTED || len < sizeof(bytes))
		need(end, "no connection", -FI_ECONNREFUSED);
	memcpy(&end->log, entry->data, sizeof(end->log));
}

/* Waits for the one operation that is under way there. */
static void wait_for(struct end *end)
{
	struct fi_cq_err_entry error = {0};
	struct fi_cq_entry entry;
	ssize_t ret;

	do {
		ret = fi_cq_sread(end->cq, &entry, 1, NULL, PATIENCE_MS);
	} while (ret == -FI_EINTR);
	if (ret == 1)
		return;
	if (ret == -FI_EAVAIL && fi_cq_readerr(end->cq, &error, 0) == 1)
		ret = -error.err;
	need(end, "is not durable there", ret == -FI_EAGAIN ? -FI_ETIMEDOUT : ret);
}

/* Records first to last of the copy, number 1 being the first: to the target or from it.
 */
static void move(struct end *end, uint64_t first, uint64_t last, bool write)
{
	const size_t at = (first - 1) * sizeof(struct record);
	const size_t len = (last + 1 - first) * sizeof(struct record);
	struct iovec iov = {end->copy + (first - 1), len};
	struct fi_rma_iov remote = {end->log.address + at, len, end->log.key};
	void *desc = fi_mr_desc(end->mr);
	const struct fi_msg_rma msg = {
		.msg_iov = &iov,
		.desc = &desc,
		.iov_count = 1,
		.rma_iov = &remote,
		.rma_iov_count = 1,
	};

	if (write)
		need(end, "fi_writemsg",
		     fi_writemsg(end->ep, &msg, FI_COMMIT_COMPLETE | FI_COMPLETION));
	else
		need(end, "fi_readmsg", fi_readmsg(end->ep, &msg, FI_COMPLETION));
}

/* Writes a record to every replica, at the same time, and waits for all. */
static void put(struct end *ends, int count, uint64_t number, const struct record *record)
{
	int i;

	for (i = 0; i < count; i++) {
		ends[i].copy[number - 1] = *record;
		move(&ends[i], number, number, true);
	}
	for (i = 0; i < count; i++)
		wait_for(&ends[i]);
}

static bool agree(const struct end *ends, int count, uint64_t number)
{
	int i;

	for (i = 0; i < count; i++)
		if (!whole(&ends[i].copy[number - 1], number) ||
		    ends[i].copy[number - 1].sum != ends[0].copy[number - 1].sum)
			return false;
	return true;
}

/*
 * Reads the replicas; returns how many records they have in common. What follows was
 * never reported: a writer removes it, or its next record could join what an earlier one
 * left behind.
 */
static uint64_t recover(struct end *ends, int count, bool writes)
{
	static const struct record none;
	uint64_t common = 0, number;
	int i;

	for (i = 0; i < count; i++) {
		move(&ends[i], 1, RECORDS, false);
		wait_for(&ends[i]);
	}
	while (common < RECORDS && agree(ends, count, common + 1))
		common++;
	for (number = common + 1; writes && number <= RECORDS; number++)
		for (i = 0; i < count; i++)
			if (ends[i].copy[number - 1].number) {
				put(ends, count, number, &none);
				break;
			}
	return common;
}

static int append(struct end *ends, int count, uint64_t number)
{
	struct record record;
	char line[sizeof(record.text)];

	while (fgets(line, sizeof(line), stdin)) {
		if (number == RECORDS) {
			fprintf(stderr, "the log is full\n");
			return 1;
		}
		line[strcspn(line, "\n")] = '\0';
		memset(&record, 0, sizeof(record));
		memcpy(record.text, line, strlen(line));
		record.number = ++number;
		record.sum = checksum(&record);
		put(ends, count, number, &record);
		printf("%llu %s\n", (unsigned long long)number, line);
		fflush(stdout);
	}
	return 0;
}

static void close_end(struct end *end)
{
	fi_close(&end->ep->fid);
	fi_close(&end->mr->fid);
	fi_close(&end->cq->fid);
	fi_close(&end->eq->fid);
	fi_close(&end->domain->fid);
	fi_close(&end->fabric->fid);
	fi_freeinfo(end->info);
	free(end->copy);
}

int main(int argc, char **argv)
{
	const bool writes = argc > 2 && strcmp(argv[1], "append") == 0;
	const bool reads = argc > 2 && strcmp(argv[1], "recover") == 0;
	struct end ends[REPLICAS] = {{0}};
	const int count = argc - 2;
	uint64_t common, number;
	int i, ret = 0;

	if (argc == 5 && strcmp(argv[1], "target") == 0)
		return target(argv[2], argv[3], argv[4]);
	if ((!writes && !reads) || count > REPLICAS) {
		fprintf(stderr, "Usage: replicated_log target FILE ADDRESS PORT\n"
				"       replicated_log append|recover ADDRESS:PORT...\n");
		return 2;
	}
	for (i = 0; i < count; i++)
		connect_end(&ends[i], argv[2 + i]);
	common = recover(ends, count, writes);
	if (writes)
		ret = append(ends, count, common);
	for (number = 1; reads && number <= common; number++)
		printf("%llu %.111s\n", (unsigned long long)number,
		       ends[0].copy[number - 1].text);
	for (i = 0; i < count; i++)
		close_end(&ends[i]);
	return ret;
}
