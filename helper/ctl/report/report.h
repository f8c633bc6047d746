/*
 * gpuhelperctl report: report_sum.c counts the records of the log in rows, report.c writes the rows as a page.  Memory
 * grows with the number of names, days and open leases, but not with the number of records.
 */
#ifndef GPUHELPER_CTL_REPORT_REPORT_H
#define GPUHELPER_CTL_REPORT_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "../../base/text.h"
#include "../audit/auditkind.h"

struct options;

#define DAY_S 86400
#define REASON_SIZE 300

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
	ABANDONED, WAITED_IN_ALL,	/* waits that ended without a grant or a denial; seconds of all waits */
	PARTS,		/* of a team, in team_shares */
	ORPHANS, REPLACED, CUT_BY_BOOT,	/* ends without a grant, grants without an end, grants that ended with a boot */
	RECORDS, LEFT_OUT, FILES, TORN, DAMAGED,
	LAST,		/* the time of the last denial; of all, that of the last record in the period */
	DENIALS,
	PART,		/* and further ones: denials by kind; of a day, the GPU seconds of each series */
	COUNTS = PART + AUDIT_KINDS
};

/* What is counted under one name. */
struct row {
	char *name;			/* some have a second line */
	int64_t n[COUNTS];
	char reason[REASON_SIZE];	/* of the last denial */
	size_t series;			/* of a pipeline: which one of the chart by day has it */
	size_t holders;			/* of a GPU */
	int64_t since;			/* if it has holders: since when */
};

/* Structs that begin with «char *name», sorted by it. */
struct names {
	void **v;
	size_t n;
};

/* The chart by day has the pipelines with the most GPU time, and the others, in so many columns at most. */
#define SERIES 9
#define DAYS_MAX 92
_Static_assert(SERIES <= AUDIT_KINDS, "a row has a number for each series");

struct report {
	/* the period; INT64_MIN: from the first record; INT64_MAX: to the last; known after report_sum() */
	int64_t since, until;
	int64_t first;			/* the time of the first record in the period */
	const char *filter;		/* describes the filter; NULL: no filter; borrowed */
	const char *no_shares;		/* why the teams' shares are not known; NULL: they are */
	struct names set[LISTS];	/* of rows; seconds since 1970 (BOOTS); struct use (USED); open leases */
	struct row total;
	size_t next_boot;
	int64_t booted;			/* the last boot that counts */
	int64_t days_each;		/* of a row of DAYS */
	const char *series[SERIES + 1];	/* their names, and NULL */
	bool nomem;
};

/* Counts n more; of LONGEST and LAST, keeps the highest.  Does nothing if row is NULL. */
void row_count(struct row *row, enum count c, int64_t n);
/*
 * Sorts the rows, the highest first, by ORDER and «by».  Returns how many have something of these; they come first.  No
 * name can be found or added afterwards.
 */
#define KEYS 3
size_t rows_sort(const struct names *rows, const enum count by[KEYS]);

/*
 * Counts what the command line selects of the logs in *r, which has the period and the filter.  -1 with *why.  The
 * caller calls report_free() in any case.
 */
int report_sum(struct report *r, const struct options *o, struct why *why);
void report_free(struct report *r);

#endif
