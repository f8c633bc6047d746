/*
 * Stands in for the runtime in tests with hundreds of containers: «create» or «run» lives for HOLD_MS milliseconds and
 * ends.  With it the asking process is gone, and so is the lease.
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
