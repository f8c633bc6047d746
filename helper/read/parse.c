/* See parse.h. Must open nothing: the caller has read the files. */
#include "parse.h"

#include <stdlib.h>
#include <string.h>

#include "../policy/faultsrefuse.h"
#include "cdi/cdispec.h"
#include "conf/policyread.h"

bool
policy_entry_parse(const char *name, const char *text, size_t len, struct policy_entry *out)
{
	autofaults struct faults faults = { 0 };
	struct why why;

	if (policy_parse(name, text, len, &out->policy, &faults))
		return true;
	if (out->policy.name == NULL)
		return false;
	faults_refuse(&faults, name, &why);
	return (out->broken = strdup(why.text)) != NULL;
}

bool
policies_parse(const struct policy_files *files, struct policy_set *out)
{
	*out = (struct policy_set){ .v = calloc(files->n + 1, sizeof(*out->v)) };
	if (out->v == NULL)
		return false;
	for (; out->n < files->n; out->n++)
		if (!policy_entry_parse(files->v[out->n].name, files->v[out->n].text, files->v[out->n].len, &out->v[out->n])) {
			out->n++;	/* so that policy_set_free() frees it */
			return false;
		}
	return true;
}

int
specs_parse(struct cdi_registry *r, struct why *why)
{
	enum cdi_format format;
	struct cdi_file *f;

	for (f = r->file; f < r->file + r->files; f++) {
		if (f->text == NULL || !cdi_format_of(f->path, &format))
			continue;
		f->usable = cdi_parse(&f->spec, format, f->text, f->len, &f->faults);
		if (f->faults.starved)
			return refuse_nomem(why);
	}
	return 0;
}
