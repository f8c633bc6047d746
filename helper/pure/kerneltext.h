/* Texts of procfs and sysfs: their lines, and numbers in them.  A line that does not end in a newline is not a line. */
#ifndef GPUHELPER_PURE_KERNELTEXT_H
#define GPUHELPER_PURE_KERNELTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel_line {
	const char *s;
	size_t len;
};

/* Takes the next whole line from *text, without its newline; what is left at the end is cut off. */
bool kernel_next_line(const char **text, struct kernel_line *l);
bool kernel_line_is(const struct kernel_line *l, const char *s);
/* Copies the line without the blanks at its ends; false if it does not fit. */
bool kernel_line_copy(const struct kernel_line *l, char *out, size_t size);

/*
 * The value of the one line «key» «sep» «value».  1: found; 0: there is none;
 * -1: there are several, or it is too long to be what it should be.
 */
int kernel_field(const char *text, const char *key, char sep, char *out, size_t size);

/* The value of a hex digit, -1 if it is none. */
int hex_digit(char c);
/* Reads min to max (at most 8) hex digits at *s and moves it behind them. */
bool hex_digits(const char **s, unsigned min, unsigned max, uint32_t *out);
/* Is it the form, where an h of the form stands for a hex digit? */
bool has_hex_form(const char *s, const char *form);

#endif
