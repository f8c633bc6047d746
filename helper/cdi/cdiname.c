/* See cdiname.h. */
#include "cdiname.h"

#include <string.h>

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool
is_alnum(char c)
{
	return is_letter(c) || (c >= '0' && c <= '9');
}

static bool
part_ok(const char *s, size_t len, const char *inner)
{
	size_t i;

	if (len == 0 || !is_alnum(s[len - 1]))
		return false;
	for (i = 0; i < len; i++)
		if (!is_alnum(s[i]) && (s[i] == '\0' || strchr(inner, s[i]) == NULL))
			return false;
	return is_alnum(s[0]);
}

bool
cdi_vendor_or_class_ok(const char *s, size_t len)
{
	return len > 0 && is_letter(s[0]) && part_ok(s, len, "_.-");
}

bool
cdi_device_name_ok(const char *s)
{
	return part_ok(s, strlen(s), "_.-:");
}

bool
cdi_name_is_qualified(const char *name)
{
	const char *equals = strchr(name, '='), *slash = strchr(name, '/');

	return equals != NULL && slash != NULL && slash < equals && cdi_vendor_or_class_ok(name, (size_t)(slash - name)) &&
	    cdi_vendor_or_class_ok(slash + 1, (size_t)(equals - slash - 1)) && cdi_device_name_ok(equals + 1);
}

bool
cdi_name_is_of(const char *name, const char *kind)
{
	size_t n = strlen(kind);

	return strncmp(name, kind, n) == 0 && name[n] == '=';
}
