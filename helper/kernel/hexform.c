/* See hexform.h. */
#include "hexform.h"

#include "kerneltext.h"

bool
has_hex_form(const char *s, const char *form)
{
	for (; *form != '\0'; s++, form++)
		if (*form == 'h' ? hex_digit(*s) < 0 : *s != *form)
			return false;
	return *s == '\0';
}
