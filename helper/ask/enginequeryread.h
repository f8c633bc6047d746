/* What gpuhelper-engine hears (enginequery.h, authzquery.h). */
#ifndef GPUHELPER_ASK_ENGINEQUERYREAD_H
#define GPUHELPER_ASK_ENGINEQUERYREAD_H

#include "authzquery.h"
#include "enginequery.h"

#define ENGINE_HEARS_MAX (261U << 20)	/* the specs, or an answer of the judge, and a byte */

/* Of what pack_with() packed: *t reads the lines; *bytes points into the message. False if it is malformed. */
bool unpack_with(const char *message, size_t size, struct lines *t, const char **bytes, size_t *len);

void engine_specs_free(struct engine_specs *s);
void engine_query_free(struct engine_query *a);

/*
 * Reads what authz_query_pack() packed. *read points into the question. False if it is not one of this version.
 * authz_query_free() in any case.
 */
bool authz_query_unpack(const char *question, size_t size, struct authz_query *a, const char **read, size_t *len);
void authz_query_free(struct authz_query *a);
void pick_query_free(struct pick_query *a);

#endif
