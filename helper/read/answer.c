/* See answer.h. The helper has checked who may write the files. Must open none. */
#include "answer.h"

#include <stdlib.h>

#include "../ask/parsed.h"
#include "../ask/parsedpolicy.h"
#include "../ask/parsedspec.h"
#include "../base/cleanup.h"
#include "../policy/faultsrefuse.h"
#include "cdi/cdispec.h"
#include "conf/settingsread.h"
#include "conf/wanted.h"
#include "parse.h"

static bool
begin_answer(struct lines *t, const char *wrong)
{
	struct why ignored;

	/* read_answer_begin() does not change the text when it writes */
	return read_answer_begin(t, (char *)(uintptr_t)wrong, 0, &ignored);
}

static char *
end_answer(struct lines *t, size_t *len)
{
	if (!lines_finish(t))
		return NULL;
	*len = t->out->len;
	return buf_take(t->out);
}

char *
read_answer_wrong(const char *wrong, size_t *len)
{
	autobuf struct buf b = { 0 };
	struct lines t = { .out = &b };

	begin_answer(&t, wrong);
	return end_answer(&t, len);
}

static char *
tell_policies(const struct read_file *files, size_t n, struct settings *s, size_t *len)
{
	autopolicyset struct policy_set set = { .v = calloc(n + 1, sizeof(*set.v)) };
	autobuf struct buf b = { 0 };
	struct lines t = { .out = &b };
	bool good = set.v != NULL;

	for (; good && set.n < n; set.n++)
		good = policy_entry_parse(files[set.n].name, files[set.n].text, files[set.n].len, &set.v[set.n]);
	if (!good)
		return NULL;
	if (!issuers_want(s, &set))
		return NULL;
	begin_answer(&t, "");
	settings_lines(&t, s);
	policy_set_lines(&t, &set);
	return end_answer(&t, len);
}

static char *
answer_policies(const struct read_query *a, size_t *len)
{
	autofaults struct faults f = { 0 };
	autosettings struct settings s = { 0 };
	struct why why;

	if (a->files == 0)
		return read_answer_wrong("no settings were sent", len);
	if (settings_parse(a->file[0].text, a->file[0].len, &s, &f))
		return tell_policies(a->file + 1, a->files - 1, &s, len);
	faults_refuse(&f, a->file[0].name, &why);
	return read_answer_wrong(why.text, len);
}

static char *
answer_specs(const struct read_query *a, size_t *len)
{
	autobuf struct buf b = { 0 };
	struct lines t = { .out = &b };
	size_t i;

	begin_answer(&t, "");
	for (i = 0; i < a->files; i++) {
		autocdi struct cdi_spec spec = { 0 };
		autocdifaults struct cdi_faults faults = { 0 };
		enum cdi_format format = CDI_JSON;
		bool usable = cdi_format_of(a->file[i].name, &format) &&
		    cdi_parse(&spec, format, a->file[i].text, a->file[i].len, &faults);

		if (faults.starved)
			return NULL;
		/* gpuhelper, which runs as root, never uses an unsafe spec; hooks are up to gpuhelper.conf */
		usable = usable && faults.unsafe <= faults.unsafe_hooks;
		cdi_file_lines(&t, &usable, &spec, &faults);
	}
	return end_answer(&t, len);
}

char *
read_answer(const struct read_query *a, size_t *len)
{
	return a->verb == READ_POLICIES ? answer_policies(a, len) : answer_specs(a, len);
}
