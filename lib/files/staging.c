// SPDX-License-Identifier: Apache-2.0
// The folder of a result while it is written.

#include <weft/files/staging.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/files/files.h>

#define SUFFIX ".weft-part"
#define TRIES 16
#define NAME_BYTES 128 // of a file in the folder, while it is written

// What results, studies, steps, reports and exports are made of. The manifest goes in last and out
// first.
#define MANIFEST "manifest.json"
static const char *const names_all[] = {
	MANIFEST,      "result.json", "step.json",  "study.json",   "study.csv",       "runs.csv",
	"series.csv",  "bypass.csv",  "flows.csv",  "flow_evs.csv", "cables.csv",      "trace.json",
	"report.html", "metrics.txt", "result.csv", "program.goal", "comm_group.json", "step.txt"};
static const char *const endings[] = {".hdr", ".record", ".et"};

static int refuse_path(struct refusal *refusal, const char *path, int rc, const char *why,
		       const char *more)
{
	refusal_name(refusal, path);
	snprintf(refusal->text, sizeof(refusal->text), "%s%.200s", why, more);
	return rc;
}

// ---------------------------------------------------------------- names

bool staging_is_name(const char *name)
{
	size_t length = strlen(name);
	for (size_t i = 0; i < sizeof(names_all) / sizeof(*names_all); i++)
		if (strcmp(name, names_all[i]) == 0)
			return true;
	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++)
		if (length > strlen(endings[i]) &&
		    strcmp(name + length - strlen(endings[i]), endings[i]) == 0)
			return true;
	return false;
}

static bool is_ours(const char *name, const char *const *names)
{
	size_t length = strlen(name);
	for (; names != NULL && *names != NULL; names++)
		if (strcmp(name, *names) == 0)
			return true;
	return staging_is_name(name) || (length > 7 && strcmp(name + length - 7, ".pcapng") == 0);
}

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

// ---------------------------------------------------------------- paths

// Of a path without slashes and `.` at its end.
static size_t trimmed(const char *path)
{
	size_t length = strlen(path);
	while (length > 1 &&
	       (path[length - 1] == '/' || (path[length - 1] == '.' && path[length - 2] == '/')))
		length--;
	return length;
}

// `path` from the root and without links; its end need not be there. An errno.
static int resolve(char ret[PATH_MAX], const char *path)
{
	char folder[PATH_MAX], real[PATH_MAX];
	if (realpath(path, ret) != NULL)
		return 0;
	if (errno != ENOENT)
		return errno;
	size_t at = trimmed(path), end = at;
	while (at > 0 && path[at - 1] != '/')
		at--;
	int length = snprintf(folder, sizeof(folder), "%.*s.", (int)at, path);
	if (length >= (int)sizeof(folder))
		return ENAMETOOLONG;
	if (realpath(folder, real) == NULL)
		return errno;
	length = snprintf(ret, PATH_MAX, "%s/%.*s", strcmp(real, "/") == 0 ? "" : real,
			  (int)(end - at), path + at);
	return length < PATH_MAX ? 0 : ENAMETOOLONG;
}

// Makes each folder on the way to `path` that is not there, and notes which. An errno.
static int make_parents(const char *path, uint64_t *made)
{
	char part[PATH_MAX];
	size_t length = trimmed(path);
	uint32_t slashes = 0;
	if (length == 0 || length >= sizeof(part))
		return length == 0 ? ENOENT : ENAMETOOLONG;
	for (size_t i = 1; i < length; i++) {
		if (path[i] != '/')
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		if (mkdir(part, 0777) == 0)
			*made |= slashes < 64 ? UINT64_C(1) << slashes : 0;
		else if (errno != EEXIST)
			return errno;
		slashes++;
	}
	return 0;
}

static void unmake_parents(const struct staging *staging)
{
	char part[PATH_MAX];
	size_t length = trimmed(staging->named);
	uint32_t slashes = 0;
	if (staging->made == 0)
		return;
	memcpy(part, staging->named, length);
	for (size_t i = 1; i < length; i++)
		slashes += part[i] == '/';
	for (size_t i = length - 1; slashes > 0; i--) {
		if (part[i] != '/')
			continue;
		part[i] = '\0';
		slashes--;
		if (slashes < 64 && staging->made >> slashes & 1 && rmdir(part) != 0)
			return; // somebody has put something there
	}
}

// ---------------------------------------------------------------- what is there

