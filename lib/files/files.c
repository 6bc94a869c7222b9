// SPDX-License-Identifier: Apache-2.0
// Which files this process reads and writes: one that was read is never written, one that is there
// already only with --force.

#include <weft/files/files.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

// A file, whatever it is called. A disk gives the number of a file that is gone to a new one, so
// the time of birth belongs to it, where the disk knows that.
struct identity {
	uint64_t device, inode;
	int64_t born_ns;
};

static struct list {
	struct identity *files;
	size_t count, room;
} inputs, outputs;
static bool is_forced;

void files_force(void)
{
	is_forced = true;
}

bool files_are_forced(void)
{
	return is_forced;
}

static int identify(struct identity *ret, int at, const char *path)
{
	struct statx about;
	int how = path[0] == '\0' ? AT_EMPTY_PATH : 0;
	if (statx(at, path, how, STATX_INO | STATX_BTIME, &about) != 0)
		return errno;
	*ret = (struct identity){.device = makedev(about.stx_dev_major, about.stx_dev_minor),
				 .inode = about.stx_ino};
	if (about.stx_mask & STATX_BTIME)
		ret->born_ns = about.stx_btime.tv_sec * 1000000000 + about.stx_btime.tv_nsec;
	return 0;
}

static bool holds(const struct list *list, const struct identity *file)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->files[i].device == file->device && list->files[i].inode == file->inode &&
		    list->files[i].born_ns == file->born_ns)
			return true;
	return false;
}

static int note(struct list *list, int descriptor)
{
	struct stat about;
	struct identity file;
	if (fstat(descriptor, &about) != 0)
		return errno;
	if (!S_ISREG(about.st_mode))
		return 0; // two may use a pipe or a device
	int error = identify(&file, descriptor, "");
	if (error != 0 || holds(list, &file))
		return error;
	if (list->count == list->room) {
		size_t room = list->room == 0 ? 16 : 2 * list->room;
		struct identity *moved = realloc(list->files, room * sizeof(*moved));
		if (moved == NULL)
			return ENOMEM;
		list->files = moved;
		list->room = room;
	}
	list->files[list->count++] = file;
	return 0;
}

int file_unwritten(struct refusal *refusal, const char *path, int error)
{
	error = error == 0 ? EIO : error;
	refusal_name(refusal, path);
	snprintf(refusal->text, sizeof(refusal->text), "cannot write: %s", strerror(error));
	return error == ENOENT || error == EISDIR ? -error : -EIO;
}

static bool is_in(const struct list *list, int descriptor)
{
	struct identity file;
	return list->count > 0 && identify(&file, descriptor, "") == 0 && holds(list, &file);
}

int files_note_input(int descriptor)
{
	return is_in(&outputs, descriptor) ? EBUSY : note(&inputs, descriptor);
}

int files_note_output(int descriptor)
{
	return is_in(&inputs, descriptor) ? EBUSY : note(&outputs, descriptor);
}

void files_end_output(int descriptor)
{
	struct identity file;
	if (identify(&file, descriptor, "") != 0)
		return;
	for (size_t i = 0; i < outputs.count; i++)
		if (outputs.files[i].device == file.device && outputs.files[i].inode == file.inode)
			outputs.files[i--] = outputs.files[--outputs.count];
}

bool files_is_input(int at, const char *path)
{
	struct identity file;
	return identify(&file, at, path) == 0 && holds(&inputs, &file);
}

// Whether a file can be made there.
static int check_folder(const char *path, struct refusal *refusal)
{
	char folder[ATOMIC_FILE_PATH_BYTES];
	const char *slash = strrchr(path, '/');
	size_t length = slash == NULL ? 0 : (size_t)(slash + 1 - path);
	if (length >= sizeof(folder))
		return file_unwritten(refusal, path, ENAMETOOLONG);
	snprintf(folder, sizeof(folder), "%.*s", (int)length, path);
	if (access(length == 0 ? "." : folder, W_OK | X_OK) != 0)
		return file_unwritten(refusal, path, errno);
	return 0;
}

// ---------------------------------------------------------------- pipes

#define PIPES_MAX 4

// Pipes whose readers were found: closed, they would see the end before anything was written.
static struct {
	struct identity file;
	int descriptor;
} pipes[PIPES_MAX];
static uint32_t pipe_count;

static int open_pipe(const char *path)
{
	int pipe = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (pipe < 0)
		return -errno;
	fcntl(pipe, F_SETFL, 0); // whoever reads slowly is waited for
	return pipe;
}

int files_open_pipe(const char *path)
{
	struct identity file;
	if (identify(&file, AT_FDCWD, path) != 0)
		return -errno;
	for (uint32_t i = 0; i < pipe_count; i++)
		if (pipes[i].file.device == file.device && pipes[i].file.inode == file.inode) {
			int descriptor = pipes[i].descriptor;
			pipes[i] = pipes[--pipe_count];
			return descriptor;
		}
	return open_pipe(path);
}

static int check_pipe(const char *path, const struct identity *file, struct refusal *refusal)
{
	int pipe = files_open_pipe(path);
	if (pipe == -ENXIO)
		return refuse_file(refusal, -EINVAL, path,
				   "is a pipe without a reader: start that first");
	if (pipe < 0)
		return file_unwritten(refusal, path, -pipe);
	if (pipe_count == PIPES_MAX) {
		close(pipe);
		return refuse_file(refusal, -EINVAL, path, "is one pipe too many");
	}
	pipes[pipe_count].file = *file;
	pipes[pipe_count++].descriptor = pipe;
	return 0;
}

// ---------------------------------------------------------------- outputs

int files_check_output(const char *path, struct refusal *refusal)
{
	struct stat about;
	struct identity file;
	if (lstat(path, &about) != 0)
		return errno == ENOENT ? check_folder(path, refusal)
				       : file_unwritten(refusal, path, errno);
	if (stat(path, &about) != 0)
		return refuse_file(refusal, -EINVAL, path, "is a link that leads nowhere");
	if (S_ISDIR(about.st_mode))
		return file_unwritten(refusal, path, EISDIR);
	if (S_ISBLK(about.st_mode))
		return refuse_file(refusal, -EINVAL, path, "is a disk, not a file");
	bool is_known = identify(&file, AT_FDCWD, path) == 0;
	if (is_known && S_ISFIFO(about.st_mode))
		return check_pipe(path, &file, refusal);
	if (!S_ISREG(about.st_mode))
		return 0;
	if (is_known && holds(&inputs, &file))
		return refuse_file(refusal, -EINVAL, path,
				   "was read: the file that is read is not written");
	if (is_known && holds(&outputs, &file))
		return refuse_file(refusal, -EINVAL, path, "is written already by this call");
	return is_forced
		? 0
		: refuse_file(refusal, -EINVAL, path, "is there already; --force replaces it");
}
