/*
 * How much each team has used the GPUs lately, for fair shares between the teams that wait (team_shares in
 * gpuhelper.conf). What a team has used counts half after half an hour, a quarter after an hour, and so on: if
 * use older than some limit did not count at all, a team's use would fall all at once when it gets that old.
 */
#ifndef GPUHELPER_POLICY_USAGE_H
#define GPUHELPER_POLICY_USAGE_H

#include "../base/lines.h"
#include "settings.h"

#define USAGE_HALF 1800		/* seconds */
#define USAGE_TEAMS_MAX 1024

/* What a team had used at a time (seconds since 1970), in thousandths of a GPU second. */
struct team_usage {
	char *team;
	uint64_t used;
	int64_t at;
};

struct usage {
	struct strlist shares;		/* as gpuhelper.conf had them last (team_shares) */
	struct team_usage *v;
	size_t n;
};
void usage_free(struct usage *u);
#define autousage __attribute__((cleanup(usage_free)))

/* Writes or reads it. False if it is malformed. */
bool usage_lines(struct lines *s, struct usage *u);

/* The length of the team's name in "TEAM/PIPELINE"; 0: the container has no team. */
size_t usage_team(const char *pipeline);

/* True for "TEAM=PARTS", with a number that a share may have. */
bool usage_is_share(const char *text);

/* What a container has used that has had so many GPUs from «from» until now. */
uint64_t usage_of(unsigned gpus, int64_t from, int64_t now);

/* Adds that to what the pipeline's team has used. False if memory is short, or there are too many teams. */
bool usage_add(struct usage *u, const char *pipeline, unsigned gpus, int64_t from, int64_t now);

/* What the team has used, divided by its share. A team that has no share in gpuhelper.conf has one part. */
uint64_t usage_share_used(const struct usage *u, const char *pipeline, int64_t now);

#endif
