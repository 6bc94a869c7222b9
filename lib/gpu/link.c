// SPDX-License-Identifier: Apache-2.0
// The two ends of a link: how they are made, opened and closed. See gpu_link.h.

#include <weft/gpu/gpu_link.h>

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "link_file.h"

#define LOOK_NS 2000000

// ---------------------------------------------------------------- memory

static int draw(struct gpu_link *link, const struct gpu_link_header *header,
		struct refusal *refusal)
{
	link->header = malloc(sizeof(*header));
	link->ops = calloc(header->op_count, sizeof(*link->ops));
	link->numbers = calloc(header->rank_count, sizeof(*link->numbers));
	link->figures = calloc(header->rank_count, sizeof(*link->figures));
	link->seen = calloc(link_flags(header), 1);
	link->states = calloc((size_t)header->rank_count + 1, sizeof(*link->states));
	if (link->seen == NULL || link->states == NULL || link->header == NULL ||
	    link->ops == NULL || link->numbers == NULL || link->figures == NULL)
		return refuse_file(refusal, -ENODEV, link->path,
				   "not enough memory for the list of computations");
	*link->header = *header;
	return 0;
}

static int map(struct gpu_link *link, struct refusal *refusal)
{
	const struct gpu_link_header *header = link->header;
	uint64_t bytes = header->file_bytes;
	void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, link->fd, 0);
	if (base == MAP_FAILED)
		return link_refuse_system(refusal, link->path, "the link cannot be mapped");
	link->base = base;
	link->bytes = bytes;
	link->guard = link_guard_add(base, bytes);
	if (link->guard < 0)
		return refuse_file(refusal, -EMFILE, link->path, "too many links in one process");
	link->shared = base;
	link->ranks = (struct gpu_link_rank *)(link->base + header->ranks);
	link->asked = (struct gpu_link_flag *)(link->base + header->asked);
	link->done = (struct gpu_link_flag *)(link->base + header->done);
	return 0;
}

static int set_path(struct gpu_link *link, const char *path, struct refusal *refusal)
{
	*link = (struct gpu_link){.fd = -1, .guard = -1};
	if (strlen(path) >= sizeof(link->path))
		return refuse_file(refusal, -EINVAL, path, "this name is too long for a link");
	snprintf(link->path, sizeof(link->path), "%s", path);
	return 0;
}

// ---------------------------------------------------------------- the run's end

// All of it now: a file without room would stop the program later. One without a name is sealed.
static int make_file(struct gpu_link *link, struct refusal *refusal)
{
	link->fd = link_file_make(link->path, refusal);
	if (link->fd < 0)
		return link->fd;
	errno = posix_fallocate(link->fd, 0, (off_t)link->header->file_bytes);
	if (errno != 0)
		return link_refuse_system(refusal, link->path, "no room for the link");
	int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
	if (link->path[0] == '\0' && fcntl(link->fd, F_ADD_SEALS, seals) < 0)
		return link_refuse_system(refusal, link->path, "the link cannot be sealed");
	return map(link, refusal);
}

int gpu_link_create(struct gpu_link *ret, const char *path, const struct gpu_link_shape *shape,
		    struct refusal *refusal)
{
	struct gpu_link_header header;
	int rc = set_path(ret, path == NULL ? "" : path, refusal);
	const char *wrong = gpu_link_shape_wrong(shape);
	if (rc == 0 && wrong != NULL)
		rc = refuse_file(refusal, -EINVAL, ret->path, wrong);
	if (rc < 0)
		return rc;
	gpu_link_lay_out(&header, shape);
	header.host_pid = (uint32_t)getpid();
	header.state = GPU_HOST_WAITS;
	header.beat_ns = ret->opened_ns = gpu_clock_ns();
	ret->is_host = true;
	rc = draw(ret, &header, refusal);
	if (rc == 0)
		rc = make_file(ret, refusal);
	for (uint32_t rank = 0; rc == 0 && rank < header.rank_count; rank++)
		ret->numbers[rank] = rank;
	if (rc < 0)
		gpu_link_close(ret);
	return rc;
}

