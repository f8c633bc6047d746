/* Frees what cdidirs.h describes. The helper does not link this file, because it ends without freeing its specs. */
#include <stdlib.h>

#include "cdidirs.h"

void
cdi_registry_free(struct cdi_registry *r)
{
	size_t i;

	for (i = 0; i < r->files; i++) {
		free(r->file[i].path);
		free(r->file[i].text);
		cdi_free(&r->file[i].spec);
		cdi_faults_free(&r->file[i].faults);
		strlist_free(&r->file[i].problems);
	}
	for (i = 0; i < r->entries; i++)
		free(r->entry[i].name);
	free(r->file);
	free(r->entry);
	strlist_free(&r->problems);
	*r = (struct cdi_registry){ 0 };
}
