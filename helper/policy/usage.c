/* See usage.h. */
#include "usage.h"

#include <stdlib.h>
#include <string.h>

void
usage_free(struct usage *u)
{
	size_t i;

	for (i = 0; i < u->n; i++)
		free(u->v[i].team);
	free(u->v);
	strlist_free(&u->shares);
	*u = (struct usage){ .n = 0 };
}

static void
team_fields(struct lines *s, void *member)
{
	struct team_usage *t = member;

	field_copy(s, &t->team);
	field_u64(s, &t->used);
	field_i64(s, &t->at);
}

bool
usage_lines(struct lines *s, struct usage *u)
{
	uint32_t version = 1;

	lines_begin(s, "usage");
	field_u32(s, &version);
	s->failed = s->failed || version != 1;
	lines_begin(s, "shares");
	fields_list(s, &u->shares);
	lines_members(s, "team", (void **)&u->v, &u->n, USAGE_TEAMS_MAX, sizeof(*u->v), team_fields);
	return lines_finish(s);
}

size_t
usage_team(const char *pipeline)
{
	const char *slash = strchr(pipeline, '/');

	return slash != NULL ? (size_t)(slash - pipeline) : 0;
}

bool
usage_is_share(const char *text)
{
	const char *is = strrchr(text, '=');
	uint32_t parts;

	return is != NULL && is > text && text_u32(is + 1, 1, TEAM_SHARE_MAX, &parts);
}

/* What is left after so many seconds. Between two halvings it falls in a straight line. */
static uint64_t
decay(uint64_t used, int64_t seconds)
{
	/* the clock may have been set back */
	if (seconds <= 0)
		return used;
	if (seconds / USAGE_HALF >= 63)
		return 0;
	used >>= seconds / USAGE_HALF;
	return used - used / (2 * USAGE_HALF) * (uint64_t)(seconds % USAGE_HALF);
}

uint64_t
usage_of(unsigned gpus, int64_t from, int64_t now)
{
	const int64_t seconds = now > from ? now - from : 0;

	/* as if it had been used at the middle of the time */
	return decay((uint64_t)seconds * gpus * 1000, seconds / 2);
}

static struct team_usage *
find(const struct usage *u, const char *pipeline)
{
	const size_t n = usage_team(pipeline);
	size_t i;

	for (i = 0; i < u->n; i++)
		if (strlen(u->v[i].team) == n && strncmp(u->v[i].team, pipeline, n) == 0)
			return &u->v[i];
	return NULL;
}

static struct team_usage *
add_team(struct usage *u, const char *pipeline)
{
	struct team_usage *v = u->n < USAGE_TEAMS_MAX ? reallocarray(u->v, u->n + 1, sizeof(*v)) : NULL;

	if (v == NULL)
		return NULL;
	u->v = v;
	v += u->n;
	*v = (struct team_usage){ .team = strndup(pipeline, usage_team(pipeline)) };
	u->n += v->team != NULL;
	return v->team != NULL ? v : NULL;
}

bool
usage_add(struct usage *u, const char *pipeline, unsigned gpus, int64_t from, int64_t now)
{
	struct team_usage *t = find(u, pipeline);

	if (t == NULL && (t = add_team(u, pipeline)) == NULL)
		return false;
	t->used = decay(t->used, now - t->at) + usage_of(gpus, from, now);
	t->at = now;
	return true;
}

uint64_t
usage_share_used(const struct usage *u, const char *pipeline, int64_t now)
{
	const struct team_usage *t = find(u, pipeline);
	const size_t n = usage_team(pipeline);
	uint32_t share = 1;
	size_t i;

	for (i = 0; i < u->shares.n; i++)
		if (n > 0 && strncmp(u->shares.v[i], pipeline, n) == 0 && u->shares.v[i][n] == '=')
			(void)text_u32(u->shares.v[i] + n + 1, 1, TEAM_SHARE_MAX, &share);
	return (t != NULL ? decay(t->used, now - t->at) : 0) / share;
}
