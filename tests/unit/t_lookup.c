/* lease/lookup.c: whether a path leads through a folder that another container may write. */
#include <stdlib.h>
#include <string.h>

#include "lease/lookup.h"
#include "tap.h"

static struct lookup
lookup_of(const char *path, const char *const *at)
{
	struct lookup w = { .path = strdup(path), .writable = true };

	for (; *at != NULL; at++)
		(void)strlist_add(&w.at, *at, SIZE_MAX);
	return w;
}

static void
test_passes(void)
{
	static const struct {
		const char *path, *at[4], *through, *fs_path;
		bool passes;
		const char *what;
	} t[] = {
		{ "/srv/a/b", { "8:1 /srv/a/b", "8:1 /srv/a" }, "/srv/a", "8:1 /srv/a", true,
		    "a folder in it" },
		{ "/srv/a/b/c", { "8:1 /srv/a/b/c", "8:1 /srv/a/b" }, "/srv/a", "8:1 /srv/a", true,
		    "a folder deep in it" },
		{ "/srv/a", { "8:1 /srv/a", "8:1 /srv" }, "/srv/a", "8:1 /srv/a", false, "the folder itself" },
		{ "/srv", { "8:1 /srv", "8:1 /" }, "/srv/a", "8:1 /srv/a", false,
		    "a folder above it" },
		{ "/srv/ab", { "8:1 /srv/ab", "8:1 /srv" }, "/srv/a", "8:1 /srv/a", false,
		    "a folder whose name only begins like its name" },
		{ "/data/b", { "8:1 /srv/a/b", "8:1 /srv/a" }, "/srv/a", "8:1 /srv/a", true,
		    "a folder through a bind mount above it" },
		{ "/data", { "8:1 /srv/a/b", "8:1 /" }, "/srv/a", "8:1 /srv/a", false,
		    "a bind mount of a folder in it, which cannot be moved there" },
		{ "/srv/a/b/c", { "8:2 /c", "8:2 /", "8:1 /srv/a" }, "/data", "8:1 /srv/a", true,
		    "a folder on a mount inside it, by another path" },
		{ "/srv/a/b/c", { "8:2 /c", "8:2 /", "8:1 /srv/a" }, "/data", "8:3 /srv/a", false,
		    "a folder on another file system" },
		{ "/srv/a/b", { "8:11 /srv/a/b", "8:11 /srv/a" }, "/data", "8:1 /srv/a", false,
		    "a file system whose number only begins like its number" },
		{ "/x/b", { "0:5 /b", "0:5 /" }, "/", "0:5 /", true, "a whole file system" },
	};
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		const char *const fs_path[] = { t[i].fs_path, NULL };
		struct lookup w = lookup_of(t[i].path, t[i].at), through = lookup_of(t[i].through, fs_path);

		ok(lookup_passes(&w, &through) == t[i].passes,
		    "whether the way leads through: %s: %s and %s", t[i].what, t[i].path,
		    t[i].through);
		lookup_free(&w);
		lookup_free(&through);
	}
}

static void
test_same(void)
{
	static const char *const at[] = { "8:1 /srv/a", "8:1 /srv", NULL }, *const moved[] = { "8:1 /srv/a", "8:1 /", NULL };
	static const char *const shorter[] = { "8:1 /srv/a", NULL };
	struct lookup w = lookup_of("/srv/a", at), others[] = { lookup_of("/srv/a", at), lookup_of("/srv/b", at), lookup_of("/srv/a", moved),
		lookup_of("/srv/a", shorter), lookup_of("/srv/a", at) };
	size_t i;

	others[4].writable = false;
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		ok(lookup_same(&w, &others[i]) == (i == 0) && lookup_same(&others[i], &w) == (i == 0),
		    "whether two ways are the same: %zu", i);
		lookup_free(&others[i]);
	}
	lookup_free(&w);
}

static char *
written(struct lookup *w)
{
	struct buf b = { 0 };
	struct lines s = { .out = &b };

	lines_begin(&s, "way");
	lookup_fields(&s, w);
	return buf_take(&b);
}

static bool
is_read(const char *text, struct lookup *w)
{
	struct lines s = { .at = text, .end = text + strlen(text) };

	*w = (struct lookup){ 0 };
	lines_begin(&s, "way");
	lookup_fields(&s, w);
	return !s.failed && s.at == s.end;
}

static void
test_text(void)
{
	static const char *const at[] = { "8:1 /srv/x y", "8:1 /srv", NULL }, *const odd[] = { "8:1 /caf\xe9", NULL };
	static const char *const bad[] = { "way", "way /srv", "way /srv yes", "way srv yes 8:1%20/", "way /srv 1 8:1%20/",
		"way /srv yes 8:1", "way /srv yes 8:1%20/ -", "way - yes 8:1%20/", "way /srv 8:1%20/", "way yes 8:1%20/" };
	struct lookup w = lookup_of("/srv/x y", at), back;
	char *text = written(&w);
	size_t i;

	is_str(text, "way /srv/x%20y yes 8:1%20/srv/x%20y 8:1%20/srv", "a way is written");
	ok(is_read(text, &back) && lookup_same(&w, &back), "the way is read back");
	free(text);
	lookup_free(&w);
	lookup_free(&back);
	w = lookup_of("/srv", odd);
	text = written(&w);
	ok(is_read(text, &back) && lookup_same(&w, &back), "a way that is not UTF-8 is read back");
	free(text);
	lookup_free(&w);
	lookup_free(&back);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ok(!is_read(bad[i], &back), "«%s» is refused", bad[i]);
		lookup_free(&back);
	}
}

/* Two places are different even if they differ only far from their beginning. */
static void
test_long(void)
{
	char one[400], other[400];
	const char *const at[] = { one, NULL }, *const late_scan[] = { other, NULL };
	struct lookup w, o, back = { 0 };
	char *text;

	snprintf(one, sizeof(one), "8:1 /srv/%0300d/a", 7);
	snprintf(other, sizeof(other), "8:1 /srv/%0300d/b", 7);
	w = lookup_of("/srv/x", at);
	o = lookup_of("/srv/x", late_scan);
	text = written(&w);
	ok(is_read(text, &back) && lookup_same(&w, &back), "a place of 300 bytes is read back");
	ok(!lookup_same(&back, &o), "  a place that differs at its end is another one");
	free(text);
	lookup_free(&w);
	lookup_free(&o);
	lookup_free(&back);
}

int
main(void)
{
	test_passes();
	test_same();
	test_text();
	test_long();
	return done_testing();
}
