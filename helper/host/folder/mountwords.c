/* See mounts.h: more of a line of mountinfo, for the wrapper. */
#include <string.h>

#include "mounts.h"

bool
mount_has_option(const struct mount *m, const char *name)
{
	const char *o = m->options;
	size_t n;

	for (; *o != '\0'; o += n, o += *o == ',')
		if ((n = strcspn(o, ",")) == strlen(name) && strncmp(o, name, n) == 0)
			return true;
	return false;
}

const char *
mount_type(struct mount *m)
{
	char *word = m->rest != NULL ? strtok_r(m->rest, " ", &m->rest) : NULL;

	/* optional fields end with a «-» */
	while (word != NULL && strcmp(word, "-") != 0)
		word = strtok_r(NULL, " ", &m->rest);
	word = word != NULL ? strtok_r(NULL, " ", &m->rest) : NULL;
	return word != NULL ? word : "";
}
