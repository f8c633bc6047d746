/* What the parts of gpuhelperctl keys share. */
#ifndef GPUHELPER_CTL_KEYS_H
#define GPUHELPER_CTL_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../host/trust.h"
#include "../judge/jwk.h"
#include "../pure/settings.h"
#include "ctl.h"

/* gpuhelper.conf, and whether its directory is the helper's own (see trust.h). */
struct keys_conf {
	struct settings settings;
	bool strict;
	json_t *told;		/* with --json: what became of each issuer; else NULL */
};

/* The issuer of this URL; NULL with *why where there is none. */
const struct issuer_setting *keys_issuer(const struct keys_conf *c, const char *url, struct why *why);

/*
 * Reads a JWKS in an open directory, as it is; «shown» is its name in messages.
 * *mtime says when it was last written.  *why says what is the matter where none
 * was found.  The caller frees *text.
 */
enum trust_found keys_read(int dir, const char *name, const char *shown, bool strict, char **text, size_t *len,
    int64_t *mtime, struct why *why);

/*
 * Puts a JWKS in the place of the file, at once and lastingly: who reads it sees
 * the old one or the new one.  Its mtime becomes «fetched».  On failure all is
 * as it was.
 */
int keys_write(int dir, const char *name, const char *shown, const char *text, size_t len, int64_t fetched,
    struct why *why);

/* The same at the issuer's own place, with a line that says so; «keys» is the text, parsed. */
int keys_place(const struct keys_conf *c, const struct issuer_setting *s, const struct jwks *keys, const char *text,
    size_t len, struct why *why);
/* That line, or what stands for it in JSON. */
void keys_say(const struct keys_conf *c, const struct issuer_setting *s, const struct jwks *keys, const char *where);
/* The same where it failed; returns the exit status. */
int keys_failed(const struct keys_conf *c, const struct issuer_setting *s, const struct why *why);
/* The keys as a list, for JSON. */
json_t *keys_json(const struct jwks *keys);

/* The directory of the issuer's file; what came of opening it. */
enum trust_found keys_open_dir(const struct issuer_setting *s, bool strict, int *dir, struct why *why);

/*
 * The subcommand; the issuers' files have names of their own.  Returns the exit status; -1 with *why: nothing was
 * done.
 */
int keys_fetch(const struct options *o, const struct keys_conf *c, struct why *why);

#endif
