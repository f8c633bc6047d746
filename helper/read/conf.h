/*
 * libconfig files, read strictly.
 *
 * libconfig 1.5 (Debian 12) takes an unclosed comment that swallows the rest of
 * a file, reads 4294967296 as 0, follows @include and may call exit() there; later ones
 * take a comma before a list's end, and some 010 for 8.
 * So the text is looked over first (conflook.h), and what would need such mercy is refused;
 * then libconfig parses it, and every key has to be one that we know.
 */
#ifndef GPUHELPER_READ_CONF_H
#define GPUHELPER_READ_CONF_H

#include <libconfig.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../pure/text.h"
#include "conflook.h"

/*
 * Parses «text» into *cfg (initialised here; the caller calls config_destroy
 * whatever is returned).  False if anything was wrong; *f then says what.
 */
bool conf_parse(config_t *cfg, const char *text, size_t len, struct faults *f);

/* A key of a group and what reads its value into «out». */
struct conf_key {
	const char *name;
	void (*read)(config_setting_t *s, void *out, struct faults *f);
};
/*
 * Reads each setting of the group with its key's reader; one that «keys» (at most 32, NULL name at their end) lacks is
 * a fault.  Returns which keys are there, if misspelt: what has a fault already is not to be called missing as well.
 */
uint32_t conf_group(config_setting_t *group, const struct conf_key *keys, void *out, struct faults *f);
bool conf_there(const struct conf_key *keys, uint32_t there, const char *name);

/* Is it a list of at most «max» entries, which are groups: ( { ... }, { ... } )?  Else a fault is added. */
bool conf_groups(config_setting_t *s, int max, struct faults *f);

/* Readers for values.  Each adds a fault and leaves *out alone where the value is of the wrong type or out of range. */
void conf_string(config_setting_t *s, char **out, struct faults *f);	/* replaces *out, which is freed; not empty */
void conf_bool(config_setting_t *s, bool *out, struct faults *f);
void conf_number(config_setting_t *s, unsigned min, unsigned max, unsigned *out, struct faults *f);
/* False where it added one: then what is in *out is no answer. */
bool conf_strings(config_setting_t *s, struct strlist *out, struct faults *f);
/* One of «words» (ends with NULL); *out becomes its index. */
void conf_word(config_setting_t *s, const char *const *words, unsigned *out, struct faults *f);
/* Likewise; of what other tools call by another name (in any case; NULL text at the end) the fault names the word. */
struct conf_alias {
	const char *text, *word;
};
void conf_word_or(config_setting_t *s, const char *const *words, const struct conf_alias *aliases, unsigned *out,
    struct faults *f);
unsigned conf_line(const config_setting_t *s);

#endif
