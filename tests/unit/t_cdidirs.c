/*
 * host/driver/cdidirs.c: reads fixtures/cdi/dirs by the rules of CDI, also when memory runs out.
 * tests/cdi.sh tests the owners of the files.
 */
#include <limits.h>
#include <sys/resource.h>

#include "base/path.h"
#include "host/driver/cdidirs.h"
#include "nomem.h"
#include "read/parse.h"
#include "tap.h"

static char base[PATH_MAX], dirs[4 * PATH_MAX];
static bool trusted;

/* All devices with their files, and all problems. Each path is shortened to its last component. */
static char *
load(void)
{
	struct cdi_registry r;
	struct buf b = { 0 };
	struct why why;
	size_t i, k;

	if (cdi_registry_load(dirs, trusted, specs_parse, &r, &why) == 0) {
		for (i = 0; i < r.entries; i++)
			buf_printf(&b, "%s=%s%s ", r.entry[i].device->name, path_last(r.entry[i].file->path),
			    r.entry[i].conflict ? "!" : "");
		for (i = 0; i < r.files; i++)
			for (k = 0; k < r.file[i].problems.n + r.file[i].faults.n; k++)
				buf_printf(&b, "(%s) ", path_last(r.file[i].path));
		buf_printf(&b, "%zu", r.problems.n);
	} else
		b.failed = true;
	cdi_registry_free(&r);
	return buf_take(&b);
}

static void
check(const char *a, const char *b, const char *want)
{
	char *got;

	snprintf(dirs, sizeof(dirs), "%s/%s%s%s%s%s", base, a, b != NULL ? ":" : "", b != NULL ? base : "", b != NULL ? "/" : "",
	    b != NULL ? b : "");
	got = load();
	is_str(got, want, "%s, %s", a, b != NULL ? b : "alone");
	free(got);
}

static void
test_find(void)
{
	struct cdi_registry r;
	struct why why;

	snprintf(dirs, sizeof(dirs), "%s/override/etc::%s/override/run:", base, base);
	if (!ok(cdi_registry_load(dirs, false, specs_parse, &r, &why) == 0,
	    "empty names in the list of directories are ignored"))
		return;
	ok(cdi_registry_find(&r, "vendor1.com/device=dev1") != NULL && cdi_registry_find(&r, "vendor1.com/device=dev2") != NULL,
	    "devices are found by their full names");
	ok(cdi_registry_find(&r, "dev1") == NULL && cdi_registry_find(&r, "") == NULL &&
	    cdi_registry_find(&r, "vendor1.com/device=dev3") == NULL &&
	    cdi_registry_find(&r, "z") == NULL,
	    "no other name finds a device");
	is_str(cdi_registry_find(&r, "vendor1.com/device=dev1")->file->spec.edits.env.v[0],
	    "SRC=run",
	    "the spec in the later directory is used");
	cdi_registry_free(&r);
}

/*
 * A file that cannot be read may have the device that counts. So either all files are read, or the
 * read fails.
 */
static void
test_few_descriptors(void)
{
	struct rlimit before, now;
	char *want, *got;
	rlim_t n;
	bool whole = false;

	snprintf(dirs, sizeof(dirs), "%s/override/etc:%s/override/run", base, base);
	want = load();
	getrlimit(RLIMIT_NOFILE, &before);
	for (n = 1; n < 64 && !whole; n++) {
		now = (struct rlimit){ n, before.rlim_max };
		setrlimit(RLIMIT_NOFILE, &now);
		got = load();
		setrlimit(RLIMIT_NOFILE, &before);
		whole = got != NULL && strcmp(got, want) == 0;
		if (got != NULL && !whole)
			is_str(got, want, "with at most %d descriptors", (int)n);
		free(got);
	}
	ok(whole && n > 4, "with few descriptors, either all specs are read or none");
	free(want);
}

int
main(int argc, char **argv)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/fixtures/cdi/dirs", tests_dir(argc, argv));
	if (!ok(realpath(path, base) != NULL, "%s exists", path))
		return done_testing();
	check("override/etc", "override/run", "dev1=vendor1.yaml dev2=vendor1.yaml 0");
	check("conflict/run", NULL, "dev1=b.yaml! dev2=a.yaml (a.yaml) (b.yaml) 0");
	check("conflict-below/etc", "conflict-below/run", "dev1=c.yaml! (a.yaml) (b.yaml) 0");
	check("conflict-below/run", "conflict-below/etc", "dev1=b.yaml! (a.yaml) (b.yaml) 0");
	check("one-bad/etc", NULL, "dev1=good.yaml (bad.yaml) 0");
	check("ext/etc", "nowhere", "dev5=.hidden.yaml dev6=e.yaml 0");
	check("ext/etc/e.yaml", NULL, "1");
	check("../dirs", NULL, "1");
	test_find();
	test_few_descriptors();
#if !defined(__SANITIZE_ADDRESS__)
	snprintf(dirs, sizeof(dirs), "%s/conflict/run:%s/override/run:%s/one-bad/etc", base, base, base);
	starve("three directories are read", load);
#else
	skip("when memory runs out", "the sanitizer has its own allocator");
#endif
	return done_testing();
}
