/*
 * See setup.h: which of docker's containers still need the name of the wrapper, after setup was undone.  docker may not
 * run, so this reads its files.  Docker 20.10 and moby's sources of 2026-08 name them and these keys alike.
 */
#include "setup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../host/file.h"
#include "../../host/listing.h"
#include "../worker/daemonjson.h"

#define FILE_MAX_BYTES (4 * 1024 * 1024)
#define CONTAINERS_MAX 100000

/* A text of a container's file; "" if there is none.  NULL: no memory.  The caller frees. */
static char *
text_of(int dir, const char *container, const char *file, const char *key)
{
	autofree char *path = NULL, *text = NULL;
	json_t *j;
	char *out;

	if (asprintf(&path, "%s/%s", container, file) == -1) {
		path = NULL;
		return NULL;
	}
	text = file_read_at(dir, path, FILE_MAX_BYTES, NULL);
	j = text != NULL ? json_loads(text, 0, NULL) : NULL;
	out = strdup(get_text(j, key));
	json_decref(j);
	return out;
}

static int
look_at(int dir, const char *container, struct strlist *names, struct why *why)
{
	autofree char *runtime = text_of(dir, container, "hostconfig.json", "Runtime"), *name = NULL;

	if (runtime != NULL && strcmp(runtime, DOCKER_RUNTIME) != 0)
		return 0;
	name = text_of(dir, container, "config.v2.json", "Name");
	return runtime != NULL && name != NULL &&
	    strlist_add(names, *name == '\0' ? container : &name[*name == '/'], SIZE_MAX) ? 0 : refuse_nomem(why);
}

int
setup_docker_left(const char *root, struct strlist *names, struct why *why)
{
	autofree char *path = NULL;
	autostrlist struct strlist ids = { 0 };
	autoclose int dir = -1;
	size_t i;
	int ret = 0;

	if (asprintf(&path, "%s/containers", root) == -1) {
		path = NULL;
		return refuse_nomem(why);
	}
	if ((dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1 && errno == ENOENT)
		return 0;
	if (listing_names(dir == -1 ? -1 : dup(dir), CONTAINERS_MAX, &ids) == -1)
		return refuse(why, WHY_IO, "%s: %s", path, strerror(errno));
	for (i = 0; i < ids.n && ret == 0; i++)
		ret = look_at(dir, ids.v[i], names, why);
	return ret;
}
