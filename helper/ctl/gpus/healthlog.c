/* See healthlog.h. */
#include "healthlog.h"

#include <stdio.h>
#include <string.h>

#include "../../base/text.h"
#include "../../gpu/gpu.h"

#define PCI_CHARS "0123456789abcdefABCDEF:."

/* Errors after which the GPU must be reset or the host restarted (docs.nvidia.com/deploy/xid-errors). */
static const struct {
	unsigned xid;
	const char *what;
} xids[] = {
	{ 48, "uncorrectable memory error" }, { 62, "internal micro-controller halt" }, { 64, "row remapping failed" },
	{ 79, "fallen off the bus" }, { 95, "uncontained memory error" }, { 119, "GSP does not answer" },
	{ 120, "GSP error" }, { 140, "unrecovered memory error" }, { 143, "initialisation failed" },
};

/* The driver's own judgement: «GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)». */
#define XID_RECOVERY 154

/* Messages after «DRIVER PCI: » (drivers/gpu/drm/drm_drv.c, xe_device.c, amdgpu_job.c). */
static const struct {
	const char *begins, *what;
} drm[] = {
	{ "[drm] device wedged, needs recovery", "wedged" },
	{ "[drm] *ERROR* CRITICAL: Xe has declared device", "wedged" },
	{ "amdgpu: GPU Recovery Failed", "its reset failed" },
};

/* Reads a decimal number at *at, and moves *at behind it. False if there is none or it is too large. */
static bool
take_number(const char **at, uint64_t *n)
{
	const char *begin = *at;

	for (*n = 0; **at >= '0' && **at <= '9' && *at - begin < 18; ++*at)
		*n = *n * 10 + (uint64_t)(**at - '0');
	return *at > begin && (**at < '0' || **at > '9');
}

bool
kmsg_read(const char *line, uint64_t *number, const char **text)
{
	const char *at = line;
	uint64_t prefix, time;
	bool whole;

	if (!take_number(&at, &prefix) || *at++ != ',' || !take_number(&at, number) || *at++ != ',' ||
	    !take_number(&at, &time) || *at++ != ',')
		return false;
	/* «c» begins a line in parts, «+» goes on with it */
	whole = at[0] == '-' && (at[1] == ';' || at[1] == ',');
	if ((at = strchr(at, ';')) == NULL)
		return false;
	/* the facility is above three bits of priority; 0 is the kernel, for which no process can write */
	*text = whole && prefix < 8 ? at + 1 : NULL;
	return true;
}

/* Reads an address of n characters; in NVIDIA's spelling it has no function. */
static bool
take_address(const char *s, size_t n, bool whole, char pci[16])
{
	char text[24];

	if (n == 0 || n > 16)
		return false;
	snprintf(text, sizeof(text), "%.*s%s", (int)n, s, whole ? "" : ".0");
	return pci_address_normalise(text, pci);
}

static bool
classify_xid(uint64_t xid, const char *rest, char why[HEALTH_WHY])
{
	const char *to;
	size_t i;

	for (i = 0; i < sizeof(xids) / sizeof(xids[0]); i++)
		if (xids[i].xid == xid) {
			snprintf(why, HEALTH_WHY, "Xid %u, %s", xids[i].xid, xids[i].what);
			return true;
		}
	if (xid != XID_RECOVERY || !text_starts(rest, ", GPU recovery action changed from ") ||
	    (to = strstr(rest, ") to 0x")) == NULL || strspn(to + 7, "0") == strspn(to + 7, "0123456789abcdefABCDEF"))
		return false;
	snprintf(why, HEALTH_WHY, "Xid 154, its driver asks for a reset");
	return true;
}

/* «NVRM: Xid (PCI:0000:3b:00): 79, pid=…». */
static bool
read_xid(const char *text, char pci[16], char why[HEALTH_WHY])
{
	static const char begins[] = "NVRM: Xid (PCI:";
	const char *at = text + strlen(begins);
	uint64_t xid;
	size_t n;

	if (!text_starts(text, begins))
		return false;
	n = strspn(at, PCI_CHARS);
	if (!take_address(at, n, false, pci) || !text_starts(at + n, "): "))
		return false;
	at += n + 3;
	return take_number(&at, &xid) && classify_xid(xid, at, why);
}

/* «amdgpu 0000:03:00.0: …». */
static bool
read_drm(const char *text, char pci[16], char why[HEALTH_WHY])
{
	static const char *const drivers[] = { "amdgpu ", "i915 ", "xe ", "nouveau " };
	const char *at = NULL;
	size_t i, n;

	for (i = 0; at == NULL && i < sizeof(drivers) / sizeof(drivers[0]); i++)
		if (text_starts(text, drivers[i]))
			at = text + strlen(drivers[i]);
	if (at == NULL)
		return false;
	n = strspn(at, PCI_CHARS);
	if (n < 2 || at[n - 1] != ':' || at[n] != ' ' || !take_address(at, n - 1, true, pci))
		return false;
	for (i = 0; i < sizeof(drm) / sizeof(drm[0]); i++)
		if (text_starts(at + n + 1, drm[i].begins)) {
			snprintf(why, HEALTH_WHY, "%s (kernel log)", drm[i].what);
			return true;
		}
	return false;
}

bool
health_of_text(const char *text, char pci[16], char why[HEALTH_WHY])
{
	return read_xid(text, pci, why) || read_drm(text, pci, why);
}
