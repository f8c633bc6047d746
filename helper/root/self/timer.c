/* See timer.h. Only a signal that ends the process ends every kind of wait. */
#include "timer.h"

#include <signal.h>
#include <stddef.h>
#include <sys/time.h>
#include <time.h>

#define AGAIN_MS 100

static void
set_timer(int ms, int again_ms)
{
	const struct itimerval limit = { .it_value = { ms / 1000, ms % 1000 * 1000 },
		.it_interval = { .tv_usec = again_ms * 1000 } };

	(void)setitimer(ITIMER_REAL, &limit, NULL);
}

static void
do_nothing(int sig)
{
	(void)sig;
}

/* Sets the handler of SIGALRM only if it differs: most waits follow another one of their kind. */
static void
on_alarm(void (*handler)(int))
{
	static void (*now)(int) = SIG_DFL;
	const struct sigaction to = { .sa_handler = handler };

	if (handler != now && sigaction(SIGALRM, &to, NULL) == 0)
		now = handler;
}

void
interrupt_after(int ms)
{
	if (ms != 0)
		on_alarm(do_nothing);
	set_timer(ms, AGAIN_MS);
}

void
end_after(int ms)
{
	if (ms != 0)
		on_alarm(SIG_DFL);
	set_timer(ms, 0);
}

int
kill_after(int seconds)
{
	struct sigevent end = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL };
	const struct itimerspec limit = { .it_value.tv_sec = seconds };
	timer_t timer;

	return timer_create(CLOCK_MONOTONIC, &end, &timer) == -1 ? -1 : timer_settime(timer, 0, &limit, NULL);
}
