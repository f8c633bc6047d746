/*
 * judge/requested.c: valid values of GPUHELPER_GPUS and GPUHELPER_FOLDERS, and a workload manager's
 * allocation.
 */
#include "base/cleanup.h"
#include "judge/requested.h"
#include "nomem.h"
#include "tap.h"

/* An ask in one line: "2 amd:1 id=X | /srv/a=ro". */
static char *
describe(const struct requested *a)
{
	static const char *const access[] = { "any", "ro", "rw" };
	struct buf b = { 0 };
	size_t i;

	if (a->everything)
		buf_puts(&b, "everything ");
	if (a->all_gpus)
		buf_puts(&b, "all ");
	for (i = 0; i < a->counts; i++)
		buf_printf(&b, "%s%s%u ", a->count[i].has_vendor ? gpu_vendor_name(a->count[i].vendor) : "",
		    a->count[i].has_vendor ? ":" : "", a->count[i].n);
	for (i = 0; i < a->gpu_ids.n; i++)
		buf_printf(&b, "id=%s ", a->gpu_ids.v[i]);
	buf_puts(&b, "|");
	if (a->all_folders)
		buf_puts(&b, " all");
	for (i = 0; i < a->folders; i++)
		buf_printf(&b, " %s=%s", a->folder[i].path, access[a->folder[i].access]);
	return buf_take(&b);
}

static void
test_ask(void)
{
	static const struct {
		const char *gpus, *folders, *says;
		bool gpus_wanted;
	} t[] = {
		{ NULL, NULL, "everything |", true },
		{ "none", NULL, "|", false },
		{ NULL, "none", "|", false },
		{ "none", "none", "|", false },
		{ "1", NULL, "1 |", true },
		{ "64", NULL, "64 |", true },
		{ "2,amd:1,intel:3", NULL, "2 amd:1 intel:3 |", true },
		{ "all", NULL, "all |", true },
		{ "all,all", NULL, "all |", true },
		{ "all", "all", "all | all", true },
		{ "GPU-11111111-2222-3333-4444-555555555555,0000:3b:00.0,3B:00.1,0xabc,nvidia:2", NULL,
		    "nvidia:2 id=GPU-11111111-2222-3333-4444-555555555555 id=0000:3b:00.0 id=3B:00.1 id=0xabc |",
		    true },
		{ NULL, "/srv/a", "| /srv/a=any", false },
		{ NULL, "/srv/a:ro,/srv/b:rw,/srv/c", "| /srv/a=ro /srv/b=rw /srv/c=any", false },
		{ NULL, "/srv/a:b:ro", "| /srv/a:b=ro", false },
		{ NULL, "/srv/a:x", "| /srv/a:x=any", false },
		{ NULL, "/srv/a:ro:rw", "| /srv/a:ro=rw", false },
		{ NULL, "all", "| all", false },
		{ "amd:1,amd:1,amd:1,amd:1,amd:1,amd:1,amd:1", NULL, "amd:1 amd:1 amd:1 amd:1 amd:1 amd:1 amd:1 |", true },
		{ "#0", NULL, "id=#0 |", true },
		{ "#0,#12,#1:0:0,#2:7", NULL, "id=#0 id=#12 id=#1:0:0 id=#2:7 |", true },
	};
	struct why why;
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		autorequested struct requested a = { 0 };
		autofree char *says = NULL;

		why = (struct why){ 0 };
		is_int(requested_parse(t[i].gpus, t[i].folders, &a, &why), 0,
		    "the request is accepted: %s and %s: %s", t[i].gpus ? t[i].gpus :
		    "-",
		    t[i].folders ? t[i].folders : "-", why.text);
		is_str(says = describe(&a), t[i].says, "  the request is read correctly");
		ok(requested_wants_gpus(&a) == t[i].gpus_wanted,
		    "  the request %s GPUs", t[i].gpus_wanted ? "asks for" : "does not ask for");
	}
}

