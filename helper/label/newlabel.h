/* The new labels of folders and nodes, computed from those that they have. */
#ifndef GPUHELPER_LABEL_NEWLABEL_H
#define GPUHELPER_LABEL_NEWLABEL_H

#include "../kernel/secontext.h"

/*
 * The new label of a file with label «has»; «level» is the container's. False if «has» is no label, or the
 * result is too long.
 */
bool newlabel_of_file(const char *has, enum relabel how, const char *level, char out[SECONTEXT_MAX]);

/* The label of a node while a container of that level has it alone. False likewise. */
bool newlabel_of_node(const char *has, const char *level, char out[SECONTEXT_MAX]);

#endif
