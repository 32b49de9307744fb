// SPDX-License-Identifier: BSD-2-Clause
// The checks and the main function of cairn_test.h, over GoogleTest.
#include "cairn_test.h"
#include <atomic>
#include <cctype>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <sched.h>
#include <unistd.h>
#include <gtest/gtest.h>

// Only in programs linked with CT_WRAP_TIME.
extern "C" __attribute__((weak)) void ct_time_reset(void);
// Only in programs whose subject opens descriptors once for the whole process.
extern "C" __attribute__((weak)) bool ct_keeps_descriptors(void);

namespace
{

// A test that hangs ends the program, which says "Alarm clock" after the test's name.
constexpr unsigned int kSecondsPerTest = 300;

// A broken table of thousands of rows needs no thousands of messages.
constexpr int kFailuresShown = 25;

ct_case *tests;
ct_case **tests_end = &tests;
std::atomic<int> failures;
thread_local std::string note;

class Test : public testing::Test
{
      public:
	explicit Test(const ct_case *test) : test_(test)
	{
	}

	void TestBody() override
	{
		note.clear();
		failures = 0;
		ct_log_reset();
		if (ct_time_reset)
			ct_time_reset();
		const unsigned int descriptors = ct_fds_open();
		alarm(kSecondsPerTest);
		test_->run();
		alarm(0);
		if (!ct_keeps_descriptors && ct_fds_open() != descriptors)
			ADD_FAILURE_AT(test_->file, test_->line)
				<< descriptors << " descriptors were open, now "
				<< ct_fds_open();
		ct_alloc_failed();
		if (failures > kFailuresShown)
			ADD_FAILURE_AT(test_->file, test_->line)
				<< failures - kFailuresShown
				<< " more failures not shown";
	}

