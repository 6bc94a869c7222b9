// SPDX-License-Identifier: Apache-2.0
// A study in one SQLite file: what it is of, and one row for each run. A run is keyed by what it is
// (scenario, setting, seed), so that none is there twice and none is done twice. One process
// writes; others may read at any time. Without SQLite all of these refuse.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/refusal.h>
#include <weft/study/report_study.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tune_store;

enum tune_store_use { TUNE_STORE_NEW, TUNE_STORE_WRITE, TUNE_STORE_READ };

// What a row is keyed by.
struct tune_run_key {
	const char *scenario; // as the command line has it
	const char *setting;  // the name of the point
	uint64_t seed;
};

// Whether this build has SQLite.
bool tune_store_is_built(void);

// Opens the study at `path`. TUNE_STORE_NEW makes it, where no study may be, and notes `command` in
// it, the words that it was asked for with. -errno with the reason: no such file, no study, one of
// another commit than `version` (for writers), one that another process writes, a full or read-only
// disk; -ENOTSUP without SQLite.
int tune_store_open(struct tune_store **ret, const char *path, enum tune_store_use use,
		    const char *version, const char *command, struct refusal *refusal);
void tune_store_close(struct tune_store *store);

// Facts about the study by name: its version, its command. The caller frees *ret_value; NULL: none.
int tune_store_fact(struct tune_store *store, const char *name, char **ret_value,
		    struct refusal *refusal);
int tune_store_note(struct tune_store *store, const char *name, const char *value,
		    struct refusal *refusal);

// Looks for a run. 1: it is in `ret`; 0: it has not been made; -errno with the reason.
int tune_store_find(struct tune_store *store, const struct tune_run_key *key, struct study_run *ret,
		    struct refusal *refusal);

// Writes one, whole or not at all, also where the process is killed.
int tune_store_put(struct tune_store *store, const struct tune_run_key *key,
		   const struct study_run *run, struct refusal *refusal);

// Takes the rows and facts of the study at `path`, a part of the same one, all or none; *ret_rows:
// those that were not there. -errno with the reason: no part of this one, by the fact that differs;
// a run that came to something else.
int tune_store_merge(struct tune_store *store, const char *path, uint64_t *ret_rows,
		     struct refusal *refusal);

// Rows.
int tune_store_count(struct tune_store *store, uint64_t *ret, struct refusal *refusal);

#ifdef __cplusplus
}
#endif
