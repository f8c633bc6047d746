/* See capability.h. Root must call this while the process has its capabilities, CAP_SETPCAP among them. */
#include "capability.h"

#include <errno.h>
#include <linux/securebits.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int
capabilities_keep(const int *kept, size_t n, struct why *why)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 } };
	int cap, locked = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED |
	    SECBIT_KEEP_CAPS_LOCKED;
	uint32_t had;
	size_t i, k;

	if (syscall(SYS_capget, &head, data) == -1)
		return refuse(why, WHY_BUG, "capget: %s", strerror(errno));
	/* ends after the last capability, or at once without CAP_SETPCAP: such a process can't add capabilities either */
	for (cap = 0; prctl(PR_CAPBSET_DROP, cap) == 0; cap++)
		continue;
	(void)prctl(PR_SET_SECUREBITS, locked);
	for (i = 0; i < 2; i++) {
		had = data[i].permitted;
		data[i] = (struct __user_cap_data_struct){ 0 };
		for (k = 0; k < n; k++)
			if ((size_t)kept[k] / 32 == i)
				data[i].permitted |= had & 1U << kept[k] % 32;
		data[i].effective = data[i].permitted;
	}
	if (syscall(SYS_capset, &head, data) == -1)
		return refuse(why, WHY_BUG, "capset: %s", strerror(errno));
	return 0;
}
