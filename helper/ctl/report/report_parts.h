/*
 * gpuhelperctl report: what its parts share.  report.c reads the log, report_entry.c parses a record, report_sum.c
 * counts it in rows (report_rows.c), and the others write the rows as a page.  Memory grows with the number of names,
 * days and open leases, but not with the number of records.
 */
#ifndef GPUHELPER_CTL_REPORT_REPORT_PARTS_H
#define GPUHELPER_CTL_REPORT_REPORT_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "../../base/text.h"
#include "../audit/auditkind.h"

#define DAY_S 86400
#define REASON_SIZE 300

struct options;

/* What rows are named after; of TOTAL, there is one.  Behind them are other lists. */
enum set { TOTAL, PIPELINES, TEAMS, INSTANCES, USERS, DENIAL_KINDS, WAIT_RANGES, GPUS, DAYS,
	SETS, BOOTS = SETS, USED, LEASES, LISTS };

/* What a row counts. */
enum count {
	ORDER,		/* rows with a higher one come first; a row that has one is always shown */
	SECONDS,	/* GPU seconds */
	BUSY,		/* seconds in which a GPU had one holder or more */
	CAPACITY,	/* GPU seconds that a day had */
	GRANTS, AGAIN, FOLDERS_ONLY, UNDONE,
	HELD,		/* leases at the end of the period */
	WAITS, WAITED, LONGEST,		/* waits before grants, their seconds, and those of the longest */
	ABANDONED, IN_VAIN,		/* waits that ended without a grant or a denial, and their seconds */
	WAITED_IN_ALL,	/* seconds of both */
	PARTS,		/* of a team, in team_shares */
	ORPHANS,	/* ends without a grant */
	REPLACED,	/* grants without an end */
	CUT_BY_BOOT,	/* grants that ended with a boot */
	RECORDS, LEFT_OUT, FILES, TORN, DAMAGED,
	LAST,		/* the time of the last denial */
	DENIALS,
	PART,		/* and further ones: denials by kind; of a day, the GPU seconds of each series */
	COUNTS = PART + AUDIT_KINDS
};

/* What is counted under one name. */
struct row {
	char *name;
	char *more;			/* the second line of the name it was added with, or NULL; after report_finish() */
	int64_t n[COUNTS];
	char reason[REASON_SIZE];	/* of the last denial */
	size_t series;			/* of a pipeline: which one of the chart by day has it */
	size_t holders;			/* of a GPU */
	int64_t since;			/* if it has holders: since when */
};

/* The parts of a record that the report uses. */
enum report_event { EVENT_GRANT, EVENT_PROMISE, EVENT_ABANDON, EVENT_REFUSE, EVENT_UNDO, EVENT_END, EVENT_GAVE_BACK,
	EVENT_OTHER };
struct report_entry {
	enum report_event event;
	int64_t time;			/* seconds since 1970 */
	struct row *of[SETS];		/* what counts it; none if the filter excludes it, or if its lease knows them */
	char lease[340];		/* identifies the lease: UID/CONTAINER */
	char reason[REASON_SIZE];
	struct strlist gpus;		/* their names */
	enum audit_kind denial;
	int64_t waited, left_out;	/* seconds; records */
	bool again;			/* in logs of versions that gave a container the GPUs which it had before */
	bool releasing;
	bool counts;			/* it lies in the period; report_take() sets this */
};

/* What a pipeline used on one day, or a time when the host booted. */
struct moment {
	char *name;			/* begins with its time as text */
	int64_t at;			/* seconds since 1970 */
	struct row *pipeline;
	int64_t seconds;
};

/* Structs that begin with «char *name», sorted by it. */
struct names {
	void **v;
	size_t n;
};

#define SERIES 9		/* of the chart by day: the pipelines with the most GPU time, and the others */

struct report {
	/* the period; INT64_MIN: from the first record; INT64_MAX: to the last; known after report_finish() */
	int64_t since, until;
	int64_t first, last;		/* times of the first and last record in the period */
	const char *filter;		/* describes the filter; NULL: no filter; borrowed */
	const char *no_shares;		/* why the teams' shares are not known; NULL: they are */
	struct names set[LISTS];	/* of rows; moments (BOOTS, USED); open leases */
	struct row total;
	size_t next_boot;
	int64_t booted;			/* the last boot that counts */
	int64_t days_each;		/* of a row of DAYS */
	const char *series[SERIES + 1];	/* their names, and NULL */
	bool nomem;
};