/* A workload manager's allocation. */
static void
test_bound(void)
{
	static const struct {
		enum gpu_vendor vendor;
		const char *text;
		int ret;
		size_t n;
		const char *last;
	} t[] = {
		{ GPU_NVIDIA, "", 0, 0, NULL }, { GPU_NVIDIA, "-1", 0, 0, NULL }, { GPU_AMD, "NoDevFiles", 0, 0, NULL },
		{ GPU_NVIDIA, "0", 0, 1, "0" }, { GPU_NVIDIA, "3,1", 0, 2, "1" },
		{ GPU_NVIDIA, "0,GPU-11111111-2222-3333-4444-555555555555", 0, 2, "GPU-11111111-2222-3333-4444-555555555555" },
		{ GPU_NVIDIA, "MIG-11111111-2222-3333-4444-555555555555", 0, 1, "MIG-11111111-2222-3333-4444-555555555555" },
		{ GPU_AMD, "GPU-1111222233334444", 0, 1, "0x1111222233334444" },
		{ GPU_AMD, "GPU-111122223333444", -1, 0, NULL }, { GPU_AMD, "GPU-11112222333344445", -1, 0, NULL },
		{ GPU_NVIDIA, "GPU-1111222233334444", -1, 0, NULL }, { GPU_AMD, "GPU-11111111-2222-3333-4444-555555555555", -1, 0,
		    NULL },
		{ GPU_NVIDIA, ",", -1, 0, NULL }, { GPU_NVIDIA, "0,", -1, 0, NULL }, { GPU_NVIDIA, "all", -1, 0, NULL },
		{ GPU_NVIDIA, "00", -1, 0, NULL }, { GPU_NVIDIA, "4096", -1, 0, NULL }, { GPU_NVIDIA, "0000:3b:00.0", -1, 0, NULL },
	};
	struct why why;
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		autorequested struct requested a = { 0 };
		const struct gpu_bound *b = &a.bound[t[i].vendor];

		is_int(gpu_bound_parse(t[i].vendor, t[i].text, &a.bound[t[i].vendor], &why),
		    t[i].ret,
		    "an allocation is read: \"%s\"", t[i].text);
		ok(b->set && (t[i].ret == -1 || b->names.n == t[i].n),
		    "  the allocation is set and names the expected number of GPUs");
		if (t[i].last != NULL && b->names.n > 0)
			is_str(b->names.v[b->names.n - 1], t[i].last,
			    "  the last GPU's name is the expected one");
	}
	for (i = 0; i < GPU_VENDORS; i++) {
		autorequested struct requested a = { 0 };

		ok(gpu_bound_parse((enum gpu_vendor)i, NULL, &a.bound[i], &why) == 0 &&
		    !a.bound[i].set,
		    "a missing variable sets no allocation");
	}
}

#define GPUS_WHY " is not a count (1 to 64), VENDOR:COUNT, \"all\", \"none\", UUID, PCI address, rank (\"#0\") or CDI device"

#define BARE "a bare number is a count; name GPUs by UUID, PCI address, or rank as #0,#2"