// The folder at staging->path: nothing in it, or what --force may replace.
static int check_old(const struct staging *staging, struct refusal *refusal)
{
	DIR *folder = opendir(staging->path);
	int rc = 0;
	bool is_empty = true;
	if (folder == NULL)
		return refuse_path(refusal, staging->named, -errno, strerror(errno), "");
	for (struct dirent *entry; rc == 0 && (entry = readdir(folder)) != NULL;) {
		struct stat about = {0};
		const char *name = entry->d_name;
		if (is_dots(name) || strcmp(name, SUFFIX) == 0)
			continue;
		is_empty = false;
		fstatat(dirfd(folder), name, &about, AT_SYMLINK_NOFOLLOW);
		if (!S_ISREG(about.st_mode) || !is_ours(name, staging->names))
			rc = refuse_path(refusal, staging->named, -ENOTEMPTY,
					 "holds other files: give an empty or a new folder to "
					 "--out; among them ",
					 name);
		else if (files_is_input(dirfd(folder), name))
			rc = refuse_path(refusal, staging->named, -EINVAL,
					 "the folder that is read from is not replaced: this call "
					 "reads ",
					 name);
	}
	closedir(folder);
	if (rc == 0 && !is_empty && !files_are_forced())
		rc = refuse_path(refusal, staging->named, -EINVAL,
				 "holds a result already; --force replaces it", "");
	return rc;
}

// Removes the files of a folder, the manifest first; never an input. An errno.
static int empty(const char *path)
{
	DIR *folder = opendir(path);
	int error = folder == NULL ? errno : 0;
	if (folder != NULL)
		unlinkat(dirfd(folder), MANIFEST, 0);
	for (struct dirent *entry; error == 0 && (entry = readdir(folder)) != NULL;) {
		if (is_dots(entry->d_name) || strcmp(entry->d_name, SUFFIX) == 0)
			continue;
		if (files_is_input(dirfd(folder), entry->d_name))
			error = EBUSY;
		else if (unlinkat(dirfd(folder), entry->d_name, 0) != 0 && errno != ENOENT)
			error = errno;
	}
	if (folder != NULL)
		closedir(folder);
	return error;
}

// ---------------------------------------------------------------- lock

// Opens and locks a folder. -1 with errno: EWOULDBLOCK where another process has it. `has_locks` is
// false on a file system that knows none.
static int open_locked(const char *path, bool *has_locks)
{
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	*has_locks = true;
	if (folder < 0 || flock(folder, LOCK_EX | LOCK_NB) == 0)
		return folder;
	if (errno != EWOULDBLOCK) {
		*has_locks = false;
		return folder;
	}
	close(folder);
	errno = EWOULDBLOCK;
	return -1;
}

static bool is_still(int folder, const char *path)
{
	struct stat open_one, named;
	return fstat(folder, &open_one) == 0 && lstat(path, &named) == 0 &&
		open_one.st_ino == named.st_ino && open_one.st_dev == named.st_dev;
}

static int refuse_busy(struct refusal *refusal, const char *path)
{
	return refuse_path(refusal, path, -EBUSY, "another run writes its result there", "");
}

// Makes and locks the folder `part`. One that was locked and is not called so any more has become a
// result: then once more.
static int make_part(struct staging *staging, struct refusal *refusal)
{
	for (int i = 0; i < TRIES; i++) {
		bool has_locks, is_new = mkdir(staging->part, 0777) == 0;
		if (!is_new && errno != EEXIST)
			return refuse_path(refusal, staging->named, -errno, strerror(errno), "");
		staging->lock = open_locked(staging->part, &has_locks);
		if (staging->lock < 0 && errno == EWOULDBLOCK)
			return refuse_busy(refusal, staging->named);
		if (staging->lock < 0 && errno != ENOENT)
			return refuse_path(refusal, staging->part, -errno, strerror(errno), "");
		if (staging->lock < 0)
			continue;
		if (!has_locks && !is_new) {
			close(staging->lock);
			return refuse_path(refusal, staging->part, -EBUSY,
					   "is there: another run writes it, or one was killed; in "
					   "that case remove it",
					   "");
		}
		if (is_still(staging->lock, staging->part))
			return 0;
		close(staging->lock);
	}
	return refuse_busy(refusal, staging->named);
}

int staging_lock(const char *path, struct refusal *refusal)
{
	bool has_locks;
	if (open_locked(path, &has_locks) >= 0) // stays open
		return 0;
	if (errno == EWOULDBLOCK)
		return refuse_busy(refusal, path);
	return refuse_path(refusal, path, -errno, strerror(errno), "");
}

// ---------------------------------------------------------------- begin

