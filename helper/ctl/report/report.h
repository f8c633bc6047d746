/*
 * gpuhelperctl report: what its parts share.  report.c reads the log, report_entry.c parses a record, report_sum.c
 * counts, and the others write the page.  Memory grows with the number of names, days and open leases, but not with the
 * number of records.
 */
#ifndef GPUHELPER_CTL_REPORT_REPORT_H
#define GPUHELPER_CTL_REPORT_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "../../base/quoted.h"
#include "../../base/text.h"
#include "../../base/why.h"
#include "../audit/auditkind.h"

#define DAY_S 86400
#define NAME_SIZE 256	/* of a pipeline, as in a record */
#define REASON_SIZE 300

/* The parts of a record that the report uses. */
enum report_event { EVENT_GRANT, EVENT_PROMISE, EVENT_ABANDON, EVENT_REFUSE, EVENT_UNDO, EVENT_END, EVENT_GAVE_BACK,
	EVENT_OTHER };
struct report_entry {
	enum report_event event;
	int64_t time;			/* seconds since 1970 */
	char pipeline[QUOTED_MAX];	/* TEAM/PIPELINE; without one, text like "(user NAME)" */
	char team[QUOTED_MAX];		/* "" if none is known; made printable by the caller, as the pipeline */
	bool named;			/* pipeline is TEAM/PIPELINE */
	char vars[1100];		/* its instance variables as in the record, or "" */
	bool vars_left_out;		/* the record lacks some of them */
	bool claimed;			/* pipeline and variables are an unproven claim */
	bool wanted;			/* the filter selects the record (auditfilter.h); the caller sets this */
	char user[80];			/* the user who asked, or whom the lease belongs to */
	char lease[340];		/* identifies the lease: UID/CONTAINER */
	char reason[REASON_SIZE];
	struct strlist gpus;
	enum audit_kind denial;
	int64_t waited, left_out;	/* seconds; records */
	bool again;			/* in logs of versions that gave a container the GPUs which it had before */
	bool draining;
};

/*
 * Parses a record's line, and frees what *e held before.  False if the line is no record: it is not JSON, has no event,
 * or no time between 2000 and 2200.  The caller calls report_entry_free() after the last.
 */
bool report_entry_read(const char *line, size_t len, struct report_entry *e);
void report_entry_free(struct report_entry *e);

/* A set of structs with names; each struct begins with «char *name». */
struct named {
	void *tree;
	void **v;		/* in the order of their addition */
	size_t n, cap;
};

/* The ranges into which waits are sorted. */
#define WAITS 5
extern const struct report_wait {
	int64_t below;		/* seconds */
	const char *name;
} report_waits[WAITS];

struct report_pipeline {
	char *name;
	bool named;		/* name is TEAM/PIPELINE */
	size_t grants;		/* in the period */
	size_t held;		/* leases at the end of the period */
	int64_t seconds;	/* GPU seconds */
	int64_t first_day;	/* days since 1970 */
	int64_t *day;		/* GPU seconds of each day */
	size_t days;
	size_t denied[AUDIT_KINDS], denials;
	char reason[REASON_SIZE];	/* of the last denial */
	size_t waits, abandoned;	/* waits before a grant, and others */
	int64_t waited, longest, mean;	/* before grants only; mean: set by report_waiting() */
};

/* An instance of a pipeline; its name is "TEAM/PIPELINE {VARIABLES}". */
struct report_instance {
	char *name;
	size_t grants, denials;
	int64_t seconds;
	char reason[REASON_SIZE];	/* of the last denial */
};

/* A team, as the helper tells teams apart for their shares (policy/usage.h). */
struct report_team {
	char *name;
	int64_t seconds;	/* GPU seconds */
	int64_t waited;		/* seconds before grants, and of abandoned waits */
	uint32_t parts;		/* its entry in team_shares; 0: it has none, and so one part */
	double held, share, over;	/* per cent, and their difference; set by report_teams() */
};

