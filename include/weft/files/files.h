// SPDX-License-Identifier: Apache-2.0
// What programs need of the system beside a world: memory, files, and where shipped scenarios lie.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <weft/core/refusal.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------- memory

// Memory for an arena of at most `bytes`: reserved, zeroed, touched only as drawn. NULL when the
// system refuses.
void *memory_reserve(size_t bytes);
void memory_release(void *base, size_t bytes);

// The same as an arena, whose `base` is released with `bytes`. -ENODEV with a reason.
struct arena;
int memory_arena(struct arena *ret, size_t bytes, struct refusal *refusal);

// Memory that the system could give now without taking it from others, in bytes; UINT64_MAX where
// it does not say.
uint64_t memory_available_bytes(void);

// Most memory this process had resident, in bytes.
uint64_t memory_peak_bytes(void);

// ---------------------------------------------------------------- files

// Reads a file of at most `bytes_max` bytes whole; the caller frees *ret_text, which ends with a
// NUL beyond its bytes. It is an input from then on. A byte order mark of UTF-8 is left out. -errno
// with a reason that names the file: -EISDIR for a folder, -EINVAL for a pipe, a socket, a device
// (at once: nothing is waited for) and text in UTF-16.
int file_read(const char *path, size_t bytes_max, char **ret_text, size_t *ret_bytes,
	      struct refusal *refusal);

// Called with each file that file_read() has read, and its text; NULL: nobody. One for a
// program: what its result rests on is in the manifest (report_manifest.h).
typedef void file_seen_fn(void *context, const char *path, const char *text, size_t bytes);
void file_watch(file_seen_fn *seen, void *context);

// Reads what this program wrote itself, and may write again: no input.
int file_read_back(const char *path, size_t bytes_max, char **ret_text, size_t *ret_bytes,
		   struct refusal *refusal);

// Outputs never destroy inputs, under whatever name, and replace what is there only with --force.
// Code that opens a file without file_read() or atomic_file_open() must call this.

// The command line has --force: outputs may replace files that are no inputs.
void files_force(void);
bool files_are_forced(void);

// An open file is read, or written. An errno, or 0; EBUSY of an input that is also written.
int files_note_input(int descriptor);
int files_note_output(int descriptor);
void files_end_output(int descriptor); // written to its end

// Whether the file `path`, seen from folder `at` (AT_FDCWD: from here), was read.
bool files_is_input(int at, const char *path);

// Whether an output may go to `path`: asked when all inputs are read, and before work is done for
// it. -EINVAL of an input, of a file that is there without --force, of a disk, of a pipe that
// nobody reads; else as of file_unwritten().
int files_check_output(const char *path, struct refusal *refusal);

// Opens the pipe at `path` to write into, where somebody reads it: nothing is waited for. The
// reader that files_check_output() found sees no end before this is closed. -errno: -ENXIO where
// nobody reads.
int files_open_pipe(const char *path);

// Where a file is that a scenario names: as it is named, or, when there is none and the name does
// not begin at the root, beside the scenario at `scenario`. Writes at most `bytes` bytes; a place
// that is longer is none. When it is in neither place, the name as it is.
void file_beside(const char *scenario, const char *name, char *ret, size_t bytes);

// Says that the file at `path` could not be written, and why: `error`, an errno. Returns -ENOENT or
// -EISDIR where the path is wrong, else -EIO, for the caller to hand up.
int file_unwritten(struct refusal *refusal, const char *path, int error);

// A file being written: under another name in the folder of its own, so that nobody reads half of
// it, and what was there stays until the new one is whole. What is no plain file (a pipe, a device)
// is written as it is.
#define ATOMIC_FILE_PATH_BYTES 4096
struct atomic_file {
	FILE *to;			     // to write on
	const char *named;		     // the caller's, good until the end
	char path[ATOMIC_FILE_PATH_BYTES];   // where it will lie
	char beside[ATOMIC_FILE_PATH_BYTES]; // where it lies until then
	bool is_new; // nothing was there, and nothing may be there at the end
};

// Opens a new version of the file at `path`, beside it. Errors of files_check_output(), -ENOENT
// where the path is wrong, else -EIO, with a reason that names it; then there is nothing to end.
int atomic_file_begin(struct atomic_file *atomic_file, const char *path, struct refusal *refusal);

// The same of a file that this program keeps up to date: it replaces what is there, but no
// input, and no link, whoever put it there.
int atomic_file_renew(struct atomic_file *atomic_file, const char *path, struct refusal *refusal);

// Closes the new version and puts it in its place; when `rc`, what writing it came to, is below 0,
// or not all could be written, takes it away instead, with errors as above.
int atomic_file_end(struct atomic_file *atomic_file, int rc, struct refusal *refusal);

// What is shipped: scenarios, jobs, and acceptance profiles (report_verdict.h). Beside a build's
// source tree they lie in apps/, installed in share/weft/.
enum data_path { DATA_PATH_SCENARIOS, DATA_PATH_PROFILES, DATA_PATH_SPACES, DATA_PATH_MODELS };

// The file behind a name: `name` itself when it is a path (has a slash, or ends in .yaml, .yml or
// .json), else name.yaml among the shipped ones of this kind. -ENOENT with the list of what there
// is.
int data_path_find(enum data_path data_path, const char *name, char *ret_path, size_t path_bytes,
		   struct refusal *refusal);

// The same, read whole with file_read(): the caller frees `text`.
struct data_file {
	char path[256];
	char *text;
	size_t bytes;
};
int data_file_read(struct data_file *ret, enum data_path data_path, const char *name,
		   struct refusal *refusal);

// Calls `visit` with each name of this kind that is shipped, in their order, until one returns
// another value than 0, which it returns. -ENOENT where none are installed.
int data_path_each(enum data_path data_path, int (*visit)(void *context, const char *name),
		   void *context);

#ifdef __cplusplus
}
#endif
