/* Frees what cdi.h describes. The helper does not link this file, because it ends without freeing its specs. */
#include <stdlib.h>

#include "cdi.h"

static void
free_node(struct cdi_devnode *n)
{
	free(n->path);
	free(n->host_path);
	free(n->permissions);
}

static void
free_edits(struct cdi_edits *e)
{
	size_t i;

	strlist_free(&e->env);
	for (i = 0; i < e->nodes; i++)
		free_node(&e->node[i]);
	for (i = 0; i < e->mounts; i++) {
		free(e->mount[i].host_path);
		free(e->mount[i].container_path);
		free(e->mount[i].type);
		strlist_free(&e->mount[i].options);
	}
	for (i = 0; i < e->hooks; i++) {
		free(e->hook[i].path);
		strlist_free(&e->hook[i].args);
		strlist_free(&e->hook[i].env);
	}
	for (i = 0; i < e->netdevs; i++) {
		free(e->netdev[i].host);
		free(e->netdev[i].name);
	}
	if (e->rdt != NULL) {
		free(e->rdt->clos_id);
		free(e->rdt->l3_schema);
		free(e->rdt->mb_schema);
		strlist_free(&e->rdt->schemata);
	}
	free(e->node);
	free(e->mount);
	free(e->hook);
	free(e->netdev);
	free(e->rdt);
	free(e->gid);
}

static void
free_annotations(struct cdi_annotations *a)
{
	strlist_free(&a->key);
	strlist_free(&a->value);
}

void
cdi_free(struct cdi_spec *s)
{
	size_t i;

	for (i = 0; i < s->devices; i++) {
		free(s->device[i].name);
		free_annotations(&s->device[i].annotations);
		free_edits(&s->device[i].edits);
	}
	free(s->device);
	free(s->version);
	free(s->kind);
	free_annotations(&s->annotations);
	free_edits(&s->edits);
	*s = (struct cdi_spec){ 0 };
}
