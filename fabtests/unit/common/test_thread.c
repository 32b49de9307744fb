/* SPDX-License-Identifier: BSD-2-Clause */
#include <cairn/compat.h>
#include <cairn/thread.h>
#include "cairn_test.h"

static void *look_at_mask(void *arg)
{
	pthread_sigmask(SIG_SETMASK, NULL, arg);
	return NULL;
}

CT_TEST(thread, it_blocks_every_signal_and_its_creator_none)
{
	static const int some[] = {SIGTERM, SIGINT, SIGUSR1, SIGALRM, SIGCHLD, SIGPIPE};
	sigset_t before, after, of_thread;
	pthread_t thread;

	sigemptyset(&of_thread);
	pthread_sigmask(SIG_SETMASK, NULL, &before);
	CT_ASSERT_EQ(crn_thread_create(&thread, look_at_mask, &of_thread), 0);
	pthread_join(thread, NULL);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	for (size_t i = 0; i < CRN_COUNT(some); i++) {
		CT_NOTE("signal %d", some[i]);
		CT_EXPECT_EQ(sigismember(&of_thread, some[i]), 1);
		CT_EXPECT_EQ(sigismember(&after, some[i]), sigismember(&before, some[i]));
	}
}
