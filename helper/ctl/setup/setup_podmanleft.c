/* See setup.h: which of podman's containers still need the name of the wrapper, after setup was undone. */
#include "setup.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../../base/text.h"
#include "../../host/listing.h"
#include "../../host/users.h"
#include "../runprogram.h"
#include "../worker/containersconf.h"

#define STORE ".local/share/containers/storage"	/* a user's storage, in the home directory */
#define ID_CHARS 64
#define ENTRIES_MAX 100000

static int
run_podman(const char *const *argv, struct ran *r, struct why *why)
{
	if (program_run(argv, r, why) == -1)
		return -1;
	return r->status == 0 ? 0 : refuse(why, WHY_CONFIG, "podman %s: %s", argv[1], r->said);
}

/* Adds the names of the containers with the runtime PODMAN_RUNTIME; «ids» has one id in each line. */
static int
inspect(char *ids, struct strlist *names, struct why *why)
{
	static const char *const words[] = { "podman", "container", "inspect", "--format", "{{.OCIRuntime}} {{.Name}}" };
	static const char ours[] = PODMAN_RUNTIME " ";
	const size_t first = sizeof(words) / sizeof(words[0]);
	const char **argv = calloc(first + strlen(ids) / ID_CHARS + 2, sizeof(*argv));
	char *line, *save = NULL;
	size_t n = first;
	struct ran r = { .out = NULL };
	int ret;

	if (argv == NULL)
		return refuse_nomem(why);
	memcpy(argv, words, sizeof(words));
	for (line = strtok_r(ids, "\n", &save); line != NULL; line = strtok_r(NULL, "\n", &save))
		if (strlen(line) == ID_CHARS)
			argv[n++] = line;
	ret = n == first ? 0 : run_podman(argv, &r, why);
	for (line = ret == 0 && r.out != NULL ? strtok_r(r.out, "\n", &save) : NULL; line != NULL && ret == 0;
	    line = strtok_r(NULL, "\n", &save))
		if (text_starts(line, ours) && !strlist_add(names, line + strlen(ours), SIZE_MAX))
			ret = refuse_nomem(why);
	free(r.out);
	free(argv);
	return ret;
}

static int
find_roots(struct strlist *names, struct why *why)
{
	static const char *const list[] = { "podman", "ps", "--all", "--no-trunc", "--quiet", NULL };
	autofree char *program = program_find("podman");
	struct ran r = { .out = NULL };
	int ret;

	if (program == NULL)
		return 0;
	if ((ret = run_podman(list, &r, why)) == 0)
		ret = inspect(r.out, names, why);
	free(r.out);
	return ret;
}

static bool
has_container(const char *dir)
{
	autostrlist struct strlist names = { 0 };
	size_t i;

	if (listing_names(open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), ENTRIES_MAX, &names) == -1)
		return false;
	for (i = 0; i < names.n; i++)
		if (strlen(names.v[i]) == ID_CHARS && strspn(names.v[i], "0123456789abcdef") == ID_CHARS)
			return true;
	return false;
}

/* For users_each(): adds a user whose storage has a container.  Only that user's podman knows its runtime. */
static int
look_at_user(void *ctx, const char *name, uint32_t uid, const char *home)
{
	struct strlist *users = ctx;
	autostrlist struct strlist drivers = { 0 };
	autofree char *store = NULL;
	size_t i;

	if (uid == 0 || *home != '/')
		return 0;
	if (asprintf(&store, "%s/" STORE, home) == -1) {
		store = NULL;
		return -1;
	}
	if (listing_names(open(store, O_RDONLY | O_DIRECTORY | O_CLOEXEC), ENTRIES_MAX, &drivers) == -1)
		return 0;
	for (i = 0; i < drivers.n; i++) {
		autofree char *dir = NULL;

		if (!ends_with(drivers.v[i], "-containers"))
			continue;
		if (asprintf(&dir, "%s/%s", store, drivers.v[i]) == -1) {
			dir = NULL;
			return -1;
		}
		if (has_container(dir))
			return strlist_add(users, name, SIZE_MAX) ? 0 : -1;
	}
	return 0;
}

int
setup_podman_left(struct strlist *names, struct strlist *users, struct why *why)
{
	if (users_each(look_at_user, users) == -1)
		return refuse_nomem(why);
	return find_roots(names, why);
}
