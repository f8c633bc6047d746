/*
 * ctl/gpus/healthlog.c: finds a GPU's faults in the kernel's log, and ignores lines that only look like
 * them.
 */
#include <stdio.h>
#include <string.h>

#include "ctl/gpus/healthlog.h"
#include "tap.h"

static void
test_record(void)
{
	static const char *const none[] = { "", "6", "6,1", "6,1,2,-", ";", "x,1,2,-;t", "6,;t", "6,1;t", "6,1,2;t", "6,1,x,-;t",
		" SUBSYSTEM=pci", " DEVICE=+pci:0000:03:00.0", "-1,1,2,-;t" };
	/* a process's, and parts of a line */
	static const char *const others[] = { "14,9,2,-;t", "8,9,2,-;t", "6,9,2,c;t", "6,9,2,+;t", "6,9,2,c,caller=T1;t", "6,9,2,;t",
		"6,9,2,-c;t" };
	const char *text;
	uint64_t n;
	size_t i;

	ok(kmsg_read("6,339,5140900,-;NVRM: loading", &n, &text) && n == 339 &&
	    strcmp(text, "NVRM: loading") == 0,
	    "a record of the kernel is read");
	ok(kmsg_read("3,7,1,-,caller=T1;a;b", &n, &text) && n == 7 && strcmp(text, "a;b") == 0,
	    "a record with more fields is read");
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		ok(kmsg_read(others[i], &n, &text) && n == 9 && text == NULL,
		    "a record that a user may have chosen the beginning of has no text: %s", others[i]);
	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		ok(!kmsg_read(none[i], &n, &text), "this is no record of the kernel: %s", none[i]);
}

static void
test_sick(void)
{
	static const struct {
		const char *text, *pci, *why;
	} sick[] = {
		{ "NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.", "0000:3b:00.0",
		  "Xid 79, fallen off the bus" },
		{ "NVRM: Xid (PCI:0000:3B:00): 48, pid=1, DBE", "0000:3b:00.0", "Xid 48, uncorrectable memory error" },
		{ "NVRM: Xid (PCI:0001:00:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)",
		  "0001:00:00.0", "Xid 154, its driver asks for a reset" },
		{ "amdgpu 0000:03:00.0: [drm] device wedged, needs recovery", "0000:03:00.0", "wedged (kernel log)" },
		{ "amdgpu 0000:03:00.0: amdgpu: GPU Recovery Failed: -22", "0000:03:00.0", "its reset failed (kernel log)" },
		{ "xe 0000:0a:00.0: [drm] *ERROR* CRITICAL: Xe has declared device 0000:0a:00.0 as wedged.", "0000:0a:00.0",
		  "wedged (kernel log)" },
	};
	char pci[16], why[HEALTH_WHY];
	size_t i;

	for (i = 0; i < sizeof(sick) / sizeof(sick[0]); i++)
		ok(health_of_text(sick[i].text, pci, why) && strcmp(pci, sick[i].pci) == 0 && strcmp(why, sick[i].why) == 0, "%s",
		    sick[i].text);
}

static void
test_well(void)
{
	static const char *const well[] = {
		"", "NVRM: Xid", "NVRM: Xid (PCI:", "NVRM: Xid (PCI:0000:3b:00", "NVRM: Xid (PCI:0000:3b:00): ",
		"NVRM: Xid (PCI:0000:3b:00): 13, pid=7, name=NVRM: Xid (PCI:0000:3b:00): 79,",
		"NVRM: Xid (PCI:0000:3b:00): 31, pid=1, name=x", "NVRM: Xid (PCI:0000:3b:00): 43, pid=1", "NVRM: Xid (PCI:0000:3b:00): 94, contained",
		"NVRM: Xid (PCI:0000:3b:00): 790, pid=1", "NVRM: Xid (PCI:zz): 79,", "NVRM: Xid (PCI:): 79,",
		"NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)",
		"NVRM: Xid (PCI:0000:3b:00): 154, name=, GPU recovery action changed from 0x0 (None) to 0x1 (x)",
		"[drm] NVRM: Xid (PCI:0000:3b:00): 79, a", "python3[7]: NVRM: Xid (PCI:0000:3b:00): 79, a",
		"amdgpu 0000:03:00.0: [drm] device wedged, but recovered through reset", "amdgpu: [drm] device wedged, needs recovery",
		"amdgpu 0000:03:00.0 [drm] device wedged, needs recovery", "usb 0000:03:00.0: [drm] device wedged, needs recovery",
		"amdgpu 0000:03:00.0: amdgpu: Process x amdgpu: GPU Recovery Failed: 1", "amdgpu :: [drm] device wedged, needs recovery",
		"amdgpu 00000000000000000000000000000000000000:03:00.0: [drm] device wedged, needs recovery",
	};
	char pci[16], why[HEALTH_WHY];
	size_t i;

	for (i = 0; i < sizeof(well) / sizeof(well[0]); i++)
		ok(!health_of_text(well[i], pci, why), "this line reports no fault: %s", well[i]);
}

int
main(void)
{
	test_record();
	test_sick();
	test_well();
	return done_testing();
}
