/* See cudavisible.h. Reads text only. */
#include "cudavisible.h"

#include <stdio.h>
#include <string.h>

#include "../../lease/editsdriver.h"

static const char name[] = "CUDA_VISIBLE_DEVICES=";

static const char *
last_value(const struct strlist *env)
{
	size_t i;

	for (i = env->n; i > 0; i--)
		if (text_starts(env->v[i - 1], name))
			return env->v[i - 1] + sizeof(name) - 1;
	return NULL;
}

/* The granted NVIDIA GPUs. */
struct granted {
	const struct strlist *names;	/* "nvidia PCI UUID", perhaps with " part PART" */
	size_t n;
	bool parts;
};

static struct granted
count_granted(const struct strlist *gpus)
{
	struct granted g = { .names = gpus };
	size_t i;

	for (i = 0; i < gpus->n; i++)
		if (text_starts(gpus->v[i], "nvidia ")) {
			g.n++;
			g.parts = g.parts || strstr(gpus->v[i], " part ") != NULL;
		}
	return g;
}

/* CUDA accepts the beginning of a UUID. */
static bool
has_uuid(const struct granted *g, const char *start, size_t len)
{
	const char *uuid;
	size_t i;

	for (i = 0; i < g->names->n; i++)
		if ((uuid = strstr(g->names->v[i], " GPU-")) != NULL && strncmp(uuid + 1, start, len) == 0)
			return true;
	return false;
}

enum item { PRESENT, ABSENT, OTHER };	/* OTHER: CUDA reads no further */

static enum item
look_at_item(const struct granted *g, const char *item, size_t len)
{
	unsigned long number = 0;
	size_t i;

	if (len >= 4 && strncmp(item, "GPU-", 4) == 0)
		return has_uuid(g, item, len) ? PRESENT : ABSENT;
	/* the UUIDs of parts are not known here */
	if (len >= 4 && strncmp(item, "MIG-", 4) == 0)
		return g->parts ? PRESENT : ABSENT;
	for (i = 0; i < len && item[i] >= '0' && item[i] <= '9'; i++)
		number = number < 1000000 ? number * 10 + (unsigned long)(item[i] - '0') : number;
	if (len == 0 || i < len)
		return OTHER;
	return number < g->n ? PRESENT : ABSENT;
}

bool
cuda_visible_warns(const struct strlist *env, const struct strlist *set, const struct strlist *gpus,
    char out[NOTE_MAX])
{
	const struct granted g = count_granted(gpus);
	const char *value = last_value(env), *item;
	enum item found = PRESENT;
	char shown[120], start[80], absent[sizeof(start)];
	size_t len = 0;

	if (value == NULL || g.n == 0 || last_value(set) != NULL)
		return false;
	for (item = value; found == PRESENT; item += len + 1) {
		len = strcspn(item, ",");
		if ((found = look_at_item(&g, item, len)) == ABSENT || item[len] == '\0')
			break;
	}
	if (found != ABSENT)
		return false;
	text_printable(shown, sizeof(shown), value);
	snprintf(start, sizeof(start), "%.*s", (int)(len < sizeof(start) ? len : sizeof(start) - 1), item);
	text_printable(absent, sizeof(absent), start);
	snprintf(out, NOTE_MAX, "%s%s names %s, which this container does not have, so CUDA will not use it: the container "
	    "has %zu GPU%s, numbered from 0: remove the variable", name, shown, absent, g.n, g.n == 1 ? "" : "s");
	return true;
}
