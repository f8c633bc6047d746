/* See update.h. Runs with the caller's rights. Must not change the file itself. */
#include "update.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../host/file.h"
#include "../json/doc.h"
#include "command/memfile.h"
#include "privilege/resources.h"
#include "spec/exactkeys.h"

#define RESOURCES_MAX (1024 * 1024)

/* Removes every «devices» from the text. The caller frees the result; NULL with *why. */
static char *
without_devices(const char *text, size_t len, struct why *why)
{
	autodoc struct doc d = { 0 };
	struct doc_list l;
	char *new;
	uint32_t k;

	if (doc_parse(&d, text, len, why) == -1) {
		refuse_within(why, "update --resources");
		return NULL;
	}
	if (!doc_is(&d, 0, DOC_OBJECT)) {
		refuse(why, WHY_DATA, "update --resources: it is not an object");
		return NULL;
	}
	if (exact_keys(&d, 0, "update --resources", why) == -1 || resources_check(&d, 0, why) == -1)
		return NULL;
	doc_list_begin(&l, '{');
	for (k = doc_first(&d, 0); k != DOC_NONE; k = doc_next(&d, k))
		if (!doc_equals(&d, k, "devices"))
			doc_list_keep(&l, &d, k);
	if ((new = doc_list_end(&l)) == NULL)
		refuse_nomem(why);
	return new;
}

static int
replace_resources(const char *file, char path[FILE_LINK_MAX], struct why *why)
{
	autofree char *text = NULL, *new = NULL;
	autoclose int fd = strcmp(file, "-") == 0 ? dup(STDIN_FILENO) : open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	size_t len;

	if (fd == -1 || (text = memfile_read(fd, RESOURCES_MAX, &len)) == NULL)
		return refuse(why, WHY_DATA, "update --resources %s: %s", file,
		    errno == EFBIG ? "is larger than 1 MiB" : strerror(errno));
	if ((new = without_devices(text, len, why)) == NULL)
		return -1;
	return memfile_make("resources.json", new, strlen(new), path, why);
}

/* A copy of argv with another file for --resources, which the caller frees; NULL if memory is short. */
static char **
with_resources(int argc, char *const *argv, const struct word *w, const char *path)
{
	char **to = calloc((size_t)argc + 3, sizeof(*to)), *option = strdup("--resources"), *file = strdup(path);
	int i, n = 0;

	if (to == NULL || option == NULL || file == NULL) {
		free(to);
		free(option);
		free(file);
		return NULL;
	}
	for (i = 0; i < argc; i++) {
		if (i != w->at) {
			to[n++] = argv[i];
			continue;
		}
		to[n++] = option;
		to[n++] = file;
		i = w->value_at;
	}
	return to;
}

int
update_prepare(int argc, char *const **argv, const struct command *c, struct why *why)
{
	const struct word *w;
	char path[FILE_LINK_MAX], **to;
	int from = 0;

	if ((w = command_next(c, ROLE_RESOURCES, &from)) == NULL)
		return 0;
	if (command_next(c, ROLE_RESOURCES, &from) != NULL)
		return refuse(why, WHY_USAGE, "update: more than one --resources");
	if (replace_resources(w->value, path, why) == -1)
		return -1;
	if ((to = with_resources(argc, *argv, w, path)) == NULL)
		return refuse_nomem(why);
	*argv = to;
	return 0;
}
