/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unit tests in C, run by GoogleTest: its filters, listing and reports work as usual.
 *
 *	CT_TEST(pool, gives_no_more_than_its_limit)
 *	{
 *		...
 *		CT_ASSERT_NE(object, NULL);
 *		CT_EXPECT_EQ(pool.used, 1);
 *	}
 *
 * A test registers itself. CT_EXPECT_* reports a failure and goes on, CT_ASSERT_* returns
 * from the function it stands in. Both may be used in any thread.
 */
#ifndef CAIRN_TEST_H
#define CAIRN_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ct_case {
	const char *suite;
	const char *name;
	const char *file;
	int line;
	void (*run)(void);
	struct ct_case *next;
};

void ct_register(struct ct_case *test);

#define CT_TEST(suite_, name_)                                                         \
	static void ct_run_##suite_##_##name_(void);                                   \
	static struct ct_case ct_case_##suite_##_##name_ = {                           \
		#suite_, #name_, __FILE__, __LINE__, ct_run_##suite_##_##name_, NULL}; \
	__attribute__((constructor)) static void ct_register_##suite_##_##name_(void)  \
	{                                                                              \
		ct_register(&ct_case_##suite_##_##name_);                              \
	}                                                                              \
	static void ct_run_##suite_##_##name_(void)

/*
 * Tests that share a set-up and a tear-down:
 *
 *	CT_FIXTURE(pool, struct crn_pool, open_pool, crn_pool_close);
 *
 *	CT_TEST_F(pool, gives_no_more_than_its_limit)
 *	{
 *		CT_EXPECT_EQ(t->used, 0);
 *	}
 *
 * Each test gets t, a zeroed object of the type. set_up(t) runs before the body, which is
 * left out if a check of the set-up failed. tear_down(t) runs after both, also when
 * CT_ASSERT_* or CT_SKIP has returned early: it must accept an object that was opened in
 * part or not at all. Either may be NULL.
 */
#define CT_FIXTURE(suite_, type_, set_up_, tear_down_)                        \
	typedef type_ ct_state_##suite_;                                      \
	static void ct_run_##suite_(void (*body)(ct_state_##suite_ * t))      \
	{                                                                     \
		void (*const ct_up_)(ct_state_##suite_ * t) = (set_up_);      \
		void (*const ct_down_)(ct_state_##suite_ * t) = (tear_down_); \
		ct_state_##suite_ ct_state_;                                  \
                                                                              \
		memset(&ct_state_, 0, sizeof(ct_state_));                     \
		if (ct_up_)                                                   \
			ct_up_(&ct_state_);                                   \
		if (!ct_ended())                                              \
			body(&ct_state_);                                     \
		if (ct_down_)                                                 \
			ct_down_(&ct_state_);                                 \
	}                                                                     \
	static void ct_run_##suite_(void (*body)(ct_state_##suite_ * t))

#define CT_TEST_F(suite_, name_)                                      \
	static void ct_body_##suite_##_##name_(ct_state_##suite_ *t); \
	CT_TEST(suite_, name_)                                        \
	{                                                             \
		ct_run_##suite_(ct_body_##suite_##_##name_);          \
	}                                                             \
	static void ct_body_##suite_##_##name_(ct_state_##suite_ *t)

/* A value of any integer or pointer type, for comparing and for the message. */
enum ct_kind { CT_SIGNED, CT_UNSIGNED, CT_POINTER };

struct ct_value {
	enum ct_kind kind;
	uint64_t bits;
};

static inline struct ct_value ct_signed(long long value)
{
	struct ct_value v = {CT_SIGNED, (uint64_t)value};

	return v;
}

static inline struct ct_value ct_unsigned(unsigned long long value)
{
	struct ct_value v = {CT_UNSIGNED, value};

	return v;
}

static inline struct ct_value ct_pointer(const volatile void *value)
{
	struct ct_value v = {CT_POINTER, (uint64_t)(uintptr_t)value};

	return v;
}

/* clang-format off */
#define CT_VALUE(x) _Generic((x), \
	bool: ct_unsigned, \
	char: ct_signed, \
	signed char: ct_signed, \
	short: ct_signed, \
	int: ct_signed, \
	long: ct_signed, \
	long long: ct_signed, \
	unsigned char: ct_unsigned, \
	unsigned short: ct_unsigned, \
	unsigned int: ct_unsigned, \
	unsigned long: ct_unsigned, \
	unsigned long long: ct_unsigned, \
	default: ct_pointer)(x)
/* clang-format on */

enum ct_relation { CT_EQ, CT_NE, CT_LT, CT_LE, CT_GT, CT_GE };

/* What the checks call: true when they hold, otherwise a failure was reported. */
bool ct_compare(const char *file, int line, enum ct_relation relation, const char *a_text,
		const char *b_text, struct ct_value a, struct ct_value b);
bool ct_truth(const char *file, int line, const char *text, bool value, bool wanted);
bool ct_streq(const char *file, int line, const char *a_text, const char *b_text,
	      const char *a, const char *b);
bool ct_strstr(const char *file, int line, const char *a_text, const char *b_text,
	       const char *a, const char *b);
bool ct_data(const char *file, int line, const char *a_text, const char *b_text,
	     const char *a, const char *b);
bool ct_memeq(const char *file, int line, const char *a_text, const char *b_text,
	      const void *a, const void *b, size_t len);

/* The text contains each of these words, which spaces separate, as a whole word. */
bool ct_has_data(const char *text, const char *words);

/* The texts are taken first: an argument that is a macro is shown by its name. */
#define CT_COMPARE(rel, a, b, a_text, b_text) \
	ct_compare(__FILE__, __LINE__, rel, a_text, b_text, CT_VALUE(a), CT_VALUE(b))
#define CT_TRUTH(a, a_text, wanted) ct_truth(__FILE__, __LINE__, a_text, a, wanted)
#define CT_TEXT(check, a, b, a_text, b_text) \
	check(__FILE__, __LINE__, a_text, b_text, a, b)
#define CT_BYTES(a, b, a_text, b_text, len) \
	ct_memeq(__FILE__, __LINE__, a_text, b_text, a, b, len)

#define CT_OR_RETURN(check)     \
	do {                    \
		if (!(check))   \
			return; \
	} while (0)

#define CT_EXPECT_EQ(a, b) ((void)CT_COMPARE(CT_EQ, a, b, #a, #b))
#define CT_EXPECT_NE(a, b) ((void)CT_COMPARE(CT_NE, a, b, #a, #b))
#define CT_EXPECT_LT(a, b) ((void)CT_COMPARE(CT_LT, a, b, #a, #b))
#define CT_EXPECT_LE(a, b) ((void)CT_COMPARE(CT_LE, a, b, #a, #b))
#define CT_EXPECT_GT(a, b) ((void)CT_COMPARE(CT_GT, a, b, #a, #b))
#define CT_EXPECT_GE(a, b) ((void)CT_COMPARE(CT_GE, a, b, #a, #b))
#define CT_EXPECT_TRUE(a) ((void)CT_TRUTH(a, #a, true))
#define CT_EXPECT_FALSE(a) ((void)CT_TRUTH(a, #a, false))
#define CT_EXPECT_STREQ(a, b) ((void)CT_TEXT(ct_streq, a, b, #a, #b))
/* The text a contains the text b. */
#define CT_EXPECT_STRSTR(a, b) ((void)CT_TEXT(ct_strstr, a, b, #a, #b))
/*
 * For texts that people read: the text a contains the data b, such as "eth0 10.0.0.1:7",
 * in any order (ct_has_data). The words around them may change.
 */
#define CT_EXPECT_DATA(a, b) ((void)CT_TEXT(ct_data, a, b, #a, #b))
#define CT_EXPECT_MEMEQ(a, b, len) ((void)CT_BYTES(a, b, #a, #b, len))

#define CT_ASSERT_EQ(a, b) CT_OR_RETURN(CT_COMPARE(CT_EQ, a, b, #a, #b))
#define CT_ASSERT_NE(a, b) CT_OR_RETURN(CT_COMPARE(CT_NE, a, b, #a, #b))
#define CT_ASSERT_LT(a, b) CT_OR_RETURN(CT_COMPARE(CT_LT, a, b, #a, #b))
#define CT_ASSERT_LE(a, b) CT_OR_RETURN(CT_COMPARE(CT_LE, a, b, #a, #b))
#define CT_ASSERT_GT(a, b) CT_OR_RETURN(CT_COMPARE(CT_GT, a, b, #a, #b))
#define CT_ASSERT_GE(a, b) CT_OR_RETURN(CT_COMPARE(CT_GE, a, b, #a, #b))
#define CT_ASSERT_TRUE(a) CT_OR_RETURN(CT_TRUTH(a, #a, true))
#define CT_ASSERT_FALSE(a) CT_OR_RETURN(CT_TRUTH(a, #a, false))
#define CT_ASSERT_STREQ(a, b) CT_OR_RETURN(CT_TEXT(ct_streq, a, b, #a, #b))
#define CT_ASSERT_STRSTR(a, b) CT_OR_RETURN(CT_TEXT(ct_strstr, a, b, #a, #b))
#define CT_ASSERT_MEMEQ(a, b, len) CT_OR_RETURN(CT_BYTES(a, b, #a, #b, len))

/*
 * For what another thread does: the condition comes true before the deadline, and is
 * looked at until then. Long enough for an emulated machine; only what never comes lasts
 * that long.
 */
#define CT_DEADLINE_MS 60000
#define CT_SOON(a, a_text)                                    \
	({                                                    \
		const uint64_t ct_end_ = ct_soon_end();       \
		bool ct_came_;                                \
		while (!(ct_came_ = (a)) && ct_soon(ct_end_)) \
			;                                     \
		CT_TRUTH(ct_came_, a_text, true);             \
	})
#define CT_EXPECT_SOON(a) ((void)CT_SOON(a, #a))
#define CT_ASSERT_SOON(a) CT_OR_RETURN(CT_SOON(a, #a))

uint64_t ct_soon_end(void);
/* Lets other threads run; false once the deadline is over. */
bool ct_soon(uint64_t end);

/* Ends the test as skipped. */
#define CT_SKIP(reason)                              \
	do {                                         \
		ct_skip(__FILE__, __LINE__, reason); \
		return;                              \
	} while (0)

void ct_skip(const char *file, int line, const char *reason);

/*
 * Names what is being checked, such as the row of a table, in every failure of this
 * thread from here to the next CT_NOTE or the end of the test.
 */
#define CT_NOTE(...) ct_note(__VA_ARGS__)
void ct_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* True once a check failed in this test: for helpers that cannot return for the test. */
bool ct_failed(void);
/* The same, or the test is skipped. */
bool ct_ended(void);

/* Of so many random runs those that are made: all, or with CT_PART=N in the environment,
 * where a tool makes each slow, one in N, at least one. */
unsigned int ct_rounds(unsigned int most);

/*
 * Memory running out (CT_WRAP_ALLOC of local.mk makes it so): from here on,
 * the nth allocation of this thread (1 is the next one) in statically linked code fails;
 * later ones succeed again. Allocations are malloc, calloc, realloc, aligned_alloc,
 * posix_memalign, strdup and strndup.
 */
void ct_fail_alloc(unsigned int nth);
/* Ends it. True when an allocation was made to fail. */
bool ct_alloc_failed(void);

/*
 * Descriptors running out: from here to ct_fds_restore, exactly count more can be opened.
 */
void ct_fds_left(unsigned int count);
void ct_fds_restore(void);
/* Those that are open now. A test that ends with more or fewer than it found fails. */
unsigned int ct_fds_open(void);

/*
 * For parsers: the last size bytes before memory that cannot be touched, at most
 * CT_FENCE_SIZE; a copy of bytes there. The next call takes them again.
 */
#define CT_FENCE_SIZE 524288
uint8_t *ct_fence_room(size_t size);
const uint8_t *ct_fence_copy(const void *bytes, size_t len);

/*
 * Time (CT_WRAP_TIME of local.mk makes it so): the clock of statically linked code, which
 * is CLOCK_MONOTONIC, poll's timeout and that of pthread_cond_timedwait on that clock. It
 * is the system's when a test begins.
 */
/* From here to the end of the test, or ct_time_go, only ct_time_pass moves it, and ticks,
 * in every thread. */
void ct_time_stop(void);
void ct_time_pass(unsigned int ms);
void ct_time_go(void);
/* And waits of this thread: one that nothing ends is over at once, the clock at its end.
 */
void ct_time_jump(void);

/*
 * Waits are calls of poll, pthread_cond_wait and pthread_cond_timedwait that may block:
 * how many began since the test did, and how many threads are in one now. What a thread
 * in poll waits for is not missed, whether or not it sleeps already.
 */
unsigned int ct_waits(void);
unsigned int ct_waiting(void);
/* A handled signal ends the next poll of this thread. */
void ct_interrupt_wait(void);
/* The call is made when the next wait of this thread is over, before it returns. */
void ct_after_wait(void (*call)(void *), void *arg);

/*
 * Log lines of statically linked code (CT_WRAP_LOG of local.mk): kept, not printed, and
 * forgotten when a test begins.
 */
unsigned int ct_log_count(void);
/* The newest line without its end, or "". Valid until the next line. */
const char *ct_log_last(void);
/* Lines of level FI_LOG_WARN alone, and the newest of them. */
unsigned int ct_log_warnings(void);
const char *ct_log_warning(void);
void ct_log_reset(void);

/*
 * Exactly one warning was logged since the test began or the last ct_log_reset, and it
 * contains data: a parameter, device, address or number, not the words around it. Resets.
 */
#define CT_EXPECT_WARNED(data)                          \
	do {                                            \
		CT_EXPECT_EQ(ct_log_warnings(), 1);     \
		CT_EXPECT_DATA(ct_log_warning(), data); \
		ct_log_reset();                         \
	} while (0)

#ifdef __cplusplus
}
#endif

#endif
