/*
 * libFuzzer entry for helper/read/cdi*.c and helper/cdi/cdi*.c.  The first byte selects JSON or YAML, and the
 * config.json that gets the edits of an accepted spec.
 *
 * Every fault is located inside the text, an accepted spec is complete, and the resulting config.json is valid.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../helper/ask/parsedcheck.h"
#include "../../helper/ask/parsedspec.h"
#include "../../helper/ctl/cdi/cdiapply.h"
#include "../../helper/json/doc.h"
#include "../../helper/read/cdi/cdispec.h"
#include "ask/parsedcheckspec.h"
#include "fuzz.h"

static const char *const configs[] = {
	"{}",
	"{\"ociVersion\":\"1.0.2\",\"process\":{\"user\":{\"uid\":1,\"gid\":2,\"additionalGids\":[5]},\"env\":[\"A=1\",\"B\"],\"cwd\":\"/\"},"
	"\"mounts\":[{\"destination\":\"/proc\"},{\"destination\":\"/a/b\"}],\"hooks\":{\"prestart\":[]},\"linux\":{\"namespaces\":[{\"type\":"
	"\"user\"}],\"devices\":[{\"path\":\"/dev/a\"}],\"resources\":{\"devices\":[{\"allow\":false}]},\"netDevices\":{\"e\":{}}}}",
	"{\"process\":null,\"linux\":{\"resources\":null}}",
	"{\"process\":{\"env\":{}}}",
};

static void
check_faults(const struct cdi_faults *f, const char *text, size_t len)
{
	size_t i, k, lines = 2;		/* libyaml sees a line end at the end of the text */

	for (k = 0; k < len; k++)
		lines += text[k] == '\n' || text[k] == '\r' || text[k] == '\x85' || text[k] == '\xa8' || text[k] == '\xa9';
	must(f->n <= CDI_FAULTS_MAX && f->n <= f->invalid + f->unsafe + f->warnings);
	for (i = 0; i < f->n; i++) {
		must(f->v[i].line <= lines && (f->v[i].line == 0 || f->v[i].column >= 1) && f->v[i].column <= len + 1);
		must(f->v[i].text[0] != '\0' && text_is_utf8(f->v[i].text, strlen(f->v[i].text)));
		must(text_is_utf8(f->v[i].path, strlen(f->v[i].path)) && strpbrk(f->v[i].text, "\n\r\x1b") == NULL);
	}
}

static void
check_edits(const struct cdi_edits *e)
{
	size_t i;

	for (i = 0; i < e->env.n; i++)
		must(strchr(e->env.v[i], '=') > e->env.v[i]);
	for (i = 0; i < e->nodes; i++)
		must(e->node[i].path != NULL && e->node[i].path[0] != '\0' && strchr("bcup", e->node[i].type) != NULL);
	for (i = 0; i < e->mounts; i++)
		must(e->mount[i].host_path[0] != '\0' && e->mount[i].container_path[0] != '\0');
	for (i = 0; i < e->hooks; i++)
		must(e->hook[i].path[0] != '\0' && e->hook[i].when < CDI_HOOKS);
	for (i = 0; i < e->netdevs; i++)
		must(e->netdev[i].host[0] != '\0' && e->netdev[i].name[0] != '\0');
}

static void
check_apply(const char *config, const struct cdi_merged *m)
{
	struct why why = { 0 };
	struct doc d;
	size_t len;
	char *out;

	if ((out = cdi_apply(config, strlen(config), m, &len, &why)) == NULL) {
		must(why.code == WHY_DATA && why.text[0] != '\0');
		return;
	}
	must(doc_parse(&d, out, len, &why) == 0 && doc_is(&d, 0, DOC_OBJECT));
	doc_free(&d);
	free(out);
}

/* With complete nodes, as the host would fill them in. */
static void
apply(const struct cdi_spec *s, const char *config)
{
	const struct cdi_edits *v[2];
	struct cdi_merged m = { .v = v, .n = 2 };
	char name[512];
	size_t i, k, n;

	for (i = 0; i < s->devices && i < 8; i++) {
		check_edits(&s->device[i].edits);
		must(cdi_device_name_ok(s->device[i].name));
		if (strlen(s->kind) + strlen(s->device[i].name) < sizeof(name) - 1) {
			snprintf(name, sizeof(name), "%s=%s", s->kind, s->device[i].name);
			must(cdi_name_is_qualified(name));
		}
		v[0] = &s->edits;
		v[1] = &s->device[i].edits;
		n = s->edits.nodes + s->device[i].edits.nodes;
		if ((m.node = calloc(n + 1, sizeof(*m.node))) == NULL)
			abort();
		m.nodes = 0;
		for (k = 0; k < s->edits.nodes; k++)
			m.node[m.nodes++] = s->edits.node[k];
		for (k = 0; k < s->device[i].edits.nodes; k++)
			m.node[m.nodes++] = s->device[i].edits.node[k];
		for (k = 0; k < m.nodes; k++)
			if (m.node[k].type == 0)
				m.node[k].type = 'c';
		check_apply(config, &m);
		free(m.node);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cdi_faults f = { 0 };
	struct cdi_spec s;
	const char *text;
	struct why why;
	bool read;

	if (size == 0)
		return 0;
	text = (const char *)data + 1;
	read = cdi_parse(&s, data[0] & 1 ? CDI_YAML : CDI_JSON, text, size - 1, &f);
	must(read == (f.invalid == 0) && !f.starved && f.warnings == 0);
	if (read)
		cdi_warn(&s, &f);
	cdi_faults_sort(&f);
	check_faults(&f, text, size - 1);
	if (read) {
		must(s.devices > 0);
		/* the helper accepts what its reader considers safe */
		must(f.unsafe > 0 || parsed_check_spec(&s, &why) == 0);
		check_edits(&s.edits);
		apply(&s, configs[data[0] >> 1 & 3]);
	}
	cdi_free(&s);
	cdi_faults_free(&f);
	return 0;
}
