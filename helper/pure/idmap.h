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

#endif
