/*
 * Makes CDI specs, and their text: character devices, bind mounts, environment and groups. Other members of
 * struct cdi_spec are not written.
 */
#ifndef GPUHELPER_CTL_CDI_CDIMAKE_H
#define GPUHELPER_CTL_CDI_CDIMAKE_H

#include "../../cdi/cdi.h"

/* These functions copy their arguments. False or NULL if memory is short. */
bool cdi_make_kind(struct cdi_spec *s, const char *kind);
/* Adds a device. Invalidates pointers to devices returned before. */
struct cdi_device *cdi_make_device(struct cdi_spec *s, const char *name);
bool cdi_make_env(struct cdi_edits *e, const char *env);
/*
 * Adds a character device with «permissions» of "rwm"; gid 0 means none. Leaves a device of the same path
 * unchanged.
 */
bool cdi_make_node(struct cdi_edits *e, const char *path, uint32_t major, uint32_t minor, const char *permissions,
    uint32_t gid);
/* Adds a bind mount; a NULL ends «options». Leaves a mount at the same place unchanged. */
bool cdi_make_mount(struct cdi_edits *e, const char *host, const char *container, const char *const *options);
/* Adds a group, unless it is 0 or there already. */
bool cdi_make_gid(struct cdi_edits *e, uint32_t gid);

/*
 * The spec as JSON, with a line for each node and mount, and the lowest cdiVersion that allows all of it. The
 * output is deterministic. The caller frees it; NULL if memory is short.
 */
char *cdi_make_text(const struct cdi_spec *s);

#endif
