/* Id maps of user namespaces: linux.uidMappings of a spec, or /proc/PID/uid_map. */
#ifndef GPUHELPER_KERNEL_IDMAP_H
#define GPUHELPER_KERNEL_IDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IDMAP_MAX 340		/* of the kernel (user_namespaces(7)) */

struct idmap {
	struct idrange {
		uint32_t inside, outside, size;
	} v[IDMAP_MAX];
	size_t n;
	bool identity;		/* no user namespace: inside and outside ids are the same */
};

/* Maps an inside id to the outside, or back. False if it is not mapped. */
bool idmap_out(const struct idmap *m, uint32_t inside, uint32_t *outside);
bool idmap_in(const struct idmap *m, uint32_t outside, uint32_t *inside);

/*
 * The map of a namespace within another: «inner» maps the inner ids to ids between the two, and «outer» maps these to
 * outer ids. Ids that «outer» does not map are dropped. False if the result has more than IDMAP_MAX ranges.
 */
bool idmap_compose(const struct idmap *outer, const struct idmap *inner, struct idmap *out);

/* Parses /proc/PID/uid_map or gid_map (user_namespaces(7)). False if it is malformed. */
bool idmap_parse(const char *text, struct idmap *out);

#endif
