/*
 * See report.h: tables, in which a bar stands below each row's name.  Each cell carries its column's name, which the
 * style sheet shows on a narrow screen, where a row is a small list.
 */
#include "report.h"

#include <stdio.h>
#include <string.h>

#include "../../base/path.h"

#define VALUE_SIZE 400		/* of a cell: all kinds of denials, and their numbers */
#define REASON_SHOWN 160

/* What the cells of a table are compared with. */
struct measures {
	const struct report *r;
	const struct table *t;
	struct row all, rest;	/* the sums of all rows, and of those that are not shown */
	int64_t widest;		/* the number that fills a bar's width */
};

/* The column's name; NULL: the table lacks it. */
static const char *
name_of(const struct report *r, const struct table_column *c)
{
	if (c->of == PARTS && r->no_shares != NULL)
		return NULL;
	return c->cell == CELL_SERIES ? r->series[c->of - PART] : c->name;
}

/* Words begin at the left, numbers end at the right. */
static const char *
class_of(const struct table_column *c)
{
	return c->cell == CELL_REASON || c->cell == CELL_KINDS ? "t" : "n";
}

static void
add_head(struct buf *b, const struct report *r, const struct table *t)
{
	const struct table_column *c;

	html(b, "<div class=\"scroll\" role=\"region\" aria-label=\"%s\" tabindex=\"0\"><table><caption>%s</caption>"
	    "<thead><tr><th scope=\"col\">%s</th>", t->caption, t->caption, t->names);
	for (c = t->column; c->name != NULL; c++)
		if (name_of(r, c) != NULL)
			html(b, "<th scope=\"col\" class=\"%s\"><bdi>%s</bdi></th>", class_of(c), as_short(name_of(r, c)));
	html(b, "</tr></thead><tbody>\n");
}

/* The kinds of denials that occur, the most frequent first. */
static const char *
kinds_of(const struct row *row, char out[VALUE_SIZE])
{
	int64_t left[AUDIT_KINDS];
	size_t i, most, len = 0;

	memcpy(left, row->n + PART, sizeof(left));
	for (out[0] = '\0'; len < VALUE_SIZE; left[most] = 0) {
		for (i = most = 0; i < AUDIT_KINDS; i++)
			most = left[i] > left[most] ? i : most;
		if (left[most] == 0)
			break;
		len += (size_t)snprintf(out + len, VALUE_SIZE - len, "%s%s %s", len > 0 ? ", " : "", audit_kinds[most].name,
		    as_count(left[most]));
	}
	return out;
}

/* By how many percentage points the row's share of GPU time exceeds its other share. */
static const char *
over_of(const struct row *row, const struct row *all, enum count share, char out[VALUE_SIZE])
{
	const double over = percent(row->n[SECONDS], all->n[SECONDS]) - percent(row->n[share], all->n[share]);

	snprintf(out, VALUE_SIZE, over > -0.05 && over < 0.05 ? "0.0" : "%+.1f", over);
	return out;
}

static const char *
value_of(const struct measures *m, const struct table_column *c, const struct row *row, char out[VALUE_SIZE])
{
	const int64_t n = row->n[c->of];

	switch (c->cell) {
	case CELL_COUNT:
		return number_count(n, out);
	case CELL_HOURS:
	case CELL_SERIES:
		return number_hours(n, out);
	case CELL_DURATION:
		return number_duration(n, out);
	case CELL_MEAN:
		return number_duration(row->n[WAITS] > 0 ? n / row->n[WAITS] : 0, out);
	case CELL_SHARE:
		return number_share(n, m->all.n[c->of], out);
	case CELL_OF_PERIOD:
		return number_share(n, m->r->until - m->r->since, out);
	case CELL_OVER:
		return over_of(row, &m->all, c->of, out);
	case CELL_TIME:
		return number_time(n, out);
	case CELL_KINDS:
		return kinds_of(row, out);
	case CELL_REASON:
		break;
	}
	return path_short(row->reason, out, REASON_SHOWN);
}

/* The style sheet hides an empty cell on a narrow screen. */
static void
add_cells(struct buf *b, const struct measures *m, const struct row *row)
{
	const struct table_column *c;
	const char *name, *value;
	char text[VALUE_SIZE];

	for (c = m->t->column; c->name != NULL; c++) {
		if ((name = name_of(m->r, c)) == NULL)
			continue;
		value = value_of(m, c, row, text);
		if (*value == '\0')
			html(b, "<td></td>");
		else
			html(b, "<td class=\"%s\" data-c=\"%s\"><bdi>%s</bdi></td>", class_of(c), as_short(name), value);
	}
	html(b, "</tr>\n");
}

static void
add_row(struct buf *b, const struct measures *m, const struct row *row)
{
	const int64_t n = row->n[m->t->by[0]];
	const double wide = percent(n, m->widest);

	html(b, "<tr><th scope=\"row\"><bdi>%s</bdi>", row->name);
	if (row->more != NULL)
		html(b, "<small>%s</small>", row->more);
	html(b, "<svg class=\"bar\" aria-hidden=\"true\"><rect width=\"%f%%\" height=\"100%%\"/></svg></th>",
	    n > 0 && wide < 0.3 ? 0.3 : wide);
	add_cells(b, m, row);
}

/* Adds up the rows from the first on. */
static void
add_up(struct row *sum, struct row *const *row, size_t n)
{
	size_t i, c;

	for (i = 0; i < n; i++)
		for (c = 0; c < COUNTS; c++)
			row_count(sum, (enum count)c, row[i]->n[c]);
}

void
table_add(struct buf *b, const struct report *r, const struct table *t, struct row *const *row, size_t n)
{
	struct measures m = { .r = r, .t = t };
	size_t i, shown;

	for (shown = 0; shown < n && (shown < t->most || row[shown]->n[ORDER] > 0); shown++)
		;
	add_up(&m.all, row, n);
	add_up(&m.rest, row + shown, n - shown);
	m.widest = t->column[0].cell == CELL_OF_PERIOD ? r->until - r->since : 0;
	for (i = 0; i < n; i++)
		m.widest = row[i]->n[t->by[0]] > m.widest ? row[i]->n[t->by[0]] : m.widest;
	add_head(b, r, t);
	for (i = 0; i < shown; i++)
		add_row(b, &m, row[i]);
	if (shown < n) {
		html(b, "<tr class=\"more\"><th scope=\"row\">%s more</th>", as_count((int64_t)(n - shown)));
		add_cells(b, &m, &m.rest);
	}
	html(b, "</tbody></table></div>\n");
}