// Whether a folder that is there cannot be exchanged for another one.
static bool is_fixed(const char *path, const char *parent)
{
	struct statx about;
	struct stat here, there;
	bool is_mount = statx(AT_FDCWD, path, 0, STATX_INO, &about) == 0 &&
		(about.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
	bool is_here = stat(".", &here) == 0 && stat(path, &there) == 0 &&
		here.st_ino == there.st_ino && here.st_dev == there.st_dev;
	return is_mount || is_here || access(parent, W_OK | X_OK) != 0;
}

// Where it is written. Its files must have room behind it: refused now, not after the run.
static int name_part(struct staging *staging)
{
	char parent[PATH_MAX];
	const char *slash = strrchr(staging->path, '/');
	snprintf(parent, sizeof(parent), "%.*s",
		 slash == staging->path ? 1 : (int)(slash - staging->path), staging->path);
	staging->is_inside = staging->is_there && is_fixed(staging->path, parent);
	int length = staging->is_inside
		? snprintf(staging->part, sizeof(staging->part), "%s/" SUFFIX, staging->path)
		: snprintf(staging->part, sizeof(staging->part), "%.*s.%s" SUFFIX,
			   (int)(slash + 1 - staging->path), staging->path, slash + 1);
	return length + NAME_BYTES < (int)sizeof(staging->part) ? 0 : -ENAMETOOLONG;
}

static int find(struct staging *staging, struct refusal *refusal)
{
	struct stat about;
	int error = make_parents(staging->named, &staging->made);
	if (error == 0)
		error = resolve(staging->path, staging->named);
	if (error != 0)
		return refuse_path(refusal, staging->named, -error, strerror(error), "");
	staging->is_there = lstat(staging->path, &about) == 0;
	if (staging->is_there && S_ISLNK(about.st_mode))
		return refuse_path(refusal, staging->named, -EINVAL, "is a link that leads nowhere",
				   "");
	int rc = staging->is_there ? check_old(staging, refusal) : 0;
	if (rc == 0 && staging->is_there && access(staging->path, W_OK | X_OK) != 0)
		rc = refuse_path(refusal, staging->named, -errno, strerror(errno), "");
	if (rc == 0 && (rc = name_part(staging)) < 0)
		refuse_path(refusal, staging->named, rc, strerror(-rc), "");
	return rc;
}

int staging_begin(struct staging *ret, const char *path, const char *const *names,
		  struct refusal *refusal)
{
	struct stat about;
	*ret = (struct staging){.named = path, .names = names, .lock = -1};
	int rc = find(ret, refusal);
	if (rc == 0)
		rc = make_part(ret, refusal);
	if (rc < 0) {
		unmake_parents(ret);
		return rc;
	}
	ret->is_begun = true;
	if (ret->is_there && stat(ret->path, &about) == 0)
		fchmod(ret->lock, about.st_mode & 07777);
	int error = empty(ret->part);
	if (error == 0)
		return 0;
	rc = refuse_path(refusal, ret->part, -error,
			 "of a run that was killed, cannot be emptied: ", strerror(error));
	close(ret->lock);
	ret->is_begun = false;
	return rc;
}

bool staging_place(const struct staging *staging, const char *file, char ret[STAGING_PATH_BYTES])
{
	char folder[PATH_MAX], there[PATH_MAX];
	const char *slash = strrchr(file, '/'), *name = slash == NULL ? file : slash + 1;
	snprintf(ret, STAGING_PATH_BYTES, "%s", file);
	if (!staging->is_begun || name[0] == '\0')
		return false;
	snprintf(folder, sizeof(folder), "%.*s.", (int)(name - file), file);
	if (resolve(there, folder) != 0 || strcmp(there, staging->path) != 0)
		return false;
	int length = snprintf(ret, STAGING_PATH_BYTES, "%s/%s", staging->part, name);
	return length < STAGING_PATH_BYTES; // else it names no file, and whoever opens it says so
}

// ---------------------------------------------------------------- end

// Writes a folder and its files to the disk. An errno.
static int sync_all(const char *path)
{
	DIR *folder = opendir(path);
	int error = folder == NULL ? errno : 0;
	for (struct dirent *entry; error == 0 && (entry = readdir(folder)) != NULL;) {
		if (is_dots(entry->d_name))
			continue;
		int file = openat(dirfd(folder), entry->d_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
		if (file < 0 || (fsync(file) != 0 && errno != EINVAL))
			error = errno;
		if (file >= 0)
			close(file);
	}
	if (error == 0 && fsync(dirfd(folder)) != 0 && errno != EINVAL)
		error = errno;
	if (folder != NULL)
		closedir(folder);
	return error;
}

static void sync_parent(const char *path)
{
	char parent[PATH_MAX];
	const char *slash = strrchr(path, '/');
	snprintf(parent, sizeof(parent), "%.*s", slash == path ? 1 : (int)(slash - path), path);
	int folder = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return;
	fsync(folder); // the result is in place: nothing is left to do about an error
	close(folder);
}

// Moves the files of `part` into the folder that is there, the manifest last. An errno.
static int move_files(const struct staging *staging)
{
	int error = empty(staging->path), to = -1;
	DIR *from = error == 0 ? opendir(staging->part) : NULL;
	if (error == 0)
		to = open(staging->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (error == 0 && (from == NULL || to < 0))
		error = errno;
	bool has_manifest = false;
	for (struct dirent *entry; error == 0 && (entry = readdir(from)) != NULL;) {
		bool is_manifest = strcmp(entry->d_name, MANIFEST) == 0;
		has_manifest |= is_manifest;
		if (!is_manifest && !is_dots(entry->d_name) &&
		    renameat(dirfd(from), entry->d_name, to, entry->d_name) != 0)
			error = errno;
	}
	if (error == 0 && has_manifest && renameat(dirfd(from), MANIFEST, to, MANIFEST) != 0)
		error = errno;
	if (error == 0 && fsync(to) != 0 && errno != EINVAL)
		error = errno;
	if (from != NULL)
		closedir(from);
	if (to >= 0)
		close(to);
	return error == 0 && rmdir(staging->part) != 0 ? errno : error;
}

// In exchange for the folder that is there, which is locked until it is gone: nobody may take it
// for one to write in. An errno.
static int exchange(const struct staging *staging)
{
	bool has_locks;
	int old = open_locked(staging->path, &has_locks);
	if (old < 0)
		return errno == EWOULDBLOCK ? EBUSY : errno;
	int error = 0;
	if (renameat2(AT_FDCWD, staging->part, AT_FDCWD, staging->path, RENAME_EXCHANGE) == 0) {
		sync_parent(staging->path);
		if (empty(staging->part) == 0)
			rmdir(staging->part);
	} else {
		error = errno;
	}
	close(old);
	bool is_unknown = error == EINVAL || error == ENOSYS || error == EXDEV || error == EBUSY;
	return is_unknown ? move_files(staging) : error;
}

static int put_in_place(const struct staging *staging)
{
	if (staging->is_inside)
		return move_files(staging);
	if (access(staging->path, F_OK) == 0 && staging->is_there)
		return exchange(staging);
	if (rename(staging->part, staging->path) != 0) // onto nothing, or an empty folder
		return errno;
	sync_parent(staging->path);
	return 0;
}

// A result that found no place gets a name that no other run clears.
static void keep_aside(struct staging *staging)
{
	char kept[STAGING_PATH_BYTES + 32];
	int length = snprintf(kept, sizeof(kept), "%s.%ld", staging->part, (long)getpid());
	if (length < (int)sizeof(staging->part) &&
	    renameat2(AT_FDCWD, staging->part, AT_FDCWD, kept, RENAME_NOREPLACE) == 0)
		strcpy(staging->part, kept);
}

int staging_end(struct staging *staging, struct refusal *refusal)
{
	struct stat about;
	if (!staging->is_begun)
		return 0;
	int error = is_still(staging->lock, staging->part) ? sync_all(staging->part) : ENOENT;
	if (error != 0)
		return refuse_path(refusal, staging->named, -EIO,
				   "cannot write the result: ", strerror(error));
	if (staging->is_there && stat(staging->path, &about) != 0)
		staging->is_there = false;
	int rc = staging->is_there ? check_old(staging, refusal) : 0; // as it was at the beginning?
	if (rc == 0 && (error = put_in_place(staging)) != 0)
		rc = refuse_path(refusal, staging->named, -EIO,
				 "cannot be put there: ", strerror(error));
	if (rc < 0)
		keep_aside(staging);
	close(staging->lock);
	staging->is_begun = false;
	if (rc == 0)
		return 0;
	size_t used = strlen(refusal->text);
	snprintf(refusal->text + used, sizeof(refusal->text) - used, "; the result lies in %.150s",
		 staging->part);
	return -EIO;
}

void staging_abandon(struct staging *staging)
{
	if (!staging->is_begun)
		return;
	if (is_still(staging->lock, staging->part) && empty(staging->part) == 0)
		rmdir(staging->part);
	close(staging->lock);
	unmake_parents(staging);
	staging->is_begun = false;
}
