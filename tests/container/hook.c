/*
 * A hook that works like those of nvidia-cdi-hook, for hooks.py: reads the container's state from standard input, finds
 * root.path in BUNDLE/config.json, and makes the links of «--link TARGET::PATH» in that directory. Every failure is one
 * line on standard error and status 1.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char state[1 << 16], config[4 << 20];

static void
fail(const char *what)
{
	fprintf(stderr, "hook: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void
slurp(FILE *f, const char *name, char *to, size_t size)
{
	if (f == NULL)
		fail(name);
	to[fread(to, 1, size - 1, f)] = '\0';
	if (ferror(f))
		fail(name);
}

/* Copies the string that follows «"key":» to «out». Such a value in these tests has no escapes. */
static void
find_string(const char *json, const char *key, char out[PATH_MAX])
{
	const char *at = strstr(json, key);
	size_t n;

	errno = EINVAL;
	if (at == NULL)
		fail(key);
	at += strlen(key);
	at += strspn(at, " \t\n:\"");
	if ((n = strcspn(at, "\"")) >= PATH_MAX)
		fail(key);
	memcpy(out, at, n);
	out[n] = '\0';
}

static void
make_link(const char *root, const char *word)
{
	const char *split = strstr(word, "::");
	char target[PATH_MAX], path[2 * PATH_MAX], *slash;

	if (split == NULL)
		fail(word);
	snprintf(target, sizeof(target), "%.*s", (int)(split - word), word);
	snprintf(path, sizeof(path), "%s%s", root, split + 2);
	for (slash = path + strlen(root) + 1; (slash = strchr(slash, '/')) != NULL; *slash++ = '/') {
		*slash = '\0';
		if (mkdir(path, 0755) == -1 && errno != EEXIST)
			fail(path);
	}
	/* like the real one, which can't replace a mount point */
	if ((unlink(path) == -1 && errno != ENOENT) || symlink(target, path) == -1)
		fail(path);
}

int
main(int argc, char **argv)
{
	char bundle[PATH_MAX], name[PATH_MAX + 16], path[PATH_MAX], root[2 * PATH_MAX];
	const char *part;
	int i;

	slurp(stdin, "state", state, sizeof(state));
	find_string(state, "\"bundle\"", bundle);
	snprintf(name, sizeof(name), "%s/config.json", bundle);
	slurp(fopen(name, "r"), name, config, sizeof(config));
	if ((part = strstr(config, "\"root\":")) == NULL)
		fail("config.json has no root");
	find_string(part, "\"path\"", path);
	if (path[0] == '/')
		snprintf(root, sizeof(root), "%s", path);
	else
		snprintf(root, sizeof(root), "%s/%s", bundle, path);
	for (i = 1; i + 1 < argc; i++)
		if (strcmp(argv[i], "--link") == 0)
			make_link(root, argv[++i]);
	return 0;
}
