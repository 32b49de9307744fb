/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a fuzz target without a fuzzer, for "make check": every file of its corpus, then a
 * bounded number of mutations of them, the same in every run.
 *
 *	fuzz_NAME [FILE | FOLDER]...
 *
 * Without arguments the corpus is $srcdir/fabtests/fuzz/corpus/NAME. FUZZ_RUNS and
 * FUZZ_SEED in the environment choose the number of mutations and which ones; with
 * FUZZ_PART=N one in N of the number is made. The input of a crash or hang is written to
 * the current folder; its name given as the argument, with FUZZ_RUNS=0, replays it.
 *
 * To fuzz with coverage, leave this file out and let clang bring its own driver:
 *
 *	clang -g -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -Iinclude \
 *		fabtests/fuzz/fuzz_NAME.c SOURCES... -lfabric -o fuzz_NAME
 *	./fuzz_NAME -max_len=4096 fabtests/fuzz/corpus/NAME
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include "fuzz.h"

#define INPUT_LIMIT 4096
#define RUNS_DEFAULT 50000
#define SEED_DEFAULT 1
/* One input takes microseconds; emulated machines and sanitizers are slow. */
#define HANG_SECONDS 60

struct input {
	uint8_t *data;
	size_t size;
};

struct corpus {
	struct input *inputs;
	size_t count;
};

static const uint8_t *current_data;
static size_t current_size;
static char crash_path[256];

/* Async-signal-safe: the process is dying. */
static void save_current(const char *why)
{
	static const char saved[] = ", input saved as ";
	int fd = open(crash_path, O_CREAT | O_TRUNC | O_WRONLY, 0644);

	if (fd < 0 || write(fd, current_data, current_size) != (ssize_t)current_size ||
	    write(STDERR_FILENO, why, strlen(why)) < 0 ||
	    write(STDERR_FILENO, saved, sizeof(saved) - 1) < 0 ||
	    write(STDERR_FILENO, crash_path, strlen(crash_path)) < 0 ||
	    write(STDERR_FILENO, "\n", 1) < 0)
		_exit(2);
	close(fd);
}

static void on_signal(int number)
{
	save_current(number == SIGALRM ? "hang" : "crash");
	signal(number, SIG_DFL);
	raise(number);
}

static void on_sanitizer_death(void)
{
	save_current("sanitizer report");
}

void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void catch_crashes(void)
{
	static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM};

	/* A sanitizer explains these signals better than we do, and then calls back. */
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(on_sanitizer_death);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		if (!__sanitizer_set_death_callback || signals[i] == SIGALRM ||
		    signals[i] == SIGABRT)
			signal(signals[i], on_signal);
	}
}

/* In memory of exactly its size, so that a sanitizer sees a read beyond it. */
static void run(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size);

	if (size)
		memcpy(copy, data, size);
	current_data = data;
	current_size = size;
	alarm(HANG_SECONDS);
	LLVMFuzzerTestOneInput(copy, size);
	alarm(0);
	free(copy);
}

static void fail(const char *path)
{
	fprintf(stderr, "%s: %s\n", path, strerror(errno));
	exit(2);
}

static void load_file(struct corpus *corpus, const char *path)
{
	uint8_t buf[INPUT_LIMIT];
	FILE *file = fopen(path, "rb");
	struct input *input;
	size_t size;

	if (!file)
		fail(path);
	size = fread(buf, 1, sizeof(buf), file);
	fclose(file);
	corpus->inputs = realloc(corpus->inputs, (corpus->count + 1) * sizeof(*input));
	input = &corpus->inputs[corpus->count++];
	input->data = malloc(size + 1);
	input->size = size;
	memcpy(input->data, buf, size);
}

static void load(struct corpus *corpus, const char *path)
{
	struct dirent **entries;
	struct stat status;
	char name[4096];
	int count;

	if (stat(path, &status))
		fail(path);
	if (!S_ISDIR(status.st_mode)) {
		load_file(corpus, path);
		return;
	}
	/* Sorted: the mutations depend on the order. */
	count = scandir(path, &entries, NULL, alphasort);
	if (count < 0)
		fail(path);
	for (int i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "%s/%s", path, entries[i]->d_name);
		if (entries[i]->d_name[0] != '.')
			load_file(corpus, name);
		free(entries[i]);
	}
	free(entries);
}

static uint64_t random_state;

