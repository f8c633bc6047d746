/*
 * gpuhelperctl report: writes an HTML page, without scripts, about who used the GPUs and who was denied them, from the
 * audit log.  Reads with its caller's rights.  See report_parts.h.
 */
#include "report_parts.h"

#include <paths.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <utmpx.h>

#include "../../base/cleanup.h"
#include "../../base/quoted.h"
#include "../../read/load.h"
#include "../audit/auditfilter.h"
#include "../audit/auditlog.h"
#include "../audit/logset.h"
#include "../ctl.h"
#include "../when.h"

static void
add_boot(struct report *r, int64_t at)
{
	struct moment *boot;
	char name[32];

	text_time(at, name);
	if ((boot = names_get(r, BOOTS, name, sizeof(*boot))) != NULL)
		boot->at = at;
}

/* Finds the times when this host booted: a reboot ends all leases without a record. */
static void
find_boots(struct report *r)
{
	const struct utmpx *u;
	struct timespec up;

	utmpxname(_PATH_WTMP);
	setutxent();
	while ((u = getutxent()) != NULL)
		if (u->ut_type == BOOT_TIME)
			add_boot(r, (int64_t)u->ut_tv.tv_sec);
	endutxent();
	if (clock_gettime(CLOCK_BOOTTIME, &up) == 0)
		add_boot(r, (int64_t)(time(NULL) - up.tv_sec));
}

static int
add_logs(struct report *r, const struct options *o, struct log_set *files, struct why *why)
{
	struct log_reader reader;
	const char *line;
	ssize_t n;
	size_t i;

	if (log_set_open(o->arg, o->args, files, why) == -1)
		return -1;
	for (i = 0; i < files->n; i++) {
		if (log_open_file(&reader, &files->v[i], why) == -1)
			return -1;
		while ((n = log_line(&reader, &line)) >= 0)
			row_count(&r->total, TORN, n > 0 && !report_read(r, o, line, (size_t)n));
		if (!log_close(&reader) || n == -2) {
			row_count(&r->total, DAMAGED, 1);
			(void)complain(WHY_DATA, "%s: can't read the file to its end: the report lacks the rest", files->v[i].path);
		}
	}
	row_count(&r->total, FILES, (int64_t)files->n);
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
	struct row *team;
	char *is;
	bool strict;
	size_t i;

	r->no_shares = "The teams' shares are not known: --config-dir names the configuration that has them.";
	if (o->args > 0 && !o->elsewhere)
		return 0;
	r->no_shares = "The teams' shares are not known: gpuhelper.conf can't be read (gpuhelperctl check).";
	if (ctl_config_dir(o->config_dir, &dir, &strict, why) == -1 ||
	    settings_load(dir, strict, &settings, NULL, NULL, why) == -1)
		return o->elsewhere ? -1 : 0;
	r->no_shares = settings.team_shares.n > 0 ? NULL : "gpuhelper.conf gives the teams no shares (team_shares).";
	for (i = 0; i < settings.team_shares.n; i++) {
		is = strrchr(settings.team_shares.v[i], '=');
		*is = '\0';
		if ((team = row_get(r, TEAMS, "%s", quoted(settings.team_shares.v[i]))) != NULL) {
			team->n[ORDER] = 1;
			team->n[PARTS] = strtoll(is + 1, NULL, 10);
		}
	}
	return 0;
}

static int
write_page(const struct report *r, const struct options *o, struct why *why)
{
	autobuf struct buf page = { 0 };

	report_page(&page, r, o->args == 0);
	return page.failed ? refuse_nomem(why) : ctl_write_output(o->output, true, page.p, page.len, why);
}

int
ctl_report(const struct options *o)
{
	const int64_t now = time(NULL);
	/* logs on the command line may end at any time: the report then ends with the last record */
	struct report r = { .since = INT64_MIN, .until = o->args == 0 ? now : INT64_MAX };
	autobuf struct buf filter = { 0 };
	struct log_set files = { .n = 0 };
	struct why why;
	int status;

	if ((status = audit_filter_check(o, "report")) != 0)
		return status;
	if (o->since != NULL && !when_read_ago(o->since, now, &r.since))
		return misuse(o, "report: --since must be like " WHEN_FORMS ", not \"%s\"", o->since);
	if (o->until != NULL && !when_read_ago(o->until, now, &r.until))
		return misuse(o, "report: --until must be like " WHEN_FORMS ", not \"%s\"", o->until);
	if (r.since >= r.until)
		return misuse(o, "report: --since must be before --until");
	audit_filter_describe(o, &filter);
	r.filter = filter.p;
	r.nomem = filter.failed;
	/* logs on the command line may come from another host, whose boots are unknown */
	if (o->args == 0)
		find_boots(&r);
	if (add_shares(&r, o, &why) == -1 || add_logs(&r, o, &files, &why) == -1 || write_page(&r, o, &why) == -1)
		status = give_up(o, &why);
	else if (r.total.n[DAMAGED] > 0)
		status = WHY_DATA;
	log_set_end(&files);
	report_free(&r);
	return status;
}
