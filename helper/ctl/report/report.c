/*
 * gpuhelperctl report: writes an HTML page, without scripts, about who used the GPUs and who was denied them, from the
 * audit log.  Reads with its caller's rights.  See report.h.
 */
#include "report.h"

#include <fcntl.h>
#include <paths.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <utmpx.h>

#include "../../base/cleanup.h"
#include "../../host/file.h"
#include "../../read/load.h"
#include "../audit/auditfilter.h"
#include "../audit/auditline.h"
#include "../audit/auditlog.h"
#include "../audit/logset.h"
#include "../ctl.h"
#include "../when.h"

#define SAME_BOOT_S 120		/* the two sources may differ by this much about one boot */

/* Adds a boot in its place, unless the list has it: two sources tell of the last one. */
static void
add_boot(struct report *r, int64_t at)
{
	int64_t *more;
	size_t i;

	for (i = r->boots; i > 0 && r->boot[i - 1] > at; i--)
		;
	if ((i > 0 && at - r->boot[i - 1] <= SAME_BOOT_S) || (i < r->boots && r->boot[i] - at <= SAME_BOOT_S))
		return;
	if ((more = reallocarray(r->boot, r->boots + 1, sizeof(*more))) == NULL) {
		r->nomem = true;
		return;
	}
	r->boot = more;
	memmove(more + i + 1, more + i, (r->boots++ - i) * sizeof(*more));
	more[i] = at;
}

/* Finds the times when this host booted: a reboot ends all leases without a record. */
static void
find_boots(struct report *r)
{
	autoclose int dir = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	autofree char *stat = NULL;
	const struct utmpx *u;
	const char *at;
	size_t len;

	utmpxname(_PATH_WTMP);
	setutxent();
	while ((u = getutxent()) != NULL)
		if (u->ut_type == BOOT_TIME)
			add_boot(r, (int64_t)u->ut_tv.tv_sec);
	endutxent();
	if (dir != -1 && (stat = file_read_at(dir, "stat", 1U << 20, &len)) != NULL &&
	    (at = strstr(stat, "\nbtime ")) != NULL)
		add_boot(r, strtoll(at + strlen("\nbtime "), NULL, 10));
}

/* What a stranger chose can't be read as ours on the page: «(user root)», «x (a claim)». */
static void
quote_names(struct report_entry *e)
{
	autobuf struct buf vars = { 0 };
	char name[QUOTED_MAX];

	snprintf(e->team, sizeof(e->team), "%s", e->team[0] != '\0' ? quoted_text(e->team, name) : "(no team)");
	if (e->named)
		snprintf(e->pipeline, sizeof(e->pipeline), "%s", quoted_text(e->pipeline, name));
	audit_vars(e->vars, &vars);
	if (e->vars[0] != '\0' && !vars.failed)
		snprintf(e->vars, sizeof(e->vars), "%s", vars.p);
}

static void
count_entry(struct report *r, const struct options *o, struct report_entry *e)
{
	e->wanted = audit_filter_takes(o, e->named ? e->pipeline : "", e->vars, e->vars_left_out);
	quote_names(e);
	report_take(r, e);
}

static int
add_log(struct report *r, const struct options *o, const struct log_file *file, struct why *why)
{
	struct report_entry entry = { .time = 0 };
	struct log_reader reader;
	const char *line;
	bool whole;
	ssize_t n;

	if (log_open_file(&reader, file, why) == -1)
		return -1;
	while ((n = log_line(&reader, &line)) >= 0)
		if (n > 0 && report_entry_read(line, (size_t)n, &entry))
			count_entry(r, o, &entry);
		else
			row_count(&r->total, TORN, n > 0);
	report_entry_free(&entry);
	whole = log_close(&reader);
	row_count(&r->total, FILES, 1);
	if (!whole || n == -2) {
		row_count(&r->total, DAMAGED, 1);
		(void)complain(WHY_DATA, "%s: can't read the file to its end: the report lacks the rest", file->path);
	}
	return 0;
}

static int
add_logs(struct report *r, const struct options *o, struct log_set *files, struct why *why)
{
	size_t i;

	if (log_set_open(o->arg, o->args, files, why) == -1)
		return -1;
	for (i = 0; i < files->n; i++)
		if (add_log(r, o, &files->v[i], why) == -1)
			return -1;
	report_finish(r);
	return r->nomem ? refuse_nomem(why) : 0;
}

/*
 * Takes the shares of the teams from gpuhelper.conf.  Logs on the command line may come from another host, so the
 * configuration that goes with them must be named, too.  -1 with *why if a named one can't be read.
 */
static int
add_shares(struct report *r, const struct options *o, struct why *why)
{
	autosettings struct settings settings = { 0 };
	autofree char *dir = NULL;
	bool strict;

	if (o->args > 0 && !o->elsewhere)
		return 0;
	if (ctl_config_dir(o->config_dir, &dir, &strict, why) == -1 ||
	    settings_load(dir, strict, &settings, NULL, NULL, why) == -1) {
		r->shares = SHARES_UNREADABLE;
		return o->elsewhere ? -1 : 0;
	}
	report_take_shares(r, &settings.team_shares);
	return 0;
}

static int
write_page(const struct options *o, struct report *r, struct why *why)
{
	autobuf struct buf page = { 0 };
	char host[256] = "this host";

	(void)gethostname(host, sizeof(host) - 1);
	report_page(&page, r, host, o->args == 0);
	if (page.failed)
		return refuse_nomem(why);
	return ctl_write_output(o->output, true, page.p, page.len, why);
}

/* Parses --since and --until.  0, or the exit status after a complaint. */
static int
parse_period(const struct options *o, struct report *r)
{
	const int64_t now = time(NULL);

	/* logs on the command line may end at any time: the report then ends with the last record */
	r->since = INT64_MIN;
	r->until = o->args == 0 ? now : INT64_MAX;
	if (o->since != NULL && !when_read_ago(o->since, now, &r->since))
		return misuse(o, "report: --since must be like " WHEN_FORMS ", not \"%s\"", o->since);
	if (o->until != NULL && !when_read_ago(o->until, now, &r->until))
		return misuse(o, "report: --until must be like " WHEN_FORMS ", not \"%s\"", o->until);
	return r->since < r->until ? 0 : misuse(o, "report: --since must be before --until");
}

int
ctl_report(const struct options *o)
{
	struct report r = { 0 };
	struct log_set files = { .n = 0 };
	autobuf struct buf filter = { 0 };
	struct why why;
	int status;

	if ((status = audit_filter_check(o, "report")) != 0 || (status = parse_period(o, &r)) != 0)
		return status;
	audit_filter_describe(o, &filter);
	if (filter.len > 0 && !filter.failed)
		r.filter = filter.p;
	/* logs on the command line may come from another host, whose boots are unknown */
	if (o->args == 0)
		find_boots(&r);
	if (add_shares(&r, o, &why) == -1 || add_logs(&r, o, &files, &why) == -1 || write_page(o, &r, &why) == -1)
		status = give_up(o, &why);
	else if (r.total.n[DAMAGED] > 0)
		status = WHY_DATA;
	log_set_end(&files);
	report_free(&r);
	return status;
}
