/* user/spec/cudavisible.c: which values of CUDA_VISIBLE_DEVICES name a GPU that the container does not have. */
#include "lease/editsdriver.h"
#include "user/spec/cudavisible.h"
#include "tap.h"

#define ONE "nvidia 0000:3b:00.0 GPU-edfee158-11c1"
#define TWO "nvidia 0000:af:00.0 GPU-0d5b2d8e-8f0d"
#define PART "nvidia 0000:3b:00.0 GPU-edfee158-11c1 part 3"
#define AMD "amd 0000:03:00.0 GPU-77"
#define V "CUDA_VISIBLE_DEVICES="

static const struct {
	const char *env, *gpus;		/* words */
	const char *absent;		/* the name in the warning; NULL: none */
} t[] = {
	{ "A=1", ONE, NULL }, { V "0", ONE, NULL }, { V "1", ONE, "1" }, { V "1", ONE ";" TWO, NULL }, { V "2", ONE ";" TWO, "2" },
	{ V "0,1", ONE, "1" }, { V "1,0", ONE, "1" }, { V "0,1", ONE ";" TWO, NULL }, { V "00", ONE, NULL },
	{ V "99999999999999999999", ONE, "99999999999999999999" },
	{ V, ONE, NULL }, { V "-1", ONE, NULL }, { V "NoDevFiles", ONE, NULL }, { V "none", ONE, NULL }, { V "0,", ONE, NULL },
	{ V "0,-1,7", ONE, NULL }, { V "x,7", ONE, NULL }, { V " 7", ONE, NULL }, { "CUDA_VISIBLE_DEVICES", ONE, NULL },
	{ V "GPU-edfee158-11c1", ONE, NULL }, { V "GPU-edf", ONE, NULL }, { V "GPU-edfee158-11c1-2", ONE, "GPU-edfee158-11c1-2" },
	{ V "GPU-0d5b", ONE, "GPU-0d5b" }, { V "GPU-0d5b,0", ONE ";" TWO, NULL }, { V "GPU-77", AMD, NULL },
	{ V "MIG-1", ONE, "MIG-1" }, { V "MIG-1", PART, NULL }, { V "1", PART, "1" },
	{ V "1;" V "0", ONE, NULL }, { V "0;" V "1", ONE, "1" },
	{ V "7", AMD, NULL }, { V "1", ONE ";" AMD, "1" }, { V "1", "", NULL }, { V "1", "nvidia 0000:3b:00.0", "1" },
};

static void
split(struct strlist *l, const char *words)
{
	char copy[256], *word, *save = NULL;

	snprintf(copy, sizeof(copy), "%s", words);
	for (word = strtok_r(copy, ";", &save); word != NULL; word = strtok_r(NULL, ";", &save))
		strlist_add(l, word, SIZE_MAX);
}

static bool
warns(const char *env_words, const char *set_words, const char *gpu_fields, char out[NOTE_MAX])
{
	autostrlist struct strlist env = { 0 }, set = { 0 }, gpus = { 0 };

	out[0] = '\0';
	split(&env, env_words);
	split(&set, set_words);
	split(&gpus, gpu_fields);
	return cuda_visible_warns(&env, &set, &gpus, out);
}

int
main(void)
{
	char note[NOTE_MAX], start[160], words[NOTE_MAX + 100];
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		is_int(warns(t[i].env, "B=2", t[i].gpus, note), t[i].absent != NULL, "%s with %s", t[i].env, t[i].gpus);
		snprintf(start, sizeof(start), " names %s, which", t[i].absent != NULL ? t[i].absent : "");
		ok(t[i].absent == NULL || strstr(note, start) != NULL, "  %s", note);
	}
	ok(!warns(V "1", V "0", ONE, note), "the grant sets the variable itself");
	ok(warns(V "1", "", ONE, note), "it is warned of");
	is_str(note, V "1 names 1, which this container does not have, so CUDA will not use it: the container has 1 GPU, numbered "
	    "from 0: remove the variable", "  the whole text");
	ok(warns(V "GPU-\x1b[2J\n", "", ONE, note) && strchr(note, '\n') == NULL && strchr(note, '\x1b') == NULL,
	    "the text is one printable line");
	memset(words, '7', sizeof(words));
	memcpy(words, V, sizeof(V) - 1);
	words[sizeof(words) - 1] = '\0';
	ok(warns(words, "", ONE, note) && strstr(note, "remove the variable") != NULL, "a long value is cut: %s", note);
	return done_testing();
}
