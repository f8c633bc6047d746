/*
 * Lines of procfs and sysfs, and numbers in them. A line without a newline at its end was cut off, and does not count.
 */
#ifndef GPUHELPER_KERNEL_KERNELTEXT_H
#define GPUHELPER_KERNEL_KERNELTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel_line {
	const char *s;
	size_t len;
};

/*
 * Takes the next whole line off *text, without its newline. False at the end; a rest without newline is
 * ignored.
 */
bool kernel_next_line(const char **text, struct kernel_line *l);
bool kernel_line_is(const struct kernel_line *l, const char *s);
/* Copies the line without blanks at its ends. False if it does not fit. */
bool kernel_line_copy(const struct kernel_line *l, char *out, size_t size);

/*
 * Gets the value of the line «key» «sep» «value». Returns 1, 0 if there is none, or -1 if there are several
 * or it does not fit.
 */
int kernel_field(const char *text, const char *key, char sep, char *out, size_t size);

/* The value of a hex digit; -1 if it is none. */
int hex_digit(char c);
/* Reads «min» to «max» (at most 8) hex digits at *s, and moves *s behind them. */
bool hex_digits(const char **s, unsigned min, unsigned max, uint32_t *out);

#endif
