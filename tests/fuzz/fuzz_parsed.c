/*
 * libFuzzer entry for helper/ask/{parsedpolicy,parsedspec,parsedcheck}.c: the possible answers of a hostile
 * gpuhelper-read.  The first byte selects settings and policies, or a CDI spec.  Every accepted answer has one
 * spelling, and contains nothing that no file may say.
 */
#include <stdlib.h>
#include <string.h>

#include "../../helper/ask/parsed.h"
#include "../../helper/ask/parsedcheck.h"
#include "../../helper/ask/parsedspec.h"
#include "../../helper/base/path.h"
#include "ask/parsedcheckspec.h"
#include "ask/parsedpolicy.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_folder(const struct folder_rule *r)
{
	const char *target = r->target != NULL ? r->target : r->path;
	struct why why;

	must(path_check(r->path, &why) == 0 && path_check(target, &why) == 0);
	must(strcmp(r->path, "/") != 0 && strcmp(target, "/") != 0 && !path_at_or_beneath(r->path, "/proc") &&
	    !path_at_or_beneath(target, "/proc") && !path_at_or_beneath(r->path, "/etc/gpuhelper") &&
	    !path_at_or_beneath(r->path, "/run/gpuhelper"));
}

static void
look_at_policies(const char *text, size_t size)
{
	struct lines in = { .at = text, .end = text + size }, out;
	struct settings s = { 0 };
	struct policy_set p = { 0 };
	struct buf b = { 0 };
	struct why why;
	size_t i, k;

	settings_lines(&in, &s);
	policy_set_lines(&in, &p);
	if (lines_finish(&in)) {
		out = (struct lines){ .out = &b };
		settings_lines(&out, &s);
		policy_set_lines(&out, &p);
		must(lines_finish(&out) && b.len == size && memcmp(b.p, text, size) == 0);
		if (parsed_check(&s, &p, &why) == 0)
			for (i = 0; i < p.n; i++)
				for (k = 0; p.v[i].broken == NULL && k < p.v[i].policy.folders; k++)
					check_folder(&p.v[i].policy.folder[k]);
	}
	buf_free(&b);
	settings_free(&s);
	policy_set_free(&p);
}

static void
look_at_spec(const char *text, size_t size)
{
	struct lines in = { .at = text, .end = text + size };
	struct cdi_faults f = { 0 };
	struct cdi_spec s = { 0 };
	bool usable = false;
	struct why why;
	size_t i;

	cdi_file_lines(&in, &usable, &s, &f);
	if (lines_finish(&in) && usable && parsed_check_spec(&s, &why) == 0)
		for (i = 0; i < s.edits.mounts; i++)
			must(path_check(s.edits.mount[i].container_path, &why) == 0 &&
			    !path_at_or_beneath(s.edits.mount[i].container_path, "/proc"));
	cdi_free(&s);
	cdi_faults_free(&f);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	if (data[0] == 's')
		look_at_spec((const char *)data + 1, size - 1);
	else
		look_at_policies((const char *)data + 1, size - 1);
	return 0;
}
