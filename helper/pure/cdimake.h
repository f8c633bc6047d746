/*
 * CDI specs that we write: put together, and their text.  They have character
 * devices, bind mounts, environment and groups; what else a struct cdi_spec can
 * have is not written.
 */
#ifndef GPUHELPER_PURE_CDIMAKE_H
#define GPUHELPER_PURE_CDIMAKE_H

#include "cdi.h"

/* All of them copy what they are given.  False or NULL: no memory. */
bool cdi_make_kind(struct cdi_spec *s, const char *kind);
/* A new device at the end; what was returned for others before is no longer valid. */
struct cdi_device *cdi_make_device(struct cdi_spec *s, const char *name);
bool cdi_make_env(struct cdi_edits *e, const char *env);
/* A character device, with «permissions» of "rwm"; gid 0: none said.  One of a path that is there is left as it is. */
bool cdi_make_node(struct cdi_edits *e, const char *path, uint32_t major, uint32_t minor, const char *permissions,
    uint32_t gid);
/* A bind mount, «options» a list that ends with NULL.  One to a place that is taken is left out. */
bool cdi_make_mount(struct cdi_edits *e, const char *host, const char *container, const char *const *options);
/* Left out where it is 0 or there already. */
bool cdi_make_gid(struct cdi_edits *e, uint32_t gid);

/*
 * The spec as JSON, with a line for each node and mount, of the lowest
 * cdiVersion that has all that is in it; the same spec has the same text.  The
 * caller frees.  NULL: no memory.
 */
char *cdi_make_text(const struct cdi_spec *s);

#endif
