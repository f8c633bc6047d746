/*
 * docker's daemon.json with the wrapper as a runtime in it, and without.  There is no directory of files beside
 * it, so its text is changed: what is not ours stays byte for byte.
 */
#ifndef GPUHELPER_CTL_DAEMONJSON_H
#define GPUHELPER_CTL_DAEMONJSON_H

#include <stdbool.h>

#include "../pure/why.h"

#define DOCKER_CONF "/etc/docker/daemon.json"
#define DOCKER_RUNTIME "gpuhelper"

/* What the file says. */
struct daemon_json {
	bool runtime;		/* the wrapper is one of «runtimes», by the name DOCKER_RUNTIME */
	char *usual;		/* «default-runtime»; NULL: not said */
	char *data_root;	/* NULL: not said */
	char *driver;		/* «storage-driver»; NULL: not said */
};

/*
 * «text»: the file, "" where there is none.  -1 with *why where it is no JSON object, or says of us what we do
 * not.
 */
int daemon_json_read(const char *text, struct daemon_json *out, struct why *why);
void daemon_json_free(struct daemon_json *d);
#define autodaemonjson __attribute__((cleanup(daemon_json_free)))

/*
 * The text with the wrapper as a runtime and, where «usual», as the default one.  A default that is neither absent
 * nor "runc" is refused: somebody has decided otherwise.  NULL with *why; the caller frees.
 */
char *daemon_json_with(const char *text, bool usual, struct why *why);
/*
 * The text without us.  «keep»: with «default-runtime» set to "runc" where it was ours: a docker that runs goes
 * back to it only if it is said.
 */
char *daemon_json_without(const char *text, bool keep, struct why *why);

#endif