/* What is known of team_shares. */
enum report_shares {
	SHARES_UNASKED,		/* nobody has named the configuration that goes with the logs */
	SHARES_UNREADABLE,	/* gpuhelper.conf of this host can't be read */
	SHARES_UNSET,		/* gpuhelper.conf sets none */
	SHARES_SET,
};

struct report_gpu {
	char *name;
	size_t grants, holders;
	int64_t since;		/* if it has holders: since when */
	int64_t busy;		/* seconds with one holder or more */
	int64_t seconds;	/* the sum of its leases */
};

struct report_user {
	char *name;
	size_t denials;
	int64_t last;
	char reason[REASON_SIZE];	/* of the last denial */
};

struct report_lease;

struct report {
	int64_t since, until;		/* the period; INT64_MIN: from the first record; INT64_MAX: to the last */
	int64_t from, to;		/* the same, after report_finish() */
	const int64_t *boot;		/* the host's boot times, ascending; borrowed */
	size_t boots, next_boot;
	int64_t first, last;		/* times of the first and last record in the period */
	size_t files, records, outside, torn, damaged;
	struct named pipelines, gpus, users, instances, teams;
	enum report_shares shares;
	struct report_pipeline unwanted;	/* collects leases that the filter excludes; never printed */
	const char *filter;		/* describes the filter; NULL: no filter; borrowed */
	void *tree;			/* open leases by name */
	struct report_lease *oldest, *newest;
	size_t leases;
	size_t grants, again, undone, without_gpus, denials, denied[AUDIT_KINDS], waits[WAITS];
	size_t abandoned;		/* waits that ended without a grant or a denial */
	int64_t seconds, waited, longest, waited_in_vain, left_out;
	size_t held;			/* leases at the end of the period */
	size_t orphans;			/* ends without a grant */
	size_t replaced;		/* grants without an end */
	size_t cut_by_boot;		/* grants that ended with a boot */
	bool nomem;
};

/* Finds or adds a team; NULL, with r->nomem set: memory is short. */
struct report_team *report_team(struct report *r, const char *name);
/* Takes the shares of settings.team_shares, which may be empty; adds the teams that it names. */
void report_take_shares(struct report *r, const struct strlist *shares);

/* Counts one record. */
void report_take(struct report *r, const struct report_entry *e);
/* Must follow the last record: counts open leases to the end of the period, and sorts the lists, the largest first. */
void report_finish(struct report *r);
void report_free(struct report *r);

/* For qsort(3): the one with the larger first number comes first, then with the larger second; then by name. */
int report_order(const int64_t x[2], const char *x_name, const int64_t y[2], const char *y_name);
/* Sorts the pipelines by their number of denials. */
void report_sort_denied(struct named *pipelines);

/*
 * Adds text, escaped for HTML, attributes and SVG.  Text that anyone may have chosen must come into the page this way.
 */
void html_text(struct buf *b, const char *text);
/* Likewise, but cuts the text in the middle to at most max characters. */
void html_text_short(struct buf *b, const char *text, size_t max);
/* Adds 1234567 as 1,234,567. */
void html_count(struct buf *b, int64_t n);
/* Adds seconds as hours with one decimal place. */
void html_hours(struct buf *b, int64_t seconds);
/* Adds part of whole as 12.3 %. */
void html_share(struct buf *b, int64_t part, int64_t whole);
/* Adds seconds as 2 h 5 min, or 38 s. */
void html_duration(struct buf *b, int64_t seconds);
/* Adds the day as 2026-11-20; takes seconds since 1970. */
void html_day(struct buf *b, int64_t seconds);

struct chart {
	const char *id, *title;
	const char *about;	/* a description for readers who can't see the chart */
};
/* What the values of bars are: counts; seconds, as hours; seconds, as a share of «whole». */
enum chart_unit { CHART_COUNT, CHART_HOURS, CHART_SHARE };
struct chart_bar {
	const char *name;
	int64_t value;
};
/* Adds a bar chart.  The full width is «whole» for CHART_SHARE, else the largest value. */
void chart_bars(struct buf *b, const struct chart *c, enum chart_unit unit, const struct chart_bar *bar, size_t n,
    int64_t whole);

