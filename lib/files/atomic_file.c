// SPDX-License-Identifier: Apache-2.0
// A file that is whole or not there.

#include <weft/files/files.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/files/signals.h>

// Where the file is written first: the folder of `path`, a name that says whose it is. False when
// that is longer than a path may be.
static bool beside_of(char ret[ATOMIC_FILE_PATH_BYTES], const char *path)
{
	const char *slash = strrchr(path, '/');
	int folder = slash == NULL ? 0 : (int)(slash + 1 - path);
	int length = snprintf(ret, ATOMIC_FILE_PATH_BYTES, "%.*s.%s.%ld", folder, path,
			      path + folder, (long)getpid());
	return length < ATOMIC_FILE_PATH_BYTES;
}

// ---------------------------------------------------------------- what is open

#define OPEN_MAX_ATOMIC_FILES 16

// Where new versions lie until their end, for a signal that ends the program before it.
static const char *volatile open_atomic_files[OPEN_MAX_ATOMIC_FILES];

static void take_away(void)
{
	for (int i = 0; i < OPEN_MAX_ATOMIC_FILES; i++)
		if (open_atomic_files[i] != NULL)
			unlink(open_atomic_files[i]);
}

static pid_t owner;

// Of a program that ends with check(): a child that was forked leaves what its parent writes.
static void take_away_at_exit(void)
{
	if (getpid() == owner)
		take_away();
}

static void clean_at_end(void)
{
	signals_clean_with(take_away);
	if (owner == 0)
		atexit(take_away_at_exit);
	owner = getpid();
}

// Puts `to` in the place of `from`: NULL is one that is free.
static void note_open(const char *from, const char *to)
{
	for (int i = 0; i < OPEN_MAX_ATOMIC_FILES; i++)
		if (open_atomic_files[i] == from) {
			open_atomic_files[i] = to;
			return;
		}
}

// ---------------------------------------------------------------- beginning

// A file that is made: a link that waits under its name leads to another one.
static FILE *open_beside(const char *path, bool is_made, bool is_pipe)
{
	int pipe = is_pipe ? files_open_pipe(path) : 0;
	if (pipe < 0)
		errno = -pipe;
	if (is_pipe)
		return pipe < 0 ? NULL : fdopen(pipe, "w");
	if (!is_made)
		return fopen(path, "we");
	unlink(path); // of a process that had our number and was killed
	return fopen(path, "wxe");
}

static int open_atomic_file(struct atomic_file *atomic_file, const char *path,
			    struct refusal *refusal)
{
	struct stat there;
	char whole[PATH_MAX];
	bool is_there = stat(path, &there) == 0;
	*atomic_file = (struct atomic_file){.named = path, .is_new = !is_there};
	if (is_there && realpath(path, whole) == NULL)
		return file_unwritten(refusal, path, errno);
	if (!is_there)
		snprintf(whole, sizeof(whole), "%s", path);
	bool fits = strlen(path) < sizeof(atomic_file->path) &&
		beside_of(atomic_file->beside, whole);
	if (!fits)
		return file_unwritten(refusal, path, ENAMETOOLONG);
	snprintf(atomic_file->path, sizeof(atomic_file->path), "%s", whole);
	bool is_made = !is_there || S_ISREG(there.st_mode);
	if (!is_made)
		strcpy(atomic_file->beside, atomic_file->path);
	atomic_file->to = open_beside(atomic_file->beside, is_made,
				      is_there && S_ISFIFO(there.st_mode));
	if (atomic_file->to == NULL)
		return file_unwritten(refusal, path, errno);
	if (is_made) {
		note_open(NULL, atomic_file->beside);
		clean_at_end();
	}
	errno = 0;
	return 0;
}

int atomic_file_begin(struct atomic_file *atomic_file, const char *path, struct refusal *refusal)
{
	int rc = files_check_output(path, refusal);
	return rc < 0 ? rc : open_atomic_file(atomic_file, path, refusal);
}

int atomic_file_renew(struct atomic_file *atomic_file, const char *path, struct refusal *refusal)
{
	struct stat there;
	if (lstat(path, &there) == 0 && S_ISLNK(there.st_mode)) { // it may lead anywhere
		refusal_name(refusal, path);
		snprintf(refusal->text, sizeof(refusal->text),
			 "is a link, and what is renewed here lies in its own folder: remove it");
		return -EINVAL;
	}
	if (stat(path, &there) == 0 && (!S_ISREG(there.st_mode) || files_is_input(AT_FDCWD, path)))
		return atomic_file_begin(atomic_file, path, refusal);
	int rc = open_atomic_file(atomic_file, path, refusal);
	atomic_file->is_new = false;
	return rc;
}

// Puts a whole new version where it belongs. One that is new replaces nothing that came meanwhile;
// some file systems cannot promise that.
static int put_in_place(const struct atomic_file *atomic_file)
{
	if (!atomic_file->is_new || files_are_forced())
		return rename(atomic_file->beside, atomic_file->path) == 0 ? 0 : errno;
	if (renameat2(AT_FDCWD, atomic_file->beside, AT_FDCWD, atomic_file->path,
		      RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return errno;
	if (access(atomic_file->path, F_OK) == 0)
		return EEXIST;
	return rename(atomic_file->beside, atomic_file->path) == 0 ? 0 : errno;
}

int atomic_file_end(struct atomic_file *atomic_file, int rc, struct refusal *refusal)
{
	int error = rc == -EIO && errno != 0 ? errno : -rc; // a writer's -EIO hides why
	if (ferror(atomic_file->to) != 0 && error == 0)
		error = errno == 0 ? EIO : errno;
	bool is_in_place = strcmp(atomic_file->beside, atomic_file->path) == 0;
	if (error == 0 &&
	    (fflush(atomic_file->to) != 0 || (!is_in_place && fsync(fileno(atomic_file->to)) != 0)))
		error = errno;
	if (fclose(atomic_file->to) != 0 && error == 0)
		error = errno;
	atomic_file->to = NULL;
	if (error == 0 && !is_in_place)
		error = put_in_place(atomic_file);
	if (error != 0 && !is_in_place)
		unlink(atomic_file->beside);
	note_open(atomic_file->beside, NULL);
	if (error == 0)
		return 0;
	return file_unwritten(refusal, atomic_file->named, error);
}
