/* Values of a token's claims. */
#ifndef GPUHELPER_JUDGE_CLAIMVALUE_H
#define GPUHELPER_JUDGE_CLAIMVALUE_H

#include <jansson.h>
#include <stdbool.h>

/*
 * The value (NULL: there is none) as text that shows its type (policy/claimset.h). The caller frees it; NULL if memory
 * is short.
 */
char *claim_value_text(const json_t *value);

/* Writes such a text (NULL: nobody knows) for a person to read, cut to fit on a line. */
void claim_value_describe(const char *text, char out[80]);

/* The same for a value that is required. */
void claim_value_describe_wanted(const char *text, char out[80]);

/* True if the text has a control character (below U+0020, or U+007F to U+009F). */
bool claim_value_has_control(const char *text);

/*
 * True if a token's value (NULL: not known) is the wanted one, exactly and of its type. Both as in policy/claimset.h.
 */
bool claim_value_is(const char *value, const char *wanted);
/* The same, but in a wanted string * and ? match within one component between slashes, and no control character. */
bool claim_value_matches(const char *value, const char *wanted);

#endif
