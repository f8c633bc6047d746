/* See capability.h. Root must call this while the process has its capabilities, CAP_SETPCAP among them. */
#include "capability.h"

#include <errno.h>
#include <linux/securebits.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef struct __user_cap_data_struct cap_words[2];

static struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };

/* Asks for the capabilities that this process has. chosen[] gets those of kept[n] among them. */
static bool
choose(const int *kept, size_t n, cap_words had, uint32_t chosen[2])
{
	size_t k;

	chosen[0] = chosen[1] = 0;
	if (syscall(SYS_capget, &head, had) == -1)
		return false;
	for (k = 0; k < n; k++)
		chosen[kept[k] / 32] |= had[kept[k] / 32].permitted & 1U << kept[k] % 32;
	return true;
}

/* Ends after the last capability, or at once without CAP_SETPCAP: such a process can't add capabilities either. */
static void
lock_up(void)
{
	const int locked = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED |
	    SECBIT_KEEP_CAPS_LOCKED;
	int cap;

	for (cap = 0; prctl(PR_CAPBSET_DROP, cap) == 0; cap++)
		continue;
	(void)prctl(PR_SET_SECUREBITS, locked);
}

int
capabilities_keep(const int *kept, size_t n, struct why *why)
{
	cap_words data = { { 0 } };
	uint32_t chosen[2];
	size_t i;

	if (!choose(kept, n, data, chosen))
		return refuse(why, WHY_BUG, "capget: %s", strerror(errno));
	lock_up();
	for (i = 0; i < 2; i++)
		data[i] = (struct __user_cap_data_struct){ .permitted = chosen[i], .effective = chosen[i] };
	if (syscall(SYS_capset, &head, data) == -1)
		return refuse(why, WHY_BUG, "capset: %s", strerror(errno));
	return 0;
}

bool
capabilities_begin_pass(const int *kept, size_t n)
{
	cap_words data = { { 0 } };
	uint32_t chosen[2];
	size_t i;

	if (!choose(kept, n, data, chosen))
		return false;
	for (i = 0; i < 2; i++)
		data[i].inheritable = chosen[i];
	/* without CAP_SETPCAP, which locking takes, this bit has the change of ids leave the capabilities */
	if (syscall(SYS_capset, &head, data) == -1 || prctl(PR_SET_KEEPCAPS, 1) == -1)
		return false;
	lock_up();
	return true;
}

bool
capabilities_pass(const int *kept, size_t n)
{
	cap_words data = { { 0 } };
	uint32_t chosen[2];
	size_t i;

	if (!choose(kept, n, data, chosen))
		return false;
	/* not effective: only a program that this process may not read is kept from other processes of its user */
	for (i = 0; i < 2; i++)
		data[i] = (struct __user_cap_data_struct){ .permitted = chosen[i], .inheritable = chosen[i] };
	if (syscall(SYS_capset, &head, data) == -1)
		return false;
	for (i = 0; i < n; i++)
		if ((chosen[kept[i] / 32] & 1U << kept[i] % 32) != 0 &&
		    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, kept[i], 0, 0) == -1)
			return false;
	return true;
}