/* The GPU hours of a column: of each series, of all, and those that the GPUs had. */
#define CHART_SERIES 9
struct chart_column {
	int64_t day;		/* the column's first day, since 1970 */
	double hours[CHART_SERIES], all, capacity;
};
struct chart_columns {
	struct chart_column *v;
	size_t n;
	int64_t days;		/* days in a column */
	const char *series[CHART_SERIES];
	size_t series_n;
	const char *capacity;	/* names the line of the capacity; NULL: the chart has none */
};
/* Adds a column chart. */
void chart_columns(struct buf *b, const struct chart *c, const struct chart_columns *columns);

/* Makes the columns of the report's GPU time; the caller frees out->v.  False: out of memory. */
bool report_columns(const struct report *r, struct chart_columns *out);

/* What a cell has of its row: size_t; int64_t seconds; double; char[]; size_t[AUDIT_KINDS]. */
enum table_cell {
	CELL_COUNT,		/* size_t */
	CELL_HOURS,		/* int64_t seconds */
	CELL_PARTS,		/* double hours */
	CELL_PERCENT,		/* double, as 12.3 % */
	CELL_POINTS,		/* double, as +12.3 */
	CELL_SHARE,		/* int64_t, as a share of table.whole */
	CELL_SHARE_OF_COUNT,	/* size_t, likewise */
	CELL_DURATION,		/* int64_t seconds */
	CELL_TIME,		/* int64_t, seconds since 1970 */
	CELL_TEXT,		/* char[] */
	CELL_KINDS,		/* size_t[AUDIT_KINDS], as «policy 7, busy 2» */
};
struct table_column {
	const char *name;
	enum table_cell cell;
	size_t at;		/* offset in the row */
};
struct table {
	const char *caption;
	const char *names;	/* the name of the first column, which has the rows' names */
	const struct table_column *column;
	size_t columns;
	int64_t whole;		/* for CELL_SHARE */
	void (*name)(struct buf *b, const void *row);	/* adds a row's name; NULL: the row begins with «char *name» */
	void (*below)(struct buf *b, const void *row);	/* adds text in small type below the name; NULL: there is none */
};
#define TABLE_COLUMNS(c) (c), sizeof(c) / sizeof((c)[0])
/*
 * Adds a table of n rows, of which only the first «most» are shown.  Then follows «12 more», with the cells of the row
 * «rest» unless that is NULL.  An empty text is an empty cell.
 */
void table_add(struct buf *b, const struct table *t, const void *const *row, size_t n, size_t most, const void *rest);
/* Sorts the kinds that occur, the most frequent first, into out; returns how many there are. */
size_t report_sort_kinds(const size_t denied[AUDIT_KINDS], size_t out[AUDIT_KINDS]);

/* Add the contents of the page's sections.  Where report_has_X() is false, the page has no such section. */
void report_pipelines(struct buf *b, struct report *r);
bool report_has_teams(const struct report *r);
void report_teams(struct buf *b, struct report *r);
bool report_has_days(const struct report *r);
void report_days(struct buf *b, struct report *r);
bool report_has_gpus(const struct report *r);
void report_gpus(struct buf *b, struct report *r);
void report_waiting(struct buf *b, struct report *r);
void report_denials(struct buf *b, struct report *r);
bool report_has_instances(const struct report *r);
void report_instances(struct buf *b, struct report *r);

/* Adds the style sheet, and a policy that lets a browser load nothing else. */
void report_style(struct buf *b);

/* Adds the whole page.  «host» is this host's name; own: the report is from its own log, not from named files. */
void report_page(struct buf *b, struct report *r, const char *host, bool own);

#endif