int gpu_link_offer(struct gpu_link *link, struct refusal *refusal)
{
	const struct gpu_link_header *header = link->header;
	uint32_t at;
	const char *wrong = gpu_link_ops_wrong(header, link->ops, &at);
	if (wrong != NULL) {
		refuse_file(refusal, -EINVAL, link->path, "");
		snprintf(refusal->text, sizeof(refusal->text), "computation %u: %s", at, wrong);
		return -EINVAL;
	}
	wrong = gpu_link_numbers_wrong(header, link->numbers);
	if (wrong != NULL)
		return refuse_file(refusal, -EINVAL, link->path, wrong);
	memcpy((uint8_t *)link->shared + sizeof(header->magic),
	       (const uint8_t *)header + sizeof(header->magic),
	       sizeof(*header) - sizeof(header->magic));
	memcpy(link->base + header->ops, link->ops, header->op_count * sizeof(*link->ops));
	for (uint32_t rank = 0; rank < header->rank_count; rank++) {
		link->ranks[rank].buffer = header->buffers + rank * header->buffer_bytes;
		link->ranks[rank].number = link->numbers[rank];
	}
	gpu_link_beat_host(link, gpu_clock_ns());
	__atomic_store_n(&link->shared->magic, GPU_LINK_MAGIC, __ATOMIC_RELEASE);
	return 0;
}

// ---------------------------------------------------------------- a generator's end

static int refuse_cut(const struct gpu_link *link, struct refusal *refusal)
{
	return refuse_file(refusal, -EPROTO, link->path, "this link is damaged: it was cut short");
}

static int read_at(const struct gpu_link *link, void *ret, uint64_t bytes, uint64_t offset,
		   struct refusal *refusal)
{
	for (uint64_t at = 0; at < bytes;) {
		ssize_t got = pread(link->fd, (uint8_t *)ret + at, bytes - at,
				    (off_t)(offset + at));
		if (got < 0 && errno != EINTR)
			return link_refuse_system(refusal, link->path, "the link");
		if (got == 0)
			return refuse_cut(link, refusal);
		at += got > 0 ? (uint64_t)got : 0;
	}
	return 0;
}

// -EAGAIN: nothing is offered yet.
static int read_header(const struct gpu_link *link, struct gpu_link_header *ret,
		       struct refusal *refusal)
{
	struct stat status;
	*ret = (struct gpu_link_header){0};
	ssize_t got = pread(link->fd, ret, sizeof(*ret), 0);
	if (got < 0 || fstat(link->fd, &status) < 0)
		return link_refuse_system(refusal, link->path, "the link");
	if (got == 0 || ret->magic == 0 || ret->magic == GPU_LINK_ATOMIC_FILE)
		return -EAGAIN;
	if (ret->magic == GPU_LINK_MAGIC && got < (ssize_t)sizeof(*ret))
		return refuse_cut(link, refusal);
	const char *wrong = gpu_link_header_wrong(ret, (uint64_t)status.st_size);
	return wrong == NULL ? 0 : refuse_file(refusal, -EPROTO, link->path, wrong);
}

// Copies what is to be computed, and checks the copy.
static int read_lists(struct gpu_link *link, struct refusal *refusal)
{
	const struct gpu_link_header *header = link->header;
	uint32_t at;
	int rc = read_at(link, link->ops, header->op_count * sizeof(*link->ops), header->ops,
			 refusal);
	for (uint32_t rank = 0; rc == 0 && rank < header->rank_count; rank++) {
		struct gpu_link_rank row;
		rc = read_at(link, &row, sizeof(row), header->ranks + rank * sizeof(row), refusal);
		link->numbers[rank] = row.number;
		if (rc == 0 && row.buffer != header->buffers + rank * header->buffer_bytes)
			rc = refuse_file(refusal, -EPROTO, link->path,
					 "this link is damaged: a rank's data lie elsewhere");
	}
	if (rc < 0)
		return rc;
	const char *wrong = gpu_link_numbers_wrong(header, link->numbers);
	if (wrong != NULL)
		return refuse_file(refusal, -EPROTO, link->path, wrong);
	wrong = gpu_link_ops_wrong(header, link->ops, &at);
	if (wrong == NULL)
		return 0;
	refuse_file(refusal, -EPROTO, link->path, "");
	snprintf(refusal->text, sizeof(refusal->text), "this link is damaged: computation %u: %s",
		 at, wrong);
	return -EPROTO;
}

