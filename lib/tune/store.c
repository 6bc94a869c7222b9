// SPDX-License-Identifier: Apache-2.0
// The store in SQLite, in WAL mode: a row is written whole or not at all, and readers see a study
// that is being written without holding it up. Beside SQLite's own locks, which last as long as a
// row, a lock on the file lasts as long as its writer.

#include <weft/tune/store.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include <sqlite3.h>

#define APPLICATION_ID 0x77656674 // "weft"
#define FORMAT 2
#define BUSY_MS 10000
#define SQL_BYTES 8192
#define URI_BYTES 4096
#define LOCK_TRIES 40 // of 50 ms: runs of a killed writer end soon after it
#define FIXED_COLUMNS 12

struct tune_store {
	sqlite3 *database;
	sqlite3_stmt *find, *put;
	int lock; // the file, locked by its writer; -1: a reader
	char path[256];
};

bool tune_store_is_built(void)
{
	return true;
}

// ---------------------------------------------------------------- refusals

// What SQLite says, as an errno.
static int refuse_sqlite(struct tune_store *store, struct refusal *refusal)
{
	int code = sqlite3_errcode(store->database) & 0xff;
	int rc = code == SQLITE_FULL				     ? -ENOSPC
		: code == SQLITE_NOTADB || code == SQLITE_CORRUPT    ? -EINVAL
		: code == SQLITE_READONLY || code == SQLITE_CANTOPEN ? -EROFS
		: code == SQLITE_BUSY || code == SQLITE_LOCKED	     ? -EBUSY
								     : -EIO;
	const char *reason = code == SQLITE_NOTADB ? "this is not a study of weft tune"
						   : sqlite3_errmsg(store->database);
	return refuse_file(refusal, rc, store->path, reason);
}

static int perform(struct tune_store *store, const char *sql, struct refusal *refusal)
{
	if (sqlite3_exec(store->database, sql, NULL, NULL, NULL) == SQLITE_OK)
		return 0;
	return refuse_sqlite(store, refusal);
}

// The one number that a statement gives.
static int ask(struct tune_store *store, const char *sql, int64_t *ret, struct refusal *refusal)
{
	sqlite3_stmt *statement;
	if (sqlite3_prepare_v2(store->database, sql, -1, &statement, NULL) != SQLITE_OK)
		return refuse_sqlite(store, refusal);
	int code = sqlite3_step(statement);
	*ret = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
	int rc = code == SQLITE_ROW ? 0 : refuse_sqlite(store, refusal);
	sqlite3_finalize(statement);
	return rc;
}

// ---------------------------------------------------------------- tables

// Names of the figures, each behind a comma and with `behind` after it.
static void add_figures(char *sql, const char *behind)
{
	size_t used = strlen(sql);
	for (uint32_t i = 0; i < report_study_figures(); i++)
		used += (size_t)snprintf(sql + used, SQL_BYTES - used, ", %s%s",
					 report_study_figure_name(i), behind);
}

// All at once: a study without its command would be of no use.
static int make(struct tune_store *store, const char *version, const char *command,
		struct refusal *refusal)
{
	char sql[SQL_BYTES];
	snprintf(sql, sizeof(sql),
		 "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; BEGIN; "
		 "PRAGMA application_id=%d; PRAGMA user_version=%d; "
		 "CREATE TABLE facts(name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID; "
		 "CREATE TABLE runs(scenario TEXT, setting TEXT, seed INTEGER, complete INTEGER, "
		 "imprecise INTEGER, dead INTEGER, ended TEXT, digest TEXT, cpu_s REAL, "
		 "passed INTEGER, passed_s REAL, passed_value REAL",
		 APPLICATION_ID, FORMAT);
	add_figures(sql, " REAL");
	size_t used = strlen(sql);
	snprintf(sql + used, sizeof(sql) - used,
		 ", PRIMARY KEY(scenario, setting, seed)) WITHOUT ROWID;");
	int rc = perform(store, sql, refusal);
	if (rc == 0)
		rc = tune_store_note(store, "version", version, refusal);
	if (rc == 0)
		rc = tune_store_note(store, "command", command, refusal);
	return rc < 0 ? rc : perform(store, "COMMIT", refusal);
}

static int refuse_foreign(struct tune_store *store, struct refusal *refusal)
{
	return refuse_file(refusal, -EINVAL, store->path, "this is not a study of weft tune");
}

