/*
 * libFuzzer entry for the kernel's texts in helper/gpu/gpu.c.  The first byte selects the text: «d» /proc/devices,
 * «n» ADDRESS LF an NVIDIA information file, «p» NVIDIA's params, «k» a kfd gpu_id up to its LF and then properties,
 * «a» a PCI address.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../helper/base/text.h"
#include "../../helper/gpu/gpufacts.h"
#include "../../helper/gpu/gpufind.h"
#include "fuzz.h"

static void
check_why(const struct why *why)
{
	must(why->code != WHY_NONE && why->code != WHY_BUG && text_is_utf8(why->text, strlen(why->text)));
}

static void
try_devices(const char *text)
{
	struct devmajors m;
	struct why why = { 0 };
	uint32_t major;
	size_t i;

	if (devmajors_parse(text, &m, &why) == -1) {
		check_why(&why);
		must(m.n == 0 && m.v == NULL);
		return;
	}
	for (i = 0; i < m.n; i++) {
		must(m.v[i].major >= 1 && m.v[i].major <= 4095 && (m.v[i].type == 'c' || m.v[i].type == 'b'));
		must(m.v[i].name[0] != '\0' && m.v[i].name[0] != ' ');
		if (m.v[i].type == 'c' && devmajors_char(&m, m.v[i].name, &major))
			must(major == m.v[i].major);
		if (m.v[i].type == 'c' && strncmp(m.v[i].name, "nvidia", 6) == 0)
			must(devmajors_is_gpu(&m, m.v[i].major));
	}
	must(devmajors_is_gpu(&m, 195) && devmajors_is_gpu(&m, 226) && devmajors_is_gpu(&m, 261));
	devmajors_free(&m);
}

static void
try_information(char *text)
{
	char *rest = strchr(text, '\n'), pci[16];
	struct why why = { 0 };
	uint32_t minor = UINT32_MAX;
	struct gpu g;

	if (rest == NULL)
		return;
	*rest++ = '\0';
	if (nvidia_information_parse(text, rest, &g, &minor, &why) == -1) {
		check_why(&why);
		must(g.unusable[0] != '\0' && g.vendor == GPU_NVIDIA);
		return;
	}
	must(minor <= 247 && pci_address_normalise(g.pci, pci) && strcmp(g.pci, pci) == 0);
	must(g.uuid[0] == '\0' || (strlen(g.uuid) == 40 && gpu_is_named(&g, g.uuid, false)));
	must(gpu_is_named(&g, g.pci, false) && text_is_utf8(g.model, strlen(g.model)));
}

static void
try_kfd(char *text)
{
	char *rest = strchr(text, '\n'), *id, out[64];
	struct why why = { 0 };
	struct kfd_node k;

	if (rest == NULL)
		return;
	if ((id = strndup(text, (size_t)(rest - text) + 1)) == NULL)
		abort();
	if (kfd_node_parse(id, rest + 1, &k, &why) == -1)
		check_why(&why);
	else {
		must(k.drm_render_minor == -1 || (k.drm_render_minor >= 128 && k.drm_render_minor < 1 << 20));
		if (kfd_node_address(&k, out))
			must(pci_address_normalise(out, out + 16) && strcmp(out, out + 16) == 0);
		kfd_node_model(&k, out, sizeof(out));
		(void)kfd_node_is_gpu(&k);
		(void)kfd_node_integrated(&k);
	}
	free(id);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), one[16], two[16];
	struct inventory inv = { 0 };

	if (text == NULL)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	switch (text[0]) {
	case 'd':
		try_devices(text + 1);
		break;
	case 'n':
		try_information(text + 1);
		break;
	case 'p':
		nvidia_params_parse(text + 1, &inv);
		must(inv.nvidia_mode <= 0777 && inv.nvidia_uid != UINT32_MAX && inv.nvidia_gid != UINT32_MAX);
		break;
	case 'k':
		try_kfd(text + 1);
		break;
	case 'a':
		if (pci_address_normalise(text + 1, one))
			must(pci_address_normalise(one, two) && strcmp(one, two) == 0);
	}
	free(text);
	return 0;
}
