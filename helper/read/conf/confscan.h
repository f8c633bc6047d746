/*
 * Checks the text of a libconfig file before libconfig parses it. Anything that libconfig's versions read differently,
 * or that the author can hardly have meant, is a fault. Must only read the text.
 */
#ifndef GPUHELPER_READ_CONF_CONFSCAN_H
#define GPUHELPER_READ_CONF_CONFSCAN_H

#include <stdbool.h>

#include "../../policy/conffault.h"

#define CONF_DEPTH_MAX 8		/* of brackets */
#define CONF_SETTINGS_MAX 16384		/* in one file */
#define CONF_GROUP_MAX 2048		/* in one group: libconfig takes time quadratic in these */

/* True for a character of a name. */
bool conf_is_name_char(char c);
/* True for a character of a name or a number. */
bool conf_is_word_char(char c);

/*
 * Adds faults to *f, at most one a line, because further ones on a line mostly follow from the first. All
 * versions of libconfig read a text without a fault alike.
 */
void conf_scan(const char *text, size_t len, struct faults *f);

#endif