// A study that is there. *ret_empty: nothing is there, or what a maker left that was killed.
static int check_study(struct tune_store *store, bool *ret_empty, struct refusal *refusal)
{
	int64_t id = 0, format = 0, tables = 0;
	int rc = ask(store, "PRAGMA application_id", &id, refusal);
	if (rc == 0)
		rc = ask(store, "PRAGMA user_version", &format, refusal);
	if (rc == 0)
		rc = ask(store, "SELECT count(*) FROM sqlite_master", &tables, refusal);
	*ret_empty = rc == 0 && id == 0 && tables == 0;
	if (rc < 0 || *ret_empty)
		return rc;
	if (id != APPLICATION_ID)
		return refuse_foreign(store, refusal);
	if (format != FORMAT)
		return refuse_file(
			refusal, -EINVAL, store->path,
			"this study has another format; the weft that wrote it reads it");
	return 0;
}

static int prepare(struct tune_store *store, bool is_writer, struct refusal *refusal)
{
	char find[SQL_BYTES] =
		"SELECT scenario, setting, seed, complete, imprecise, dead, ended, digest, cpu_s, "
		"passed, passed_s, passed_value";
	char put[SQL_BYTES] = "INSERT INTO runs VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?";
	add_figures(find, "");
	strcat(find, " FROM runs WHERE scenario=? AND setting=? AND seed=?");
	for (uint32_t i = 0; i < report_study_figures(); i++)
		strcat(put, ", ?");
	strcat(put, ")");
	if (sqlite3_prepare_v2(store->database, find, -1, &store->find, NULL) == SQLITE_OK &&
	    (!is_writer ||
	     sqlite3_prepare_v2(store->database, put, -1, &store->put, NULL) == SQLITE_OK))
		return 0;
	return refuse_sqlite(store, refusal);
}

// ---------------------------------------------------------------- opening

// Its writer's lock. A file that is not there yet is made first, so that two cannot both make a
// study.
static int take_lock(struct tune_store *store, const char *path, enum tune_store_use use,
		     struct refusal *refusal)
{
	const struct timespec pause = {.tv_nsec = 50000000};
	int flags = O_RDWR | O_CLOEXEC | (use == TUNE_STORE_NEW ? O_CREAT : 0);
	store->lock = open(path, flags, 0666);
	if (store->lock < 0)
		return refuse_file(refusal, -errno, path, strerror(errno));
	for (int i = 0; i < LOCK_TRIES; i++) {
		if (flock(store->lock, LOCK_EX | LOCK_NB) == 0)
			return 0;
		nanosleep(&pause, NULL);
	}
	return refuse_file(refusal, -EBUSY, path, "another process writes this study");
}

static int check_version(struct tune_store *store, const char *version, struct refusal *refusal)
{
	char *there, reason[256];
	int rc = tune_store_fact(store, "version", &there, refusal);
	if (rc == 0 && (there == NULL || strcmp(there, version) != 0)) {
		snprintf(reason, sizeof(reason), "this study is of %.80s, and this is %.80s", there,
			 version);
		rc = refuse_file(refusal, -EINVAL, store->path, reason);
	}
	free(there);
	return rc;
}

// A path as SQLite's URIs have it, before `suffix`.
static void write_uri(char ret[URI_BYTES], const char *path, const char *suffix)
{
	size_t used = (size_t)snprintf(ret, URI_BYTES, "file:");
	for (; *path != '\0' && used + 4 < URI_BYTES; path++)
		used += (size_t)snprintf(ret + used, URI_BYTES - used,
					 strchr("%?#'", *path) != NULL ? "%%%02x" : "%c",
					 (uint8_t)*path);
	snprintf(ret + used, URI_BYTES - used, "%s", suffix);
}

// A reader of WAL makes files beside the study. Where it may not, it reads a study that nobody
// writes as the file that it is.
static const char *reader_mode(const char *path)
{
	char beside[URI_BYTES];
	snprintf(beside, sizeof(beside), "%s-wal", path);
	bool is_written = access(beside, F_OK) == 0;
	snprintf(beside, sizeof(beside), "%s", path);
	const char *folder = strchr(path, '/') != NULL ? dirname(beside) : ".";
	return access(folder, W_OK) == 0 || is_written ? "?mode=ro" : "?mode=ro&immutable=1";
}

static int open_database(struct tune_store *store, const char *path, enum tune_store_use use,
			 struct refusal *refusal)
{
	char uri[URI_BYTES];
	bool is_empty;
	int flags = use == TUNE_STORE_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
	if (use == TUNE_STORE_READ && access(path, R_OK) != 0)
		return refuse_file(refusal, -errno, path, strerror(errno));
	write_uri(uri, path, use == TUNE_STORE_READ ? reader_mode(path) : "");
	if (sqlite3_open_v2(uri, &store->database, flags | SQLITE_OPEN_URI, NULL) != SQLITE_OK)
		return refuse_sqlite(store, refusal);
	sqlite3_busy_timeout(store->database, BUSY_MS);
	int rc = check_study(store, &is_empty, refusal);
	if (rc == 0 && use != TUNE_STORE_NEW && is_empty)
		return refuse_foreign(store, refusal);
	if (rc == 0 && use == TUNE_STORE_NEW && !is_empty)
		return refuse_file(refusal, -ENOTEMPTY, path,
				   "this study is there already; go on with it: weft tune resume");
	return rc;
}