static void
test_ask_refused(void)
{
	static const struct {
		const char *gpus, *folders, *why;
	} t[] = {
		{ "", NULL, "GPUHELPER_GPUS is empty or has an empty entry: give \"none\" for none" },
		{ ",", NULL, "GPUHELPER_GPUS is empty or has an empty entry: give \"none\" for none" },
		{ "1,", NULL, "GPUHELPER_GPUS is empty or has an empty entry: give \"none\" for none" },
		{ ",1", NULL, "GPUHELPER_GPUS is empty or has an empty entry: give \"none\" for none" },
		{ "1,,2", NULL, "GPUHELPER_GPUS is empty or has an empty entry: give \"none\" for none" },
		{ "0", NULL, "GPUHELPER_GPUS: \"0\"" GPUS_WHY },
		{ "65", NULL, "GPUHELPER_GPUS: \"65\"" GPUS_WHY },
		{ "01", NULL, "GPUHELPER_GPUS: \"01\"" GPUS_WHY },
		{ "-1", NULL, "GPUHELPER_GPUS: \"-1\"" GPUS_WHY },
		{ "1 ", NULL, "GPUHELPER_GPUS: \"1 \"" GPUS_WHY },
		{ " all", NULL, "GPUHELPER_GPUS: \" all\"" GPUS_WHY },
		{ "ALL", NULL, "GPUHELPER_GPUS: \"ALL\"" GPUS_WHY },
		{ "1,none", NULL, "GPUHELPER_GPUS: \"none\"" GPUS_WHY },
		{ "4294967297", NULL, "GPUHELPER_GPUS: \"4294967297\"" GPUS_WHY },
		{ "amd", NULL, "GPUHELPER_GPUS: \"amd\"" GPUS_WHY },
		{ "amd:", NULL, "GPUHELPER_GPUS: \"amd:\"" GPUS_WHY },
		{ "amd:0", NULL, "GPUHELPER_GPUS: \"amd:0\"" GPUS_WHY },
		{ "AMD:1", NULL, "GPUHELPER_GPUS: \"AMD:1\"" GPUS_WHY },
		{ "amd:all", NULL, "GPUHELPER_GPUS: \"amd:all\"" GPUS_WHY },
		{ "nvidia:GPU-1", NULL, "GPUHELPER_GPUS: \"nvidia:GPU-1\"" GPUS_WHY },
		{ "averyveryverylongvendor:1", NULL, "GPUHELPER_GPUS: \"averyveryverylongvendor:1\"" GPUS_WHY },
		{ "sixteen-letters-:1", NULL, "GPUHELPER_GPUS: \"sixteen-letters-:1\"" GPUS_WHY },
		{ ":1", NULL, "GPUHELPER_GPUS: \":1\"" GPUS_WHY },
		{ "gpu-1", NULL, "GPUHELPER_GPUS: \"gpu-1\"" GPUS_WHY },
		{ "0000:3b:00.8", NULL, "GPUHELPER_GPUS: \"0000:3b:00.8\"" GPUS_WHY },
		{ "1,all", NULL, "GPUHELPER_GPUS: \"all\" must stand alone" },
		{ "all,GPU-1", NULL, "GPUHELPER_GPUS: \"all\" must stand alone" },
		{ "GPU-1,GPU-1", NULL, "GPUHELPER_GPUS names \"GPU-1\" twice" },
		{ "amd:1,amd:1,amd:1,amd:1,amd:1,amd:1,amd:1,amd:1", NULL, "GPUHELPER_GPUS has too many counts" },
		{ "1,2", NULL, "GPUHELPER_GPUS=1,2: " BARE },
		{ "1,1", NULL, "GPUHELPER_GPUS=1,1: " BARE },
		{ "2,amd:1,3", NULL, "GPUHELPER_GPUS=2,amd:1,3: " BARE },
		{ "#", NULL, "GPUHELPER_GPUS: \"#\"" GPUS_WHY },
		{ "#-1", NULL, "GPUHELPER_GPUS: \"#-1\"" GPUS_WHY },
		{ "#00", NULL, "GPUHELPER_GPUS: \"#00\"" GPUS_WHY },
		{ "##0", NULL, "GPUHELPER_GPUS: \"##0\"" GPUS_WHY },
		{ "#4096", NULL, "GPUHELPER_GPUS: \"#4096\"" GPUS_WHY },
		{ "amd:#0", NULL, "GPUHELPER_GPUS: \"amd:#0\"" GPUS_WHY },
		{ NULL, "", "GPUHELPER_FOLDERS is empty or has an empty entry: give \"none\" for none" },
		{ NULL, "/srv/a,", "GPUHELPER_FOLDERS is empty or has an empty entry: give \"none\" for none" },
		{ NULL, "srv", "GPUHELPER_FOLDERS: path \"srv\" is not absolute" },
		{ NULL, "none,/srv/a", "GPUHELPER_FOLDERS: path \"none\" is not absolute" },
		{ NULL, ":ro", "GPUHELPER_FOLDERS: path \"\" is not absolute" },
		{ NULL, "/srv/../etc", "GPUHELPER_FOLDERS: path \"/srv/../etc\" has a \".\" or \"..\" in it" },
		{ NULL, "/srv/", "GPUHELPER_FOLDERS: path \"/srv/\" has an empty component or ends with \"/\"" },
		{ NULL, "/srv//a:rw", "GPUHELPER_FOLDERS: path \"/srv//a\" has an empty component or ends with \"/\"" },
		{ NULL, "/srv/*", "GPUHELPER_FOLDERS: * and ? are not allowed here" },
		{ NULL, "/srv/a?:ro", "GPUHELPER_FOLDERS: * and ? are not allowed here" },
		{ NULL, "/srv/a\n", "GPUHELPER_FOLDERS: path \"/srv/a?\" has a control byte in it" },
		{ NULL, "all,/srv/a", "GPUHELPER_FOLDERS: \"all\" must stand alone" },
		{ NULL, "/srv/a,all", "GPUHELPER_FOLDERS: \"all\" must stand alone" },
		{ "x", "/srv/a", "GPUHELPER_GPUS: \"x\"" GPUS_WHY },
	};
	struct why why;
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		autorequested struct requested a = { 0 };

		why = (struct why){ 0 };
		is_int(requested_parse(t[i].gpus, t[i].folders, &a, &why), -1,
		    "the request is refused: %s and %s", t[i].gpus ? t[i].gpus :
		    "-",
		    t[i].folders ? t[i].folders : "-");
		is_str(why.text, t[i].why, "  the message says why");
	}
}

static void
test_ask_many(void)
{
	autobuf struct buf b = { 0 };
	struct why why;
	struct requested a;
	int i;

	for (i = 0; i < 1024; i++)
		buf_printf(&b, "%s/srv/%d", i ? "," : "", i);
	ok(requested_parse(NULL, b.p, &a, &why) == 0 && a.folders == 1024, "1024 folders are accepted");
	requested_free(&a);
	buf_puts(&b, ",/srv/x");
	ok(requested_parse(NULL, b.p, &a, &why) == -1 && strcmp(why.text, "GPUHELPER_FOLDERS has more than 1024 entries") == 0,
	    "one folder more is refused");
	requested_free(&a);
}

#if !defined(__SANITIZE_ADDRESS__)
/* What happens when memory runs out. */

/* The parsed ask as text, or NULL. */
static char *
parse_ask(void)
{
	struct requested a;
	struct why why;
	long keep;
	char *out = NULL;

	if (requested_parse("2,amd:1,0000:3b:00.0,GPU-1", "/srv/a:ro,/srv/b,/srv/c:rw", &a, &why) == 0) {
		keep = fail_at;
		fail_at = -1;
		out = describe(&a);
		fail_at = keep;
	}
	requested_free(&a);
	return out;
}

static void
test_memory(void)
{
	starve("an ask is read", parse_ask);
}
#else
static void
test_memory(void)
{
	skip("when memory runs out", "a sanitizer has its own allocator");
}
#endif

int
main(void)
{
	test_ask();
	test_bound();
	test_ask_refused();
	test_ask_many();
	test_memory();
	return done_testing();
}
