// SPDX-License-Identifier: Apache-2.0
// What stands in for the store in a build without SQLite.

#include <weft/tune/store.h>

#include <errno.h>

static int refuse_store(struct refusal *refusal)
{
	return refuse(
		refusal, -ENOTSUP,
		"this build has no SQLite, which a study is kept in; install libsqlite3-dev and "
		"build again");
}

bool tune_store_is_built(void)
{
	return false;
}

int tune_store_open(struct tune_store **ret, const char *path, enum tune_store_use use,
		    const char *version, const char *command, struct refusal *refusal)
{
	*ret = NULL;
	return refuse_store(refusal);
}

void tune_store_close(struct tune_store *store)
{
}

int tune_store_fact(struct tune_store *store, const char *name, char **ret_value,
		    struct refusal *refusal)
{
	*ret_value = NULL;
	return refuse_store(refusal);
}

int tune_store_note(struct tune_store *store, const char *name, const char *value,
		    struct refusal *refusal)
{
	return refuse_store(refusal);
}

int tune_store_find(struct tune_store *store, const struct tune_run_key *key, struct study_run *ret,
		    struct refusal *refusal)
{
	return refuse_store(refusal);
}

int tune_store_put(struct tune_store *store, const struct tune_run_key *key,
		   const struct study_run *run, struct refusal *refusal)
{
	return refuse_store(refusal);
}

int tune_store_merge(struct tune_store *store, const char *path, uint64_t *ret_rows,
		     struct refusal *refusal)
{
	*ret_rows = 0;
	return refuse_store(refusal);
}

int tune_store_count(struct tune_store *store, uint64_t *ret, struct refusal *refusal)
{
	return refuse_store(refusal);
}
