// SPDX-License-Identifier: Apache-2.0
// The file of a link: opened, locked and taken away with care for files that are not ours.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <weft/gpu/gpu_link.h>

int link_refuse_system(struct refusal *refusal, const char *path, const char *what);

// Locks of this open file on a byte: 0 is the run's, 1 + rank a generator's, the one behind those
// of all ranks that of who takes the file away.
int link_file_lock(int fd, off_t byte);
bool link_file_is_locked(int fd, off_t byte);

// Opens what is there: a regular file of this user that nobody else may write, and no symbolic
// link. Its descriptor; -ENOENT, -EINVAL, -EPERM, -errno of the system; with a reason.
int link_file_open(const char *path, struct refusal *refusal);

// Makes an empty file that is locked for the run, in place of what a run of this user left behind;
// without a path one without a name. Its descriptor; -EBUSY, -EEXIST, -errno; with a reason.
int link_file_make(const char *path, struct refusal *refusal);

// Takes away the name where it still is that of the open file. Another process may put a file of
// its own there between the look and the deed; the system has no call that does both.
void link_file_unname(int fd, const char *path);

// Takes away the name of an open link whose run has ended. -EEXIST: it is no link; -EBUSY: a run
// holds it; with a reason.
int link_file_sweep(int fd, const char *path, struct refusal *refusal);

// Memory of a file that others may cut: who touches a page that is gone gets private memory of
// zeros in its place, instead of a SIGBUS that ends the program.

// Guards a mapping. Returns its number, or -1 when too many are guarded.
int link_guard_add(void *base, size_t bytes);
void link_guard_remove(int guard);

// Whether its file lost a page that was touched: the mapping is private memory now.
bool link_guard_is_lost(int guard);

// Flags of both kinds.
static inline uint64_t link_flags(const struct gpu_link_header *header)
{
	return 2 * (uint64_t)header->rank_count * header->op_count;
}
