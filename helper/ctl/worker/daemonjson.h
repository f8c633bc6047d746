/*
 * The text of docker's daemon.json, with the wrapper as a runtime and without it.  docker reads no directory of
 * further files, so setup changes this text.  Every byte that is not setup's own stays.
 */
#ifndef GPUHELPER_CTL_WORKER_DAEMONJSON_H
#define GPUHELPER_CTL_WORKER_DAEMONJSON_H

#include <stdbool.h>

#include "../../base/why.h"

#define DOCKER_CONF "/etc/docker/daemon.json"
#define DOCKER_RUNTIME "gpuhelper"

/* What the file says.  A string is NULL if the file does not have it. */
struct daemon_json {
	bool runtime;		/* «runtimes» has the wrapper, by the name DOCKER_RUNTIME */
	bool rest;		/* it has what daemon_json_rest() wrote, by that name */
	char *usual;		/* «default-runtime» */
	char *data_root;
	char *driver;		/* «storage-driver» */
};

/* The text of DOCKER_CONF, also through links; "" if there is no such file.  NULL with errno.  The caller frees. */
char *daemon_json_load(void);

/*
 * Reads the text; "" is a file that does not exist.  -1 with *why if it is no JSON object, or if it has a runtime of
 * our name that setup would not have written.  The caller frees *out.
 */
int daemon_json_read(const char *text, struct daemon_json *out, struct why *why);
void daemon_json_free(struct daemon_json *d);
#define autodaemonjson __attribute__((cleanup(daemon_json_free)))

/* True if the wrapper is the default runtime. */
bool daemon_json_is_default(const struct daemon_json *now);

/*
 * The text with the wrapper as a runtime, and with «usual» as the default one.  Refuses if the file names another
 * default than runc, because somebody chose that.  NULL with *why; the caller frees.
 */
char *daemon_json_with(const char *text, bool usual, struct why *why);
/*
 * The text without the wrapper, whose name gets the program «runtime» and is no default.  NULL with *why, also if the
 * path needs escapes; the caller frees.
 */
char *daemon_json_rest(const char *text, const char *runtime, struct why *why);
/*
 * The text without the wrapper and its name.  With «keep», the runtime stays and only the default changes, from the
 * wrapper to "runc": a running docker keeps a default that the file no longer names, so it must be told of another one
 * first.  NULL with *why; the caller frees.
 */
char *daemon_json_without(const char *text, bool keep, struct why *why);

#endif