/*
 * Finds or adds the struct with this name; a new one has «size» bytes, all zero but its name.  Size 0: adds none.
 * NULL: not found, or out of memory, with r->nomem set.
 */
void *names_get(struct report *r, enum set of, const char *name, size_t size);
void names_remove(struct report *r, enum set of, const char *name);
void report_free(struct report *r);

/*
 * Finds or adds the row with the name that the format makes, which may have two lines.  After 20,000 names, new ones
 * share a row: refused requests could claim any number of pipelines.  NULL: out of memory, likewise.
 */
struct row *row_get(struct report *r, enum set of, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Counts n more; of LONGEST and LAST, keeps the highest.  Does nothing if row is NULL. */
void row_count(struct row *row, enum count c, int64_t n);
/*
 * Finds the rows that have an ORDER or something of «by», and sorts them, the highest first.  Puts them into *out,
 * which the caller frees, and returns how many there are.  *out is NULL if memory is short.
 */
#define KEYS 3
size_t rows_select(const struct names *s, const enum count by[KEYS], struct row ***out);

/*
 * Parses a record's line, and counts it if the command line selects it.  What can't be printed becomes '?', and names
 * that a stranger chose are quoted.  False if the line is no record: it is not JSON, has no event, or no time between
 * 2000 and 2200.
 */
bool report_read(struct report *r, const struct options *o, const char *line, size_t len);
/* A part of it: counts the record. */
void report_take(struct report *r, struct report_entry *e);
/* Must follow the last record: counts open leases to the end of the period, and completes the rows. */
void report_finish(struct report *r);
/* A part of it: makes the rows of DAYS, and r->series. */
void report_make_days(struct report *r);

/*
 * Appends like printf(3), but knows only %s, %d, %f (with two decimal places) and %%.  Text (%s) becomes valid UTF-8
 * without control and direction characters, escaped for HTML, attributes and SVG.  All text that anyone may have chosen
 * must come into the page this way.
 */
void html(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A part of a whole as percentage; 0 of nothing. */
double percent(int64_t part, int64_t whole);

/* How a number is shown. */
enum form {
	FORM_COUNT,		/* 1,234,567 */
	FORM_HOURS,		/* of seconds: 12.3 */
	FORM_DURATION,		/* of seconds: 2 h 5 min, or 38 s */
	FORM_TIME,		/* seconds since 1970: 2026-11-20 23:06 */
	FORM_SHARE,		/* of a whole: 12.3 % */
	/* in tables alone: */
	FORM_MEAN,		/* of seconds, by WAITS */
	FORM_OVER,		/* by how many percentage points the row's share of SECONDS exceeds this share */
	FORM_KINDS,		/* denials by kind: «policy 7, busy 2» */
	FORM_REASON,		/* the row's last reason */
};
/* Writes a number as text to «out», and returns the text.  «whole» is for FORM_SHARE. */
#define NUMBER_SIZE 32
const char *number_text(enum form form, int64_t n, int64_t whole, char out[NUMBER_SIZE]);
/* The same, in a buffer that lives as long as the block around. */
#define as_count(n) number_text(FORM_COUNT, n, 0, (char [NUMBER_SIZE]){ 0 })
#define as_hours(s) number_text(FORM_HOURS, s, 0, (char [NUMBER_SIZE]){ 0 })
#define as_duration(s) number_text(FORM_DURATION, s, 0, (char [NUMBER_SIZE]){ 0 })
#define as_share(n, whole) number_text(FORM_SHARE, n, whole, (char [NUMBER_SIZE]){ 0 })
#define as_time(s) number_text(FORM_TIME, s, 0, (char [NUMBER_SIZE]){ 0 })

/* A name, cut in the middle where it would be too long. */
#define NAME_SHOWN 40		/* bytes */
#define as_short(name) path_short(name, (char [NAME_SHOWN]){ 0 }, NAME_SHOWN)

/* Adds a column chart of the rows of DAYS, stacked by r->series. */
void chart_days(struct buf *b, const struct report *r);

/* Adds the style sheet, and a policy that lets a browser load nothing else. */
void report_style(struct buf *b);

/* Adds the whole page.  own: the report is from this host's own log, not from named files. */
void report_page(struct buf *b, const struct report *r, bool own);

#endif