/* splitmix64: any seed is good. */
static uint64_t random_next(void)
{
	uint64_t x = random_state += 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static size_t random_below(size_t limit)
{
	return limit ? random_next() % limit : 0;
}

typedef size_t (*mutation)(uint8_t *data, size_t size, const struct input *other);

static size_t flip_bit(uint8_t *data, size_t size, const struct input *other)
{
	if (size)
		data[random_below(size)] ^= (uint8_t)(1u << random_below(8));
	return size;
}

static size_t set_byte(uint8_t *data, size_t size, const struct input *other)
{
	if (size)
		data[random_below(size)] = (uint8_t)random_next();
	return size;
}

/* Lengths and counts break at their limits, in either byte order. */
static size_t set_limit(uint8_t *data, size_t size, const struct input *other)
{
	static const uint32_t limits[] = {0,	  1,	      0x7f,	  0x80,
					  0xff,	  0x100,      0x7fff,	  0x8000,
					  0xffff, 0x7fffffff, 0x80000000, 0xffffffff};
	uint32_t value = limits[random_below(sizeof(limits) / sizeof(limits[0]))];
	size_t width = (size_t)1 << random_below(3);

	if (random_below(2))
		value = __builtin_bswap32(value) >> (32 - 8 * width);
	if (size >= width)
		memcpy(data + random_below(size - width + 1), &value, width);
	return size;
}

static size_t cut_end(uint8_t *data, size_t size, const struct input *other)
{
	return random_below(size + 1);
}

static size_t cut_middle(uint8_t *data, size_t size, const struct input *other)
{
	size_t at = random_below(size), len = random_below(size - at + 1);

	memmove(data + at, data + at + len, size - at - len);
	return size - len;
}

static size_t insert_byte(uint8_t *data, size_t size, const struct input *other)
{
	size_t at = random_below(size + 1);

	if (size == INPUT_LIMIT)
		return size;
	memmove(data + at + 1, data + at, size - at);
	data[at] = (uint8_t)random_next();
	return size + 1;
}

static size_t repeat_range(uint8_t *data, size_t size, const struct input *other)
{
	size_t at = random_below(size), len = random_below(size - at + 1);

	if (size + len > INPUT_LIMIT)
		return size;
	memmove(data + at + len, data + at, size - at);
	return size + len;
}

static size_t splice_other(uint8_t *data, size_t size, const struct input *other)
{
	size_t at = random_below(size + 1), from = random_below(other->size + 1);
	size_t len = other->size - from;

	if (len > INPUT_LIMIT - at)
		len = INPUT_LIMIT - at;
	memcpy(data + at, other->data + from, len);
	return at + len;
}

static void run_mutation(const struct corpus *corpus)
{
	static const mutation mutations[] = {flip_bit,	   set_byte,	set_limit,
					     cut_end,	   cut_middle,	insert_byte,
					     repeat_range, splice_other};
	const struct input *input = &corpus->inputs[random_below(corpus->count)];
	static uint8_t data[INPUT_LIMIT];
	size_t size = input->size, steps = 1 + random_below(6);

	memcpy(data, input->data, size);
	for (size_t i = 0; i < steps; i++)
		size = mutations[random_below(sizeof(mutations) / sizeof(mutations[0]))](
			data, size, &corpus->inputs[random_below(corpus->count)]);
	run(data, size);
}

static uint64_t from_env(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

static void load_default(struct corpus *corpus, const char *name)
{
	const char *srcdir = getenv("srcdir");
	char path[4096];

	snprintf(path, sizeof(path), "%s/fabtests/fuzz/corpus/%s", srcdir ? srcdir : ".",
		 name);
	load(corpus, path);
}

int main(int argc, char **argv)
{
	const char *program = program_invocation_short_name;
	const char *name = strncmp(program, "fuzz_", 5) ? program : program + 5;
	uint64_t runs = from_env("FUZZ_RUNS", fuzz_runs ? fuzz_runs() : RUNS_DEFAULT);
	const uint64_t part = from_env("FUZZ_PART", 1);
	uint64_t seed = from_env("FUZZ_SEED", SEED_DEFAULT);
	struct corpus corpus = {NULL, 0};
	const char *why = fuzz_why_not ? fuzz_why_not() : NULL;

	if (why) {
		printf("%s: skipped: %s\n", name, why);
		return 77; /* automake's word for it */
	}
	for (int arg = 1; arg < argc; arg++)
		load(&corpus, argv[arg]);
	if (argc < 2)
		load_default(&corpus, name);
	if (!corpus.count) {
		fprintf(stderr, "%s: the corpus is empty\n", name);
		return 2;
	}
	runs /= part ? part : 1;
	printf("%s: %zu inputs, %" PRIu64 " mutations, FUZZ_SEED=%" PRIu64 "\n", name,
	       corpus.count, runs, seed);
	snprintf(crash_path, sizeof(crash_path), "crash-%s-%" PRIu64, name, seed);
	catch_crashes();

	for (uint64_t i = 0; i < corpus.count; i++)
		run(corpus.inputs[i].data, corpus.inputs[i].size);
	random_state = seed;
	for (uint64_t i = 0; i < runs; i++)
		run_mutation(&corpus);

	for (uint64_t i = 0; i < corpus.count; i++)
		free(corpus.inputs[i].data);
	free(corpus.inputs);
	return 0;
}
