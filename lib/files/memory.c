// SPDX-License-Identifier: Apache-2.0
// Memory from the system: reserved at once, backed by pages only where it is touched.

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <weft/core/arena.h>
#include <weft/files/files.h>

void *memory_reserve(size_t bytes)
{
	void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED)
		return NULL;
	madvise(base, bytes,
		MADV_HUGEPAGE); // free speed where the system gives it; its refusal changes nothing
	return base;
}

void memory_release(void *base, size_t bytes)
{
	munmap(base, bytes);
}

int memory_arena(struct arena *ret, size_t bytes, struct refusal *refusal)
{
	void *memory = memory_reserve(bytes);
	if (memory == NULL)
		return refuse(refusal, -ENODEV, "cannot reserve % MiB: lower limits.memory",
			      (int64_t)(bytes >> 20));
	arena_init(ret, memory, bytes);
	return 0;
}

uint64_t memory_available_bytes(void)
{
	unsigned long long kib = 0;
	char line[256];
	FILE *file = fopen("/proc/meminfo", "r");
	if (file == NULL)
		return UINT64_MAX;
	while (fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
			break;
	fclose(file);
	return kib == 0 ? UINT64_MAX : kib * 1024;
}

uint64_t memory_peak_bytes(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)usage.ru_maxrss * 1024; // Linux counts in KiB
}
