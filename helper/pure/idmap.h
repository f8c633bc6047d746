/* Id mappings of user namespaces: a spec's linux.uidMappings, or /proc/PID/uid_map. */
#ifndef GPUHELPER_PURE_IDMAP_H
#define GPUHELPER_PURE_IDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IDMAP_MAX 340		/* the kernel's own limit (user_namespaces(7)) */

struct idmap {
	struct idrange {
		uint32_t inside, outside, size;
	} v[IDMAP_MAX];
	size_t n;
	bool identity;		/* no user namespace of its own: ids are what they are outside */
};

/* The id outside that an inside id stands for; false if it stands for none. */
bool idmap_out(const struct idmap *m, uint32_t inside, uint32_t *outside);
bool idmap_in(const struct idmap *m, uint32_t outside, uint32_t *inside);

/*
 * For a namespace within another: «inner» maps its ids to ids of the outer one,
 * «outer» those on.  What the outer one does not map is left out.  False where
 * that takes more than IDMAP_MAX ranges.
 */
bool idmap_compose(const struct idmap *outer, const struct idmap *inner, struct idmap *out);

/* The text of /proc/PID/uid_map or gid_map (user_namespaces(7)); false for what is none. */
bool idmap_parse(const char *text, struct idmap *out);

#endif
