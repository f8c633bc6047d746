/*
 * Reads libconfig files strictly.
 * libconfig 1.5 (Debian 12) accepts an unclosed comment that hides the rest of a file, reads 4294967296 as 0,
 * and follows @include, where it may call exit(). Later versions accept a comma before a list's end, and some
 * read 010 as 8. So confscan.h checks the text first, and refuses what the versions read differently. Then
 * libconfig parses the text, and every key must be known.
 */
#ifndef GPUHELPER_READ_CONF_CONF_H
#define GPUHELPER_READ_CONF_CONF_H

#include <libconfig.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../base/text.h"
#include "confscan.h"

/*
 * Parses «text» into *cfg, which this function initialises. The caller calls config_destroy() in any case.
 * Returns false if anything is wrong; *f then has the faults.
 */
bool conf_parse(config_t *cfg, const char *text, size_t len, struct faults *f);

/* A key of a group, and the function that reads its value into «out». */
struct conf_key {
	const char *name;
	void (*read)(config_setting_t *s, void *out, struct faults *f);
};
/*
 * Calls the reader of each setting's key. An unknown key is a fault; «keys» has at most 32, and one with a
 * NULL name at the end. Returns a mask of the keys that are present, misspelt ones included: a key that has a
 * fault already should not be reported as missing, too.
 */
uint32_t conf_group(config_setting_t *group, const struct conf_key *keys, void *out, struct faults *f);
bool conf_there(const struct conf_key *keys, uint32_t there, const char *name);

/* True for a list of at most «max» groups: ( { ... }, { ... } ). Adds a fault otherwise. */
bool conf_groups(config_setting_t *s, int max, struct faults *f);

/* These readers add a fault and leave *out alone if the value is of the wrong type or out of range. */
void conf_string(config_setting_t *s, char **out, struct faults *f);	/* frees and replaces *out; not empty */
void conf_bool(config_setting_t *s, bool *out, struct faults *f);
void conf_number(config_setting_t *s, unsigned min, unsigned max, unsigned *out, struct faults *f);
/* False if a fault was added: *out is then incomplete. */
bool conf_strings(config_setting_t *s, struct strlist *out, struct faults *f);
/* Reads one of «words» (NULL at the end). *out gets its index. */
void conf_word(config_setting_t *s, const char *const *words, unsigned *out, struct faults *f);
/*
 * The same with aliases: words that other tools use (in any case; NULL text at the end). The fault then names
 * our word.
 */
struct conf_alias {
	const char *text, *word;
};
void conf_word_or(config_setting_t *s, const char *const *words, const struct conf_alias *aliases, unsigned *out,
    struct faults *f);
unsigned conf_line(const config_setting_t *s);

#endif