      private:
	const ct_case *test_;
};

bool Fail(const char *file, int line, const std::string &message)
{
	if (++failures > kFailuresShown)
		return false;
	ADD_FAILURE_AT(file, line) << message << (note.empty() ? "" : "\nin: " + note);
	return false;
}

// Never the clock that a test moves: that is wrapped in what is linked statically only.
uint64_t NowMs()
{
	const auto now = std::chrono::steady_clock::now().time_since_epoch();

	return static_cast<uint64_t>(
		std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

bool Negative(ct_value value)
{
	return value.kind == CT_SIGNED && static_cast<int64_t>(value.bits) < 0;
}

std::string Show(ct_value value)
{
	std::ostringstream hex, out;

	hex << "0x" << std::hex << value.bits;
	if (value.kind == CT_POINTER)
		return value.bits ? hex.str() : "NULL";
	if (value.kind == CT_UNSIGNED)
		out << value.bits;
	else
		out << static_cast<int64_t>(value.bits);
	if (value.bits > 9 && !Negative(value))
		out << " (" << hex.str() << ")";
	return out.str();
}

// -1, 0 or 1 as numbers, whatever the types.
int Order(ct_value a, ct_value b)
{
	if (Negative(a) != Negative(b))
		return Negative(a) ? -1 : 1;
	return a.bits < b.bits ? -1 : a.bits > b.bits;
}

bool Holds(ct_relation relation, int order)
{
	switch (relation) {
	case CT_EQ:
		return order == 0;
	case CT_NE:
		return order != 0;
	case CT_LT:
		return order < 0;
	case CT_LE:
		return order <= 0;
	case CT_GT:
		return order > 0;
	case CT_GE:
		return order >= 0;
	}
	return false;
}

std::string Quote(const char *text)
{
	return text ? testing::PrintToString(text) : "NULL";
}

std::string Hex(const void *bytes, size_t len, size_t from)
{
	const unsigned char *p = static_cast<const unsigned char *>(bytes);
	std::string out;
	char buf[4];

	for (size_t i = from; i < len && i < from + 16; i++) {
		snprintf(buf, sizeof(buf), " %02x", p[i]);
		out += buf;
	}
	return out;
}

} // namespace

void ct_register(ct_case *test)
{
	*tests_end = test;
	tests_end = &test->next;
}

bool ct_compare(const char *file, int line, ct_relation relation, const char *a_text,
		const char *b_text, ct_value a, ct_value b)
{
	static const char *const names[] = {"==", "!=", "<", "<=", ">", ">="};

	if (Holds(relation, Order(a, b)))
		return true;
	return Fail(file, line,
		    std::string("expected: ") + a_text + " " + names[relation] + " " +
			    b_text + "\n    left: " + Show(a) + "\n   right: " + Show(b));
}

bool ct_truth(const char *file, int line, const char *text, bool value, bool wanted)
{
	if (value == wanted)
		return true;
	return Fail(file, line,
		    std::string("expected: ") + text +
			    (wanted ? " is true" : " is false"));
}

bool ct_streq(const char *file, int line, const char *a_text, const char *b_text,
	      const char *a, const char *b)
{
	if (a == b || (a && b && !strcmp(a, b)))
		return true;
	return Fail(file, line,
		    std::string("expected: ") + a_text + " is the text " + b_text +
			    "\n    left: " + Quote(a) + "\n   right: " + Quote(b));
}

bool ct_strstr(const char *file, int line, const char *a_text, const char *b_text,
	       const char *a, const char *b)
{
	if (a && b && strstr(a, b))
		return true;
	return Fail(file, line,
		    std::string("expected: ") + a_text + " contains " + b_text +
			    "\n    left: " + Quote(a) + "\n   right: " + Quote(b));
}

static bool in_word(char c)
{
	return isalnum(static_cast<unsigned char>(c)) || c == '_';
}

static bool has_word(const std::string &text, const std::string &word)
{
	for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; at++) {
		const size_t end = at + word.size();

		if (!(at && in_word(text[at - 1]) && in_word(word.front())) &&
		    !(end < text.size() && in_word(text[end]) && in_word(word.back())))
			return true;
	}
	return false;
}

bool ct_has_data(const char *text, const char *words)
{
	std::istringstream in(words);
	std::string word;

	while (in >> word && has_word(text, word))
		;
	return !in;
}

bool ct_data(const char *file, int line, const char *a_text, const char *b_text,
	     const char *a, const char *b)
{
	if (a && b && ct_has_data(a, b))
		return true;
	return Fail(file, line,
		    std::string("expected: ") + a_text + " has the data " + b_text +
			    "\n    left: " + Quote(a) + "\n   right: " + Quote(b));
}

bool ct_memeq(const char *file, int line, const char *a_text, const char *b_text,
	      const void *a, const void *b, size_t len)
{
	const char *x = static_cast<const char *>(a);
	const char *y = static_cast<const char *>(b);
	size_t i = 0;

	while (i < len && x[i] == y[i])
		i++;
	if (i == len)
		return true;
	return Fail(file, line,
		    std::string("expected: ") + a_text + " has the bytes of " + b_text +
			    "\nfirst difference at byte " + std::to_string(i) + " of " +
			    std::to_string(len) + "\n    left:" + Hex(a, len, i) +
			    "\n   right:" + Hex(b, len, i));
}

void ct_skip(const char *file, int line, const char *reason)
{
	GTEST_SKIP() << file << ":" << line << ": " << reason;
}

uint64_t ct_soon_end()
{
	return NowMs() + CT_DEADLINE_MS;
}

bool ct_soon(uint64_t end)
{
	sched_yield();
	return NowMs() < end;
}

void ct_note(const char *fmt, ...)
{
	char buf[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(buf, sizeof(buf), fmt, args);
	va_end(args);
	note = buf;
}

bool ct_failed()
{
	return failures > 0;
}

bool ct_ended()
{
	return ct_failed() || testing::Test::IsSkipped();
}

unsigned int ct_rounds(unsigned int most)
{
	const char *text = getenv("CT_PART");
	const unsigned long part = text ? strtoul(text, nullptr, 10) : 1;
	const unsigned long rounds = part > 1 ? most / part : most;

	return rounds ? static_cast<unsigned int>(rounds) : 1;
}

int main(int argc, char **argv)
{
	testing::InitGoogleTest(&argc, argv);
	for (const ct_case *test = tests; test; test = test->next)
		testing::RegisterTest(test->suite, test->name, nullptr, nullptr,
				      test->file, test->line,
				      [test]() -> Test * { return new Test(test); });
	return RUN_ALL_TESTS();
}
