/*
 * libFuzzer entry for helper/user/: spec.c, compose.c, specprocess.c and sources.c.  The first byte says whether
 * something is granted, and whether the container may keep its devices.
 *
 * The result is a valid spec, and a second run does not change it.  With its device rules no runtime, in whichever
 * way it reads them, lets a container open a GPU that it was not granted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../helper/user/compose/compose.h"
#include "../../helper/user/privilege/privilege.h"
#include "../../helper/user/mount/sources.h"
#include "../../helper/user/spec/specrequest.h"
#include "../unit/devmodel.h"
#include "fuzz.h"

static struct devmajor known[] = {
	{ 1, 'c', "mem" }, { 5, 'c', "/dev/tty" }, { 10, 'c', "misc" }, { 195, 'c', "nvidia" }, { 226, 'c', "drm" },
	{ 510, 'c', "nvidia-uvm" }, { 8, 'b', "sd" },
};
static const struct devmajors host = { .v = known, .n = sizeof(known) / sizeof(known[0]) };
static const uint32_t gpu_majors[] = { 195, 226, 261, 510 };

/* Which GPU nodes can be opened?  Only 195:0, if it is granted. */
static void
check_rules(const struct spec *s, bool granted)
{
	static struct set set;
	static const uint32_t minors[] = { 0, 1, 128, 255 };
	enum model m;
	unsigned a;
	size_t i, k;

	if (s->rule_count > MODEL_RULES)
		return;
	for (m = 0; m < MODELS; m++) {
		read_rules(&set, m, s->rule, s->rule_count);
		for (i = 0; i < sizeof(gpu_majors) / sizeof(gpu_majors[0]); i++)
			for (k = 0; k < sizeof(minors) / sizeof(minors[0]); k++)
				for (a = 1; a < 4; a++)
					must(lets(&set, 'c', gpu_majors[i], minors[k], a) ==
					    (granted && gpu_majors[i] == 195 && minors[k] == 0));
	}
}

static void
check_env(const struct spec *s, bool granted)
{
	size_t i, n = 0, x = 0;

	for (i = 0; i < s->env_text.n; i++) {
		n += strncmp(s->env_text.v[i], "NVIDIA_VISIBLE_DEVICES", 22) == 0 && strchr("=",
		    s->env_text.v[i][22]) != NULL;
		x += strncmp(s->env_text.v[i], "X=", 2) == 0;
		must(env_value(s->env_text.v[i], "GPUHELPER_TOKEN") == NULL);
		must(env_value(s->env_text.v[i], "AMD_VISIBLE_DEVICES") == NULL);
	}
	must(n == 1);
	must(!granted || x == 1);
}

static void
check_result(const struct spec *s, const char *text, size_t len, const struct edits *grant, bool hide)
{
	struct spec t;
	struct why why;
	size_t len2, i;
	char *again;

	must(spec_parse(&t, text, len, &why) == 0);
	check_env(&t, grant != NULL);
	must(t.mount_count <= s->mount_count + (grant != NULL ? grant->mounts : 0));
	if (hide) {
		check_rules(&t, grant != NULL);
		for (i = 0; i < t.device_count; i++)
			must(t.device[i].type == 'b' || t.device[i].type == 'p' || (t.device[i].major != 226 &&
			    (t.device[i].major != 195 || grant != NULL)));
	}
	must((again = compose(&t, &host, grant, hide, &len2, &why)) != NULL);
	/* an entry that may stay and is granted as well is there twice */
	must((!hide && grant != NULL) || (len2 == len && memcmp(again, text, len) == 0));
	free(again);
	spec_free(&t);
}

static void
make_grant(struct edits *g)
{
	static const struct edit_node node = { "/dev/nvidia0", 195, 0, 0666, 0, 0 };

	if (!edits_add_node(g, &node) || !strlist_add(&g->env, "X=1", SIZE_MAX) || !strlist_add(&g->masked, "/proc/x",
	    SIZE_MAX))
		abort();
	g->gid[g->gids++] = 44;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct request r = { 0 };
	struct edits grant = { 0 };
	struct why why = { 0 };
	struct spec s;
	char what[PRIVILEGE_MAX];
	bool asks, granted, hide;
	size_t len;
	char *text;

	if (size == 0)
		return 0;
	granted = data[0] & 1;
	hide = !(data[0] & 2);
	if (granted)
		make_grant(&grant);
	if (spec_parse(&s, (const char *)data + 1, size - 1, &why) == 0) {
		if (spec_request(&s, NULL, &r, &asks, &why) == 0)
			must(r.spec.cgroups_path != NULL && r.spec.gid_count <= REQUEST_GIDS_MAX && r.spec.uids.n <= IDMAP_MAX &&
			    (privilege_find(&s, &r, !granted, false, what, &why) == -1 || r.spec.privileged == (what[0] != '\0')));
		(void)sources_check(&s, &why);
		must((text = compose(&s, &host, granted ? &grant : NULL, hide, &len, &why)) != NULL);
		check_result(&s, text, len, granted ? &grant : NULL, hide);
		free(text);
	} else
		must(why.code == WHY_DATA && why.text[0] != '\0' && text_is_utf8(why.text, strlen(why.text)));
	request_free(&r);
	spec_free(&s);
	edits_free(&grant);
	return 0;
}
