/* Which word was meant. */
#ifndef GPUHELPER_BASE_TEXTNEAR_H
#define GPUHELPER_BASE_TEXTNEAR_H

/*
 * The word in «known» (ends with NULL) that «word» may be a misspelling of, ignoring case; NULL if there is
 * none.
 */
const char *text_nearest(const char *word, const char *const *known);

#endif
