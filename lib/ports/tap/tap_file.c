// SPDX-License-Identifier: Apache-2.0
// A file that a run writes as it goes, by the system's calls alone: stdio would allocate.

#include "tap_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/files/files.h>
#include <weft/files/signals.h>

static int refuse_written(struct refusal *refusal, const char *path, int code, const char *what,
			  int error)
{
	if (refusal == NULL)
		return code;
	*refusal = (struct refusal){0};
	refusal_name(refusal, path);
	snprintf(refusal->text, sizeof(refusal->text), "%s: %s", what, strerror(error));
	return code;
}

// What was found when the path was looked at may be another file by now. An errno.
static int look_again(int descriptor, bool is_new, struct stat *ret)
{
	if (fstat(descriptor, ret) < 0)
		return errno;
	return !is_new && S_ISREG(ret->st_mode) && !files_are_forced() ? EEXIST : 0;
}

int tap_file_open(struct tap_file *ret, const char *path, struct refusal *refusal)
{
	const int how = O_WRONLY | O_CLOEXEC;
	struct stat status = {0};
	bool is_new = true;
	int rc = files_check_output(path, refusal);
	if (rc < 0)
		return rc;
	int descriptor = open(path, how | O_CREAT | O_EXCL, 0666), error = errno;
	if (descriptor < 0 && error == EEXIST) {
		is_new = false;
		bool is_pipe = stat(path, &status) == 0 && S_ISFIFO(status.st_mode);
		descriptor = is_pipe ? files_open_pipe(path) : open(path, how);
		error = is_pipe ? -descriptor : errno;
	}
	if (descriptor >= 0 && (error = files_note_output(descriptor)) == 0)
		error = look_again(descriptor, is_new, &status);
	if (descriptor < 0 || error != 0) {
		if (descriptor >= 0) {
			files_end_output(descriptor);
			close(descriptor);
		}
		return refuse_written(refusal, path, -error, "cannot be written", error);
	}
	*ret = (struct tap_file){
		.path = path,
		.descriptor = descriptor,
		.is_regular = S_ISREG(status.st_mode),
		.is_new = is_new,
	};
	return 0;
}

void tap_file_empty(struct tap_file *file)
{
	if (file->is_regular && ftruncate(file->descriptor, 0) < 0)
		file->error = errno;
}

void tap_file_abandon(struct tap_file *file)
{
	if (file->path == NULL)
		return;
	files_end_output(file->descriptor);
	close(file->descriptor);
	if (file->is_new)
		unlink(file->path);
	*file = (struct tap_file){0};
}

bool tap_file_has_room(const struct tap_file *file, size_t bytes, int64_t bytes_max)
{
	return file->bytes + bytes <= (uint64_t)bytes_max;
}

void tap_file_write(struct tap_file *file, const void *bytes, size_t count)
{
	const uint8_t *at = bytes;
	while (count > 0 && file->error == 0) {
		ssize_t written = write(file->descriptor, at, count);
		if (written < 0) {
			bool is_over = !file->is_regular && *signals_stop() != 0;
			if (errno != EINTR || is_over) // a pipe that nobody reads
				file->error = errno;
			continue;
		}
		at += written;
		count -= (size_t)written;
		file->bytes += (uint64_t)written;
	}
}

int tap_file_close(struct tap_file *file, struct refusal *refusal)
{
	files_end_output(file->descriptor);
	if (close(file->descriptor) < 0 && file->error == 0)
		file->error = errno;
	if (file->error == 0)
		return 0;
	return refuse_written(refusal, file->path, -EIO, "is not whole, writing failed",
			      file->error);
}
