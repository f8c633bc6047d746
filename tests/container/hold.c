/*
 * Stands in for the runtime where hundreds of containers have to come and go:
 * «create» or «run» lives for HOLD_MS milliseconds and ends.  The process that
 * asked is then gone, and with it the lease.
 */
#include <stdlib.h>
#include <time.h>

int
main(void)
{
	const char *ms = getenv("HOLD_MS");
	long n = ms != NULL ? atol(ms) : 0;
	struct timespec t = { n / 1000, n % 1000 * 1000000 };

	nanosleep(&t, NULL);
	return 0;
}
