// SPDX-License-Identifier: Apache-2.0
// See link_file.h.

#include "link_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int link_refuse_system(struct refusal *refusal, const char *path, const char *what)
{
	int error = errno;
	refuse_file(refusal, -error, path, "");
	snprintf(refusal->text, sizeof(refusal->text), "%s: %s", what, strerror(error));
	return -error;
}

// ---------------------------------------------------------------- locks

int link_file_lock(int fd, off_t byte)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
	return fcntl(fd, F_OFD_SETLK, &lock);
}

bool link_file_is_locked(int fd, off_t byte)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
	return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

// ---------------------------------------------------------------- opening

static const char *kind_wrong(const struct stat *status)
{
	if (S_ISLNK(status->st_mode))
		return "this is a symbolic link: give the file itself";
	return S_ISREG(status->st_mode) ? NULL : "a link is a regular file, and this is none";
}

static const char *owner_wrong(const struct stat *status)
{
	if (status->st_uid != geteuid())
		return "this file belongs to another user: both ends of a link are one user's";
	return (status->st_mode & (S_IWGRP | S_IWOTH)) == 0
		? NULL
		: "other users may write this file: a link is for its user alone";
}

// Looked at before it is opened, too: to open a device may do something.
int link_file_open(const char *path, struct refusal *refusal)
{
	struct stat status;
	if (lstat(path, &status) < 0)
		return link_refuse_system(refusal, path, "the link");
	const char *wrong = kind_wrong(&status);
	if (wrong != NULL)
		return refuse_file(refusal, -EINVAL, path, wrong);
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &status) < 0) {
		int rc = link_refuse_system(refusal, path, "the link");
		if (fd >= 0)
			close(fd);
		return rc;
	}
	wrong = kind_wrong(&status);
	int rc = wrong != NULL ? -EINVAL : -EPERM;
	if (wrong == NULL)
		wrong = owner_wrong(&status);
	if (wrong == NULL)
		return fd;
	close(fd);
	return refuse_file(refusal, rc, path, wrong);
}

// ---------------------------------------------------------------- names

void link_file_unname(int fd, const char *path)
{
	struct stat open_one, named_one;
	if (path[0] != '\0' && fstat(fd, &open_one) == 0 && lstat(path, &named_one) == 0 &&
	    open_one.st_dev == named_one.st_dev && open_one.st_ino == named_one.st_ino)
		unlink(path);
}

// A run locks its file before it writes the magic number, and never again: what nobody holds then
// is left for good. Of several that would take it away one does; the others find another file
// there.
int link_file_sweep(int fd, const char *path, struct refusal *refusal)
{
	uint64_t magic = 0;
	bool is_read = pread(fd, &magic, sizeof(magic), 0) == sizeof(magic);
	if (!is_read || (magic != GPU_LINK_MAGIC && magic != GPU_LINK_ATOMIC_FILE))
		return refuse_file(refusal, -EEXIST, path,
				   "there is a file that is not a link: take another name");
	if (link_file_is_locked(fd, 0) || link_file_lock(fd, 1 + GPU_RANKS_MAX) < 0)
		return refuse_file(refusal, -EBUSY, path, "another run holds this link");
	link_file_unname(fd, path);
	return 0;
}

static int take_away_stale(const char *path, struct refusal *refusal)
{
	int fd = link_file_open(path, refusal);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	int rc = link_file_sweep(fd, path, refusal);
	close(fd);
	return rc;
}

// ---------------------------------------------------------------- making

static int make_unnamed(struct refusal *refusal)
{
	int fd = memfd_create("weft-link", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	return fd >= 0 ? fd : link_refuse_system(refusal, "", "not enough memory");
}

int link_file_make(const char *path, struct refusal *refusal)
{
	const uint64_t magic = GPU_LINK_ATOMIC_FILE;
	int rc = path[0] != '\0' ? take_away_stale(path, refusal) : 0;
	if (rc < 0)
		return rc;
	int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
	int fd = path[0] != '\0' ? open(path, flags, 0600) : make_unnamed(refusal);
	if (fd < 0)
		return path[0] != '\0'
			? link_refuse_system(refusal, path, "the link cannot be made")
			: fd;
	if (link_file_lock(fd, 0) == 0 && pwrite(fd, &magic, sizeof(magic), 0) == sizeof(magic))
		return fd;
	rc = link_refuse_system(refusal, path, "the link cannot be locked");
	link_file_unname(fd, path);
	close(fd);
	return rc;
}
