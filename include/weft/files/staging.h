// SPDX-License-Identifier: Apache-2.0
// The folder of a result while it is written: another one beside it, hidden and locked, that takes
// its place whole, at the end, by one rename.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/refusal.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STAGING_PATH_BYTES 4096

struct staging {
	char path[STAGING_PATH_BYTES]; // where the result will lie, whole and without links
	char part[STAGING_PATH_BYTES]; // where it is written: .NAME.weft-part beside it
	const char *named;	       // the caller's word for it, good until the end, as are
	const char *const *names;      // what it writes there beside a result, NULL behind the last
	int lock;		       // the open folder `part`, locked
	uint64_t made;		       // a bit of each folder on the way that was not there
	bool is_begun, is_there, is_inside;
};

// Makes a folder to write a result in that will lie at `path`. Parents that are not there are made.
// A folder at `path` may be empty, or, with --force, hold what results hold (and `names`, or
// NULL) and no file that was read. What a killed run has
// left is taken away. -EBUSY where another run writes the same; else -errno with a reason; then
// nothing is changed.
//
// Where `path` is a mount, the folder that this program stands in, or in a folder that cannot be
// written, `part` lies inside of it, and its files take their places one by one.
int staging_begin(struct staging *ret, const char *path, const char *const *names,
		  struct refusal *refusal);

// Where to write a file that is asked for at `file`: true, and a path in `part`, when that lies in
// the folder at `path`; else false, and `file` itself.
bool staging_place(const struct staging *staging, const char *file, char ret[STAGING_PATH_BYTES]);

// Writes all to the disk and puts the folder in its place; one that was there is removed. Does
// nothing where nothing was begun. -errno with a reason, which says where the result lies then: in
// a folder that no other run clears.
int staging_end(struct staging *staging, struct refusal *refusal);

// Takes away what was begun and not ended.
void staging_abandon(struct staging *staging);

// Whether results have files of this name.
bool staging_is_name(const char *name);

// Locks a folder that lives longer than a call, until the process ends: -EBUSY where another one
// has it.
int staging_lock(const char *path, struct refusal *refusal);

#ifdef __cplusplus
}
#endif