// Joins the open file where there is a link that a run holds. -EAGAIN: not yet.
static int join(struct gpu_link *link, struct refusal *refusal)
{
	struct gpu_link_header header;
	int rc = read_header(link, &header, refusal);
	if (rc == 0 && !link_file_is_locked(link->fd, 0))
		rc = -EAGAIN;
	if (rc == 0)
		rc = draw(link, &header, refusal);
	if (rc == 0)
		rc = read_lists(link, refusal);
	return rc == 0 ? map(link, refusal) : rc;
}

static int try_open(struct gpu_link *link, struct refusal *refusal)
{
	link->opened_ns = gpu_clock_ns();
	link->fd = link_file_open(link->path, refusal);
	if (link->fd < 0)
		return link->fd == -ENOENT ? -EAGAIN : link->fd;
	return join(link, refusal);
}

int gpu_link_open(struct gpu_link *ret, const char *path, int64_t timeout_ns,
		  const volatile sig_atomic_t *stop, struct refusal *refusal)
{
	int64_t until = gpu_clock_ns() + timeout_ns;
	int rc = set_path(ret, path, refusal);
	if (rc < 0)
		return rc;
	while ((rc = try_open(ret, refusal)) < 0) {
		gpu_link_close(ret);
		if (rc != -EAGAIN)
			return rc;
		if (stop != NULL && *stop != 0)
			return refuse_file(refusal, -EINTR, path,
					   "interrupted while it waited for a run");
		if (gpu_clock_ns() >= until)
			return refuse_file(refusal, -ETIMEDOUT, path, "no run offers this link");
		nanosleep(&(struct timespec){0, LOOK_NS}, NULL);
	}
	*refusal = (struct refusal){0}; // of looks before
	return 0;
}

// A file description of its own: locks belong to it.
int gpu_link_join(struct gpu_link *ret, const struct gpu_link *run, struct refusal *refusal)
{
	char path[64];
	int rc = set_path(ret, run->path, refusal);
	if (rc < 0)
		return rc;
	ret->opened_ns = gpu_clock_ns();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", run->fd);
	ret->fd = open(path, O_RDWR | O_CLOEXEC);
	rc = ret->fd < 0 ? link_refuse_system(refusal, path, "the link") : join(ret, refusal);
	if (rc == -EAGAIN)
		rc = refuse_file(refusal, -EPROTO, run->path, "this link was not offered");
	if (rc < 0)
		gpu_link_close(ret);
	return rc;
}

// ---------------------------------------------------------------- the end

void gpu_link_unname(struct gpu_link *link)
{
	link_file_unname(link->fd, link->path);
}

void gpu_link_close(struct gpu_link *link)
{
	struct refusal refusal;
	link_guard_remove(link->guard);
	if (link->fd >= 0 && link->is_host)
		gpu_link_unname(link);
	else if (link->base != NULL)
		link_file_sweep(link->fd, link->path, &refusal);
	if (link->base != NULL)
		munmap(link->base, link->bytes);
	if (link->fd >= 0)
		close(link->fd);
	free(link->header);
	free(link->ops);
	free(link->numbers);
	free(link->figures);
	free(link->seen);
	free(link->states);
	link->seen = NULL;
	link->states = NULL;
	link->header = NULL;
	link->ops = NULL;
	link->numbers = NULL;
	link->figures = NULL;
	link->base = NULL;
	link->fd = link->guard = -1;
}