int tune_store_open(struct tune_store **ret, const char *path, enum tune_store_use use,
		    const char *version, const char *command, struct refusal *refusal)
{
	struct tune_store *store = calloc(1, sizeof(*store));
	*ret = store;
	if (store == NULL)
		return refuse(refusal, -ENODEV, "not enough memory for a study");
	store->lock = -1;
	snprintf(store->path, sizeof(store->path), "%s", path);
	int rc = use == TUNE_STORE_READ ? 0 : take_lock(store, path, use, refusal);
	if (rc == 0)
		rc = open_database(store, path, use, refusal);
	if (rc == 0 && use == TUNE_STORE_NEW)
		rc = make(store, version, command, refusal);
	if (rc == 0 && use == TUNE_STORE_WRITE)
		rc = perform(store, "PRAGMA synchronous=NORMAL", refusal);
	if (rc == 0 && use == TUNE_STORE_WRITE)
		rc = check_version(store, version, refusal);
	if (rc == 0)
		rc = prepare(store, use != TUNE_STORE_READ, refusal);
	if (rc == 0)
		return 0;
	tune_store_close(store);
	*ret = NULL;
	return rc;
}

void tune_store_close(struct tune_store *store)
{
	if (store == NULL)
		return;
	sqlite3_finalize(store->find);
	sqlite3_finalize(store->put);
	sqlite3_close(store->database);
	if (store->lock >= 0)
		close(store->lock); // behind SQLite's own locks, which end with any close of the
				    // file
	free(store);
}

// ---------------------------------------------------------------- facts

int tune_store_fact(struct tune_store *store, const char *name, char **ret_value,
		    struct refusal *refusal)
{
	sqlite3_stmt *statement;
	*ret_value = NULL;
	if (sqlite3_prepare_v2(store->database, "SELECT value FROM facts WHERE name=?", -1,
			       &statement, NULL) != SQLITE_OK)
		return refuse_sqlite(store, refusal);
	sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
	int code = sqlite3_step(statement), rc = 0;
	if (code == SQLITE_ROW)
		*ret_value = strdup((const char *)sqlite3_column_text(statement, 0));
	else if (code != SQLITE_DONE)
		rc = refuse_sqlite(store, refusal);
	sqlite3_finalize(statement);
	return rc;
}

int tune_store_note(struct tune_store *store, const char *name, const char *value,
		    struct refusal *refusal)
{
	sqlite3_stmt *statement;
	if (sqlite3_prepare_v2(store->database, "INSERT OR REPLACE INTO facts VALUES(?, ?)", -1,
			       &statement, NULL) != SQLITE_OK)
		return refuse_sqlite(store, refusal);
	sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
	sqlite3_bind_text(statement, 2, value, -1, SQLITE_STATIC);
	int rc = sqlite3_step(statement) == SQLITE_DONE ? 0 : refuse_sqlite(store, refusal);
	sqlite3_finalize(statement);
	return rc;
}

// ---------------------------------------------------------------- runs

static void bind_key(sqlite3_stmt *statement, const struct tune_run_key *key)
{
	sqlite3_bind_text(statement, 1, key->scenario, -1, SQLITE_STATIC);
	sqlite3_bind_text(statement, 2, key->setting, -1, SQLITE_STATIC);
	sqlite3_bind_int64(statement, 3, (sqlite3_int64)key->seed);
}

static void read_row(sqlite3_stmt *statement, struct study_run *ret)
{
	*ret = (struct study_run){
		.is_complete = sqlite3_column_int(statement, 3) != 0,
		.is_imprecise = sqlite3_column_int(statement, 4) != 0,
		.dead = sqlite3_column_int(statement, 5),
		.digest = strtoull((const char *)sqlite3_column_text(statement, 7), NULL, 16),
		.cpu_s = sqlite3_column_double(statement, 8),
		.passed = (uint32_t)sqlite3_column_int(statement, 9),
		.passed_s = sqlite3_column_double(statement, 10),
		.passed_value = sqlite3_column_double(statement, 11),
	};
	snprintf(ret->end, sizeof(ret->end), "%s", (const char *)sqlite3_column_text(statement, 6));
	for (uint32_t i = 0; i < report_study_figures(); i++) {
		int column = FIXED_COLUMNS + (int)i;
		bool is_there = sqlite3_column_type(statement, column) != SQLITE_NULL;
		ret->figures[i] = is_there ? sqlite3_column_double(statement, column) : NAN;
	}
}

