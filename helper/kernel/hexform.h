/* Texts of a fixed form with hex digits in it: UUIDs, as drivers write them. */
#ifndef GPUHELPER_KERNEL_HEXFORM_H
#define GPUHELPER_KERNEL_HEXFORM_H

#include <stdbool.h>

/* True if s has the form, in which an h stands for any hex digit. */
bool has_hex_form(const char *s, const char *form);

#endif
