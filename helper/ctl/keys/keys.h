/* gpuhelperctl keys: what its parts share. */
#ifndef GPUHELPER_CTL_KEYS_KEYS_H
#define GPUHELPER_CTL_KEYS_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../host/trust.h"
#include "../../judge/jwk.h"
#include "../../policy/settings.h"
#include "../ctl.h"

struct keys_conf {
	struct settings settings;
	bool strict;		/* gpuhelper.conf is the helper's own (trust.h) */
	json_t *told;		/* with --json: the result for each issuer; else NULL */
};

/* The issuer with this URL; NULL with *why if gpuhelper.conf has none. */
const struct issuer_setting *keys_issuer(const struct keys_conf *c, const char *url, struct why *why);

/*
 * Reads the text of a JWKS from an open directory, and its modification time.  «shown» is its name in messages.  Unless
 * the result is TRUST_FOUND, *why has the reason.  The caller frees *text.
 */
enum trust_found keys_read(int dir, const char *name, const char *shown, bool strict, char **text, size_t *len,
    int64_t *mtime, struct why *why);

/*
 * Replaces the file by a JWKS, atomically and durably; its modification time becomes «fetched».  -1 with *why; then
 * nothing has changed.
 */
int keys_write(int dir, const char *name, const char *shown, const char *text, size_t len, int64_t fetched,
    struct why *why);

/* Likewise for the issuer's own file, and reports the result.  «keys» is the parsed text. */
int keys_place(const struct keys_conf *c, const struct issuer_setting *s, const struct jwks *keys, const char *text,
    size_t len, struct why *why);
/* Reports as a line, or in c->told, that the issuer's keys were written to «where». */
void keys_say(const struct keys_conf *c, const struct issuer_setting *s, const struct jwks *keys, const char *where);
/* Reports a failure for the issuer likewise; returns the exit status. */
int keys_failed(const struct keys_conf *c, const struct issuer_setting *s, const struct why *why);
/* The keys as a JSON array. */
json_t *keys_json(const struct jwks *keys);

/* Opens the directory of the issuer's file.  Unless the result is TRUST_FOUND, *why has the reason. */
enum trust_found keys_open_dir(const struct issuer_setting *s, bool strict, int *dir, struct why *why);

/*
 * The subcommand «keys fetch».  The issuers' files must have different names.  Returns the exit status, or -1 with *why
 * if nothing was done.
 */
int keys_fetch(const struct options *o, const struct keys_conf *c, struct why *why);

#endif