int tune_store_find(struct tune_store *store, const struct tune_run_key *key, struct study_run *ret,
		    struct refusal *refusal)
{
	bind_key(store->find, key);
	int code = sqlite3_step(store->find);
	int rc = code == SQLITE_ROW ? 1 : 0;
	if (rc == 1)
		read_row(store->find, ret);
	else if (code != SQLITE_DONE)
		rc = refuse_sqlite(store, refusal);
	sqlite3_reset(store->find);
	return rc;
}

int tune_store_put(struct tune_store *store, const struct tune_run_key *key,
		   const struct study_run *run, struct refusal *refusal)
{
	char digest[24];
	snprintf(digest, sizeof(digest), "%016" PRIx64, run->digest);
	bind_key(store->put, key);
	sqlite3_bind_int(store->put, 4, run->is_complete);
	sqlite3_bind_int(store->put, 5, run->is_imprecise);
	sqlite3_bind_int(store->put, 6, run->dead);
	sqlite3_bind_text(store->put, 7, run->end, -1, SQLITE_STATIC);
	sqlite3_bind_text(store->put, 8, digest, -1, SQLITE_STATIC);
	sqlite3_bind_double(store->put, 9, run->cpu_s);
	sqlite3_bind_int(store->put, 10, (int)run->passed);
	sqlite3_bind_double(store->put, 11, run->passed_s);
	sqlite3_bind_double(store->put, 12, run->passed_value);
	for (uint32_t i = 0; i < report_study_figures(); i++)
		sqlite3_bind_double(store->put, FIXED_COLUMNS + 1 + (int)i, run->figures[i]);
	int rc = sqlite3_step(store->put) == SQLITE_DONE ? 0 : refuse_sqlite(store, refusal);
	sqlite3_reset(store->put);
	return rc;
}

int tune_store_count(struct tune_store *store, uint64_t *ret, struct refusal *refusal)
{
	int64_t count;
	int rc = ask(store, "SELECT count(*) FROM runs", &count, refusal);
	*ret = rc == 0 ? (uint64_t)count : 0;
	return rc;
}

// ---------------------------------------------------------------- parts

// Both studies are of the same words, scenarios and commit.
static int check_alike(struct tune_store *store, const char *path, struct refusal *refusal)
{
	char reason[256];
	sqlite3_stmt *statement;
	if (sqlite3_prepare_v2(store->database,
			       "SELECT name FROM main.facts WHERE value IS NOT (SELECT value FROM "
			       "part.facts WHERE part.facts.name = main.facts.name) ORDER BY name "
			       "= 'command' DESC, name",
			       -1, &statement, NULL) != SQLITE_OK)
		return refuse_sqlite(store, refusal);
	int code = sqlite3_step(statement), rc = 0;
	if (code == SQLITE_ROW) {
		snprintf(reason, sizeof(reason), "this is not part of %.100s: its %.60s is another",
			 store->path, (const char *)sqlite3_column_text(statement, 0));
		rc = refuse_file(refusal, -EINVAL, path, reason);
	} else if (code != SQLITE_DONE) {
		rc = refuse_sqlite(store, refusal);
	}
	sqlite3_finalize(statement);
	return rc;
}

static int take_rows(struct tune_store *store, const char *path, uint64_t *ret_rows,
		     struct refusal *refusal)
{
	int64_t differ = 0;
	int rc = perform(store, "BEGIN", refusal);
	if (rc == 0)
		rc = perform(store, "INSERT OR IGNORE INTO main.facts SELECT * FROM part.facts",
			     refusal);
	if (rc == 0)
		rc = check_alike(store, path, refusal);
	if (rc == 0)
		rc = ask(store,
			 "SELECT count(*) FROM main.runs JOIN part.runs USING (scenario, setting, "
			 "seed) WHERE main.runs.digest <> part.runs.digest",
			 &differ, refusal);
	if (rc == 0 && differ > 0)
		rc = refuse_file(refusal, -EINVAL, path,
				 "a run of this part came to something else in another: the same "
				 "commit was not built alike");
	if (rc == 0)
		rc = perform(store, "INSERT OR IGNORE INTO main.runs SELECT * FROM part.runs",
			     refusal);
	*ret_rows = rc == 0 ? (uint64_t)sqlite3_changes64(store->database) : 0;
	if (rc == 0)
		return perform(store, "COMMIT", refusal);
	sqlite3_exec(store->database, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}

int tune_store_merge(struct tune_store *store, const char *path, uint64_t *ret_rows,
		     struct refusal *refusal)
{
	char uri[URI_BYTES], sql[URI_BYTES + 64];
	write_uri(uri, path, reader_mode(path));
	snprintf(sql, sizeof(sql), "ATTACH '%s' AS part", uri);
	int rc = perform(store, sql, refusal);
	if (rc < 0)
		return rc;
	rc = take_rows(store, path, ret_rows, refusal);
	sqlite3_exec(store->database, "DETACH part", NULL, NULL, NULL);
	return rc;
}
