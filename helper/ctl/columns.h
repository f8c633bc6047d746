/* Tables for people: a header, and columns that fit the terminal. */
#ifndef GPUHELPER_CTL_COLUMNS_H
#define GPUHELPER_CTL_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COLUMNS_MAX 6

struct columns_row {
	char *cell[COLUMNS_MAX];	/* of a note: only the first */
	bool note;
};

struct columns {
	const char *head[COLUMNS_MAX];
	size_t n;		/* columns */
	size_t state;		/* the column with a word to colour */
	size_t shrinks;		/* the column that gives way on a narrow terminal, after the last one */
	struct columns_row *row;
	size_t rows;
	bool failed;		/* no memory: nothing is printed but that */
};

/* Adds a row of c->n cells; copies them. */
void columns_add(struct columns *c, const char *const *cell);
/* Adds a line below the last row, which is indented and never cut. */
void columns_note(struct columns *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/*
 * Prints the table; nothing if it has no rows.  Only a terminal gets cells that are cut (they end in "..") and colours,
 * and no colours if NO_COLOR is set.
 */
void columns_say(const struct columns *c);
void columns_free(struct columns *c);
#define autocolumns __attribute__((cleanup(columns_free)))

/* Writes how long ago this was, as "45s", "12m", "3h" or "5d"; "-" if «since» is no RFC 3339 time. */
void columns_age(const char *since, char out[16]);

#endif
