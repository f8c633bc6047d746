/*
 * gpuhelperctl report: what its parts share.  report.c reads the log, report_entry.c a record, report_sum.c counts,
 * report_page.c and its like write the page.  Memory grows with the number of names, days and open leases, and not with
 * that of records.
 */
#ifndef GPUHELPER_CTL_REPORT_H
#define GPUHELPER_CTL_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "../pure/text.h"
#include "../pure/why.h"
#include "auditreason.h"

#define DAY_S 86400
#define NAME_SIZE 256	/* of a pipeline */

/* A record, as far as it is of use here. */
enum report_event { EVENT_GRANT, EVENT_REFUSE, EVENT_UNDO, EVENT_END, EVENT_GAVE_BACK, EVENT_OTHER };
struct report_entry {
	enum report_event event;
	int64_t time;			/* seconds since 1970 */
	char pipeline[NAME_SIZE];	/* or who else it is; see report_entry_read() */
	bool named;			/* it is a pipeline */
	char vars[1100];		/* its instance variables, as the record has them; "": none */
	bool vars_left_out;		/* some of them */
	bool claimed;			/* all of that is a claim */
	bool wanted;			/* auditfilter.h; set by who reads */
	char user[80];			/* who asked, or whose the lease is */
	char lease[340];		/* that of one container of one user */
	char reason[300];
	struct strlist gpus;
	size_t denial;			/* index into audit_reasons */
	int64_t waited, left_out;	/* seconds; records */
	bool again, draining;
};

/*
 * Reads a record's line.  False where it is none: no JSON, no event, or no time between 2000 and 2200.  The entry
 * before is freed; report_entry_free() after the last.
 */
bool report_entry_read(const char *line, size_t len, struct report_entry *e);
void report_entry_free(struct report_entry *e);

/* Things by their names, each one once. */
struct named {
	void *tree;
	void **v;		/* in the order in which they came; each begins with «char *name» */
	size_t n, cap;
};

/* Containers that had to wait, by how long. */
#define WAITS 5
extern const struct report_wait {
	int64_t below;		/* seconds */
	const char *name;
} report_waits[WAITS];

struct report_pipeline {
	char *name;
	bool named;		/* it is a pipeline, and not who asks without one */
	size_t grants, held;	/* in the period; still held at its end */
	int64_t seconds;	/* a GPU's; so are those of the days */
	int64_t first_day, *day;	/* since 1970 */
	size_t days;
	size_t denied[AUDIT_REASONS], denials;
	size_t waits;
	int64_t waited, longest;
};

/* A pipeline's instance: "TEAM/PIPELINE {VARIABLES}". */
struct report_instance {
	char *name;
	size_t grants, denials;
	int64_t seconds;
	char reason[300];	/* of the last denial */
};

struct report_gpu {
	char *name;
	size_t grants, holders;
	int64_t since;		/* with a holder: since when it has one */
	int64_t busy, seconds;	/* with one holder or more; the sum of its leases */
};

struct report_user {
	char *name;
	size_t denials;
	int64_t last;
	char reason[300];	/* of the last one */
};

struct report_lease;

struct report {
	int64_t since, until;		/* the period; INT64_MIN and INT64_MAX: from the first, to the last record */
	int64_t from, to;		/* the same, once all is read */
	const int64_t *boot;		/* times at which this host was started, ascending; borrowed */
	size_t boots, next_boot;
	int64_t first, last;		/* times of records within the period */
	size_t files, records, outside, torn, damaged;
	struct named pipelines, gpus, users, instances;
	struct report_pipeline unwanted;	/* of leases that the filter leaves out: none of its numbers counts */
	const char *filter;		/* what was asked for alone, in words; NULL: everything; borrowed */
	void *tree;			/* leases by their names */
	struct report_lease *oldest, *newest;
	size_t leases;
	size_t grants, again, undone, without_gpus, denials, denied[AUDIT_REASONS], waits[WAITS];
	int64_t seconds, waited, longest, left_out;
	size_t held;			/* leases at the end of the period */
	size_t orphans, replaced, cut_by_boot;	/* ends without a grant; grants without an end, and those that a boot ended */
	bool nomem;
};

/* Counts one record. */
void report_take(struct report *r, const struct report_entry *e);
/* After the last one: what is still held counts to the end of the period, and lists are sorted, the largest first. */
void report_finish(struct report *r);
void report_free(struct report *r);

/* For a chart: sorts the pipelines or users by how often they were denied, in place. */
void report_sort_denied(struct named *pipelines);

/* Text for the page, from here on.  Anyone's text goes through here: for HTML, attributes and SVG alike. */
void html_text(struct buf *b, const char *text);
/* The same, cut in its middle to so many characters. */
void html_text_short(struct buf *b, const char *text, size_t max);
/* 1234567 as 1,234,567. */
void html_count(struct buf *b, int64_t n);
/* Seconds as hours with one decimal place. */
void html_hours(struct buf *b, int64_t seconds);
/* part of whole as 12.3 %. */
void html_share(struct buf *b, int64_t part, int64_t whole);
/* 2 h 5 min, 38 s. */
void html_duration(struct buf *b, int64_t seconds);
/* 2026-11-20, of seconds since 1970. */
void html_day(struct buf *b, int64_t seconds);

struct chart {
	const char *id, *title;
	const char *about;	/* what a reader who can't see it is told */
};
struct chart_bar {
	const char *name;
	const char *value;	/* as it stands there */
	double share;		/* of the whole width, 0 to 1 */
};
void chart_bars(struct buf *b, const struct chart *c, const struct chart_bar *bar, size_t n);

/* A column is so many days, from «day» on; hours of each series, and of all. */
#define CHART_SERIES 9
struct chart_column {
	int64_t day;
	double hours[CHART_SERIES], all;
};
struct chart_columns {
	struct chart_column *v;
	size_t n;
	int64_t days;		/* of a column */
	const char *series[CHART_SERIES];
	size_t series_n;
};
void chart_columns(struct buf *b, const struct chart *c, const struct chart_columns *columns);

/* The columns of the report's GPU time, which the caller frees (v).  False: no memory. */
bool report_columns(const struct report *r, struct chart_columns *out);

/*
 * A table's beginning and end: its caption, and how its columns are called, up to a NULL.  The first column has names,
 * the others numbers, but for those whose name begins with HTML_WORDS.
 */
#define HTML_WORDS "\t"
void html_table(struct buf *b, const char *caption, const char *const *columns);
void html_table_end(struct buf *b);
/* The row that stands for those that are cut off: «12 more». */
void html_more(struct buf *b, size_t n);

/* The sections of the page. */
void report_section_time(struct buf *b, const struct report *r);
void report_section_gpus(struct buf *b, const struct report *r);
void report_section_waits(struct buf *b, const struct report *r);
void report_section_denials(struct buf *b, struct report *r);
void report_section_instances(struct buf *b, const struct report *r);

/* The style sheet of the page, and the policy that lets a browser load that and nothing else. */
void report_style(struct buf *b);

/* The whole page; «host» made it, of its own log or of files that were named. */
void report_page(struct buf *b, struct report *r, const char *host, bool own);

#endif
