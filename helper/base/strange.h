/* Texts that a stranger chose, in lines for people. */
#ifndef GPUHELPER_BASE_STRANGE_H
#define GPUHELPER_BASE_STRANGE_H

/*
 * Gives a text as it may stand in a line of ours: unchanged if it is one word of letters, digits and "-_./:@+=,*#~%",
 * which nobody takes for words of ours; else between quotation marks, with a backslash before these and backslashes.
 * What does not fit in «out» is cut, within the quotation marks. Control characters stay for whoever prints the line.
 * Returns «out».
 */
#define STRANGE_MAX 320
const char *strange_text(const char *text, char out[STRANGE_MAX]);

/* The same, in a buffer that lives as long as the block around. */
#define strange(text) strange_text(text, (char [STRANGE_MAX]){ 0 })

#endif
