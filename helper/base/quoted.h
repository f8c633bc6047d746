/* Texts that a stranger chose, in lines for people. */
#ifndef GPUHELPER_BASE_QUOTED_H
#define GPUHELPER_BASE_QUOTED_H

/*
 * Gives a text as it may stand in a line of ours: unchanged if it is one word of letters, digits and "-_./:@+=,*#~%",
 * which nobody takes for words of ours; else between quotation marks, with a backslash before these and backslashes.
 * What does not fit in «out» is cut, within the quotation marks. Control characters stay for whoever prints the line.
 * Returns «out».
 */
#define QUOTED_MAX 320
const char *quoted_text(const char *text, char out[QUOTED_MAX]);

/* The same, in a buffer that lives as long as the block around. */
#define quoted(text) quoted_text(text, (char [QUOTED_MAX]){ 0 })

#endif
