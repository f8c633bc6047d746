/* The names of CDI devices, and those that GPUs have. */
#ifndef GPUHELPER_CDI_CDINAME_H
#define GPUHELPER_CDI_CDINAME_H

#include "../gpu/gpu.h"

/* True for "vendor.com/class=name" with three well-formed parts (pkg/parser/parser.go). */
bool cdi_name_is_qualified(const char *name);
/*
 * The syntax of these parts: a letter first, then A-Za-z0-9_.- (in a device's name also ':'), a letter or
 * digit last.
 */
bool cdi_vendor_or_class_ok(const char *s, size_t len);
bool cdi_kind_ok(const char *kind);	/* "vendor.com/class" */
bool cdi_device_name_ok(const char *s);

/*
 * The GPU's name of this kind ("vendor.com/class"). With kind NULL, a name of the vendor's own kind
 * ("nvidia.com/gpu") or else the first one. NULL if there is none.
 */
const char *cdi_name_of(const struct gpu *g, const char *kind);

/* True for the kind of the vendor's own specs. */
bool cdi_kind_is_own(const char *kind, enum gpu_vendor vendor);

/* True if the name is of this kind. */
bool cdi_name_is_of(const char *name, const char *kind);

#endif
