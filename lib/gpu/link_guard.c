// SPDX-License-Identifier: Apache-2.0
// See link_file.h.

#include "link_file.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>

#define GUARDS 16

static struct {
	uintptr_t base; // atomic; 0: free
	size_t bytes;
	uint32_t is_lost; // atomic
} guards[GUARDS];

static struct sigaction before;

static bool replace(uint32_t i, uintptr_t at)
{
	uintptr_t base = __atomic_load_n(&guards[i].base, __ATOMIC_ACQUIRE);
	if (base == 0 || at - base >= guards[i].bytes)
		return false;
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
	if (mmap((void *)base, guards[i].bytes, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED)
		return false;
	__atomic_store_n(&guards[i].is_lost, 1u, __ATOMIC_RELEASE);
	return true;
}

// What is not guarded is whoever's it was before: the same access faults again and finds that, and
// what somebody sent comes once more.
static void take_fault(int signal, siginfo_t *info, void *context)
{
	int error = errno;
	bool is_replaced = false;
	for (uint32_t i = 0; info->si_code > 0 && !is_replaced && i < GUARDS; i++)
		is_replaced = replace(i, (uintptr_t)info->si_addr);
	if (!is_replaced)
		sigaction(signal, &before, NULL);
	if (info->si_code <= 0)
		raise(signal);
	errno = error;
}

static bool install(void)
{
	static bool is_installed;
	struct sigaction action = {.sa_sigaction = take_fault, .sa_flags = SA_SIGINFO};
	sigemptyset(&action.sa_mask);
	is_installed = is_installed || sigaction(SIGBUS, &action, &before) == 0;
	return is_installed;
}

int link_guard_add(void *base, size_t bytes)
{
	for (int i = 0; install() && i < GUARDS; i++) {
		if (__atomic_load_n(&guards[i].base, __ATOMIC_RELAXED) != 0)
			continue;
		guards[i].bytes = bytes;
		guards[i].is_lost = 0;
		__atomic_store_n(&guards[i].base, (uintptr_t)base, __ATOMIC_RELEASE);
		return i;
	}
	return -1;
}

void link_guard_remove(int guard)
{
	if (guard >= 0)
		__atomic_store_n(&guards[guard].base, (uintptr_t)0, __ATOMIC_RELEASE);
}

bool link_guard_is_lost(int guard)
{
	return guard >= 0 && __atomic_load_n(&guards[guard].is_lost, __ATOMIC_ACQUIRE) != 0;
}
