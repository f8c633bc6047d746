/* See textnear.h: which word was meant. */
#include "textnear.h"

#include <string.h>

#include "text.h"

/* ASCII alone: no locale. */
static bool
same_letter(char a, char b)
{
	return (a >= 'A' && a <= 'Z' ? a + 32 : a) == (b >= 'A' && b <= 'Z' ? b + 32 : b);
}

/*
 * Edits (insert, delete, replace, swap of neighbours) between a and b, whatever their case; words longer than 31 bytes
 * count as far apart.
 */
static unsigned
distance(const char *a, const char *b)
{
	unsigned d[32][32], best;
	size_t la = strlen(a), lb = strlen(b), i, j;

	if (la > 31 || lb > 31)
		return 99;
	for (i = 0; i <= la; i++)
		d[i][0] = (unsigned)i;
	for (j = 0; j <= lb; j++)
		d[0][j] = (unsigned)j;
	for (i = 1; i <= la; i++)
		for (j = 1; j <= lb; j++) {
			best = d[i - 1][j - 1] + !same_letter(a[i - 1], b[j - 1]);
			if (d[i - 1][j] + 1 < best)
				best = d[i - 1][j] + 1;
			if (d[i][j - 1] + 1 < best)
				best = d[i][j - 1] + 1;
			if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]) &&
			    d[i - 2][j - 2] + 1 < best)
				best = d[i - 2][j - 2] + 1;
			d[i][j] = best;
		}
	return d[la][lb];
}

const char *
text_nearest(const char *word, const char *const *known)
{
	const char *near = NULL;
	unsigned best = strlen(word) < 4 ? 2 : 3, d;

	for (; *known != NULL; known++)
		if ((d = distance(word, *known)) < best) {
			best = d;
			near = *known;
		}
	return near;
}
