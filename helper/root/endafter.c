/* See endafter.h.  A signal that ends the process is the one that also ends such a wait. */
#include "endafter.h"

#include <signal.h>
#include <stddef.h>
#include <sys/time.h>

void
end_after(int ms)
{
	const struct itimerval limit = { .it_value = { ms / 1000, ms % 1000 * 1000 } };

	(void)signal(SIGALRM, SIG_DFL);
	(void)setitimer(ITIMER_REAL, &limit, NULL);
}
