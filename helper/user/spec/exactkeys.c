/* See exactkeys.h. Only keys that this program reads or removes need an exact spelling. */
#include "exactkeys.h"

#include <stdlib.h>
#include <string.h>

#include "../../base/cleanup.h"

static const char *
known_as(const char *name)
{
	static const char *const known[] = { "ociVersion", "process", "root", "mounts", "linux", "annotations", "hooks",
		"env", "user", "capabilities", "additionalGids", "uid", "gid", "path", "destination", "source", "type",
		"options", "devices", "resources", "cgroupsPath", "uidMappings", "gidMappings", "namespaces", "maskedPaths",
		"readonlyPaths", "allow", "major", "minor", "access", "containerID", "hostID", "size", "bounding", "effective",
		"permitted", "inheritable", "ambient", "selinuxLabel", "mountLabel", "unified", "seccomp", "defaultAction",
		"defaultErrnoRet", "syscalls", "names", "action", "errnoRet", NULL };
	size_t i;

	/* the first letter decides most comparisons without strcasecmp() */
	for (i = 0; known[i] != NULL && (((known[i][0] ^ name[0]) & ~0x20) != 0 || strcasecmp(known[i], name) != 0); i++)
		;
	return known[i];
}

int
exact_keys(const struct doc *d, uint32_t obj, const char *file, struct why *why)
{
	const char *spelt;
	uint32_t k;
	size_t i;

	if (!doc_is(d, obj, DOC_OBJECT))
		return 0;
	for (k = doc_first(d, obj); k != DOC_NONE; k = doc_next(d, k)) {
		autofree char *name = doc_string(d, k);

		for (i = 0; name != NULL && name[i] != '\0' && (unsigned char)name[i] < 0x80; i++)
			;
		if (name == NULL || name[i] != '\0')
			return refuse(why, WHY_DATA, "%s: the key \"%.60s\" is not plain ASCII", file,
			    name != NULL ? name : "(with a NUL)");
		if ((spelt = known_as(name)) != NULL && strcmp(spelt, name) != 0)
			return refuse(why, WHY_DATA, "%s: the key \"%s\" must be spelt \"%s\"", file, name, spelt);
	}
	return 0;
}
