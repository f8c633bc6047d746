/* See columns.h.  Cells contain text from tasks: each is made printable before it is measured. */
#include "columns.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/text.h"
#include "ctl.h"
#include "when.h"

#define GAP 2
#define SHRUNK 14	/* the width of a column that gives way */

static struct columns_row *
add_row(struct columns *c)
{
	struct columns_row *v = reallocarray(c->row, c->rows + 1, sizeof(*v));

	if (v == NULL) {
		c->failed = true;
		return NULL;
	}
	c->row = v;
	v[c->rows] = (struct columns_row){ .note = false };
	return &v[c->rows++];
}

void
columns_add(struct columns *c, const char *const *cell)
{
	struct columns_row *row = add_row(c);
	size_t i;

	for (i = 0; row != NULL && i < c->n; i++)
		c->failed = (row->cell[i] = printable(cell[i])) == NULL || c->failed;
}

void
columns_note(struct columns *c, const char *fmt, ...)
{
	struct columns_row *row = add_row(c);
	autofree char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = format_text(fmt, ap);
	va_end(ap);
	if (row == NULL)
		return;
	row->note = true;
	c->failed = text == NULL || (row->cell[0] = printable(text)) == NULL || c->failed;
}

/* The columns of the terminal on stdout; 0: it is none. */
static size_t
terminal_width(void)
{
	struct winsize w;

	if (!isatty(STDOUT_FILENO))
		return 0;
	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col >= 40 ? w.ws_col : 80;
}

/* True for a terminal whose user has not asked for no colours (no-color.org). */
static bool
wants_colours(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && (no == NULL || *no == '\0') && term != NULL && strcmp(term, "dumb") != 0;
}

/* The colour of a state, as ECMA-48's SGR; NULL: none. */
static const char *
colour_of(const char *state)
{
	static const struct {
		const char *state, *colour;
	} colours[] = {
		{ "free", "32" }, { "held", "36" }, { "idle", "33" }, { "draining", "33" }, { "over", "33" },
		{ "out-of-service", "31" }, { "sick", "31" }, { "unknown", "33" }, { "passed-on", "33" },
	};
	size_t i;

	for (i = 0; i < sizeof(colours) / sizeof(colours[0]); i++)
		if (strcmp(colours[i].state, state) == 0)
			return colours[i].colour;
	return NULL;
}

static void
measure(const struct columns *c, size_t width[COLUMNS_MAX])
{
	const size_t most = terminal_width();
	size_t i, r, sum = 0, over;

	for (i = 0; i < c->n; i++) {
		width[i] = strlen(c->head[i]);
		for (r = 0; r < c->rows; r++)
			if (!c->row[r].note && strlen(c->row[r].cell[i]) > width[i])
				width[i] = strlen(c->row[r].cell[i]);
		sum += width[i] + (i > 0 ? GAP : 0);
	}
	over = most != 0 && sum > most ? sum - most : 0;
	/* the last column gives way first, then the one that shrinks; if both are narrow, the last gives way altogether */
	for (r = 0; over > 0 && r < 3; r++) {
		const size_t at = r == 1 ? c->shrinks : c->n - 1, keep = r == 2 ? 1 : SHRUNK;
		const size_t less = width[at] <= keep ? 0 : width[at] - keep < over ? width[at] - keep : over;

		width[at] -= less;
		over -= less;
	}
}

static void
say_cell(const char *text, size_t width, bool last, const char *colour)
{
	const size_t len = strlen(text);
	size_t cut = width > 2 ? width - 2 : 0;

	/* not within a character of UTF-8 */
	while (len > width && cut > 0 && ((unsigned char)text[cut] & 0xc0) == 0x80)
		cut--;
	if (colour != NULL)
		printf("\033[%sm", colour);
	if (len > width)
		printf("%.*s..", (int)cut, text);
	else
		fputs(text, stdout);
	if (colour != NULL)
		fputs("\033[0m", stdout);
	if (!last)
		printf("%*s", (int)(len < width ? width - len : 0) + GAP, "");
}

/* Prints the cells, without blanks at the end of the line. */
static void
say_cells(const struct columns *c, const char *const *cell, const size_t *width, const char *colour, bool whole)
{
	size_t i, last = c->n - 1;

	while (last > 0 && *cell[last] == '\0')
		last--;
	for (i = 0; i <= last; i++)
		say_cell(cell[i], width[i], i == last, whole || i == c->state ? colour : NULL);
	putchar('\n');
}

void
columns_say(const struct columns *c)
{
	const bool colours = wants_colours();
	size_t width[COLUMNS_MAX], r;

	if (c->failed)
		say("out of memory");
	if (c->failed || c->rows == 0)
		return;
	measure(c, width);
	say_cells(c, c->head, width, colours ? "1" : NULL, true);
	for (r = 0; r < c->rows; r++)
		if (c->row[r].note)
			say("    %s", c->row[r].cell[0]);
		else
			say_cells(c, (const char *const *)c->row[r].cell, width,
			    colours ? colour_of(c->row[r].cell[c->state]) : NULL, false);
}

void
columns_free(struct columns *c)
{
	size_t i, r;

	for (r = 0; r < c->rows; r++)
		for (i = 0; i < COLUMNS_MAX; i++)
			free(c->row[r].cell[i]);
	free(c->row);
	*c = (struct columns){ .n = 0 };
}

void
columns_age(const char *since, char out[16])
{
	int64_t at, age;

	if (!when_read(since, &at)) {
		snprintf(out, 16, "-");
		return;
	}
	age = (int64_t)time(NULL) - at;
	if (age < 0)
		age = 0;
	if (age < 60)
		snprintf(out, 16, "%ds", (int)age);
	else if (age < 3600)
		snprintf(out, 16, "%dm", (int)(age / 60));
	else if (age < 2 * 86400)
		snprintf(out, 16, "%dh", (int)(age / 3600));
	else
		snprintf(out, 16, "%dd", (int)(age / 86400 % 100000));
}
