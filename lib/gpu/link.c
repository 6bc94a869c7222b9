// SPDX-License-Identifier: Apache-2.0
// The file that a run and a generator share. See gpu_link.h.

#include <weft/gpu_link.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <weft/check.h>
#include <weft/gpu_lateness.h>

#define PAGE 65536u // of the largest systems; buffers are pinned page by page
#define LOOK_NS 2000000

int64_t gpu_clock_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void name(struct refusal *refusal, const char *path)
{
	snprintf(refusal->file, sizeof(refusal->file), "%.*s", (int)sizeof(refusal->file) - 1,
		 path);
}

static int refuse_system(struct refusal *refusal, const char *path, const char *what)
{
	int error = errno;
	name(refusal, path);
	snprintf(refusal->text, sizeof(refusal->text), "%s: %s", what, strerror(error));
	return -error;
}

static int refuse_link(struct refusal *refusal, int rc, const char *path, const char *why)
{
	name(refusal, path);
	snprintf(refusal->text, sizeof(refusal->text), "%s", why);
	return rc;
}

// ---------------------------------------------------------------- layout

static uint64_t round_up(uint64_t bytes, uint64_t grain)
{
	return (bytes + grain - 1) / grain * grain;
}

static uint32_t group_of(const struct gpu_link_shape *shape)
{
	return shape->group_ranks > 0 ? shape->group_ranks : shape->rank_count;
}

const char *gpu_link_shape_wrong(const struct gpu_link_shape *shape)
{
	if (shape->rank_count == 0 || shape->rank_count > GPU_RANKS_MAX || shape->op_count == 0 ||
	    shape->op_count > GPU_OPS_MAX)
		return "a link has 1 to 4096 ranks, and 1 to 16777216 computations of each";
	if (shape->group_ranks > GPU_RANKS_MAX ||
	    (shape->group_ranks != 0 && shape->group_ranks < shape->rank_count))
		return "a group has 1 to 4096 ranks, and those of the link are among them";
	if (shape->element_bytes != 2 && shape->element_bytes != 4)
		return "elements of a link have 2 or 4 bytes";
	if (shape->block_bytes == 0 || shape->block_bytes % shape->element_bytes != 0 ||
	    shape->block_bytes > UINT32_MAX ||
	    shape->slice_bytes != shape->block_bytes * group_of(shape) ||
	    shape->bucket_bytes % shape->slice_bytes != 0 || shape->bucket_bytes == 0 ||
	    shape->stretch_bytes % shape->bucket_bytes != 0 || shape->stretch_bytes == 0 ||
	    shape->stretch_bytes > UINT64_C(1) << 44)
		return "blocks of a link do not fill its slices, buckets and stretches";
	return NULL;
}

static void lay_out(struct gpu_link_header *ret, const struct gpu_link_shape *shape)
{
	uint64_t flags = (uint64_t)shape->rank_count * shape->op_count *
		sizeof(struct gpu_link_flag);
	*ret = (struct gpu_link_header){.version = GPU_LINK_VERSION,
					.header_bytes = sizeof(*ret),
					.rank_count = shape->rank_count,
					.op_count = shape->op_count,
					.stretch_bytes = shape->stretch_bytes,
					.bucket_bytes = shape->bucket_bytes,
					.slice_bytes = shape->slice_bytes,
					.block_bytes = shape->block_bytes,
					.element_bytes = shape->element_bytes,
					.seed = shape->seed,
					.dilation_milli = shape->dilation_milli,
					.group_ranks = group_of(shape),
					.has_barrier = shape->has_barrier};
	ret->ops = round_up(sizeof(*ret), 64);
	ret->ranks = ret->ops +
		round_up((uint64_t)shape->op_count * sizeof(struct gpu_link_op), 64);
	ret->asked = ret->ranks +
		round_up((uint64_t)shape->rank_count * sizeof(struct gpu_link_rank), 64);
	ret->done = round_up(ret->asked + flags, 64);
	ret->buffers = round_up(ret->done + flags, PAGE);
	ret->buffer_bytes = round_up(3 * shape->stretch_bytes, PAGE);
	ret->file_bytes = ret->buffers + ret->buffer_bytes * shape->rank_count;
}

const char *gpu_link_header_wrong(const struct gpu_link_header *header, uint64_t file_bytes)
{
	const struct gpu_link_shape shape = {.rank_count = header->rank_count,
					     .op_count = header->op_count,
					     .stretch_bytes = header->stretch_bytes,
					     .bucket_bytes = header->bucket_bytes,
					     .slice_bytes = header->slice_bytes,
					     .block_bytes = header->block_bytes,
					     .element_bytes = header->element_bytes,
					     .group_ranks = header->group_ranks};
	struct gpu_link_header whole;
	if (header->magic != GPU_LINK_MAGIC)
		return "this is no link of a run";
	if (header->version != GPU_LINK_VERSION || header->header_bytes != sizeof(whole))
		return "this link has the layout of another version";
	if (gpu_link_shape_wrong(&shape) != NULL || header->dilation_milli == 0 ||
	    header->group_ranks == 0)
		return "this link is damaged: its sizes do not fit together";
	lay_out(&whole, &shape);
	if (header->file_bytes != whole.file_bytes || file_bytes != whole.file_bytes ||
	    header->ops != whole.ops || header->ranks != whole.ranks ||
	    header->asked != whole.asked || header->done != whole.done ||
	    header->buffers != whole.buffers || header->buffer_bytes != whole.buffer_bytes)
		return "this link is damaged: it is not as long as it says";
	return NULL;
}

static int map(struct gpu_link *link, uint64_t bytes, struct refusal *refusal)
{
	void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, link->fd, 0);
	if (base == MAP_FAILED)
		return refuse_system(refusal, link->path, "the link cannot be mapped");
	link->base = base;
	link->bytes = bytes;
	link->header = base;
	return 0;
}

static void find_parts(struct gpu_link *link, const struct gpu_link_header *header)
{
	link->ops = (struct gpu_link_op *)(link->base + header->ops);
	link->ranks = (struct gpu_link_rank *)(link->base + header->ranks);
	link->asked = (struct gpu_link_flag *)(link->base + header->asked);
	link->done = (struct gpu_link_flag *)(link->base + header->done);
}

// ---------------------------------------------------------------- locks

// Byte 0 is the run's, byte 1 + rank a generator's.
static int take_byte(int fd, off_t byte)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
	return fcntl(fd, F_OFD_SETLK, &lock);
}

static bool is_held(int fd, off_t byte)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
	return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

// ---------------------------------------------------------------- the run's end

// A file of a run that ended without taking it away.
static int take_away_stale(const char *path, struct refusal *refusal)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	uint64_t magic = 0;
	if (fd < 0)
		return errno == ENOENT ? 0 : refuse_system(refusal, path, "there is something");
	bool is_link = read(fd, &magic, sizeof(magic)) == sizeof(magic) && magic == GPU_LINK_MAGIC;
	bool is_busy = is_held(fd, 0);
	close(fd);
	if (is_busy)
		return refuse_link(refusal, -EBUSY, path, "another run holds this link");
	if (!is_link)
		return refuse_link(refusal, -EEXIST, path,
				   "there is a file that is no link: take another name");
	if (unlink(path) < 0)
		return refuse_system(refusal, path, "an old link cannot be taken away");
	return 0;
}

// All of it now: a file without room would stop the program later.
static int make_file(struct gpu_link *link, uint64_t bytes, struct refusal *refusal)
{
	link->fd = open(link->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (link->fd < 0)
		return refuse_system(refusal, link->path, "the link cannot be made");
	if (take_byte(link->fd, 0) < 0)
		return refuse_system(refusal, link->path, "the link cannot be locked");
	int error = posix_fallocate(link->fd, 0, (off_t)bytes);
	errno = error;
	return error == 0 ? map(link, bytes, refusal)
			  : refuse_system(refusal, link->path, "no room for the link");
}

int gpu_link_create(struct gpu_link *ret, const char *path, const struct gpu_link_shape *shape,
		    struct refusal *refusal)
{
	struct gpu_link_header header;
	const char *wrong = gpu_link_shape_wrong(shape);
	*ret = (struct gpu_link){.fd = -1, .is_host = true};
	if (wrong != NULL)
		return refuse_link(refusal, -EINVAL, path, wrong);
	if (strlen(path) >= sizeof(ret->path))
		return refuse_link(refusal, -EINVAL, path, "this name is too long for a link");
	snprintf(ret->path, sizeof(ret->path), "%s", path);
	int rc = take_away_stale(path, refusal);
	if (rc < 0)
		return rc;
	lay_out(&header, shape);
	rc = make_file(ret, header.file_bytes, refusal);
	if (rc < 0) {
		gpu_link_close(ret);
		return rc;
	}
	header.host_pid = (uint32_t)getpid();
	header.state = GPU_HOST_WAITS;
	header.beat_ns = gpu_clock_ns();
	*ret->header = header;
	find_parts(ret, &header);
	for (uint32_t rank = 0; rank < header.rank_count; rank++) {
		ret->ranks[rank].buffer = header.buffers + rank * header.buffer_bytes;
		ret->ranks[rank].number = rank;
	}
	return 0;
}

void gpu_link_offer(struct gpu_link *link)
{
	__atomic_store_n(&link->header->magic, GPU_LINK_MAGIC, __ATOMIC_RELEASE);
}

// ---------------------------------------------------------------- a generator's end

// Looks once whether there is a link that a run holds. -EAGAIN: not yet.
static int try_open(struct gpu_link *link, struct refusal *refusal)
{
	struct gpu_link_header header;
	struct stat status;
	link->fd = open(link->path, O_RDWR | O_CLOEXEC);
	if (link->fd < 0)
		return errno == ENOENT ? -EAGAIN : refuse_system(refusal, link->path, "the link");
	if (!is_held(link->fd, 0))
		return -EAGAIN;
	if (pread(link->fd, &header, sizeof(header), 0) != sizeof(header) || header.magic == 0)
		return -EAGAIN;
	if (fstat(link->fd, &status) < 0)
		return refuse_system(refusal, link->path, "the link");
	const char *wrong = gpu_link_header_wrong(&header, (uint64_t)status.st_size);
	if (wrong != NULL)
		return refuse_link(refusal, -EPROTO, link->path, wrong);
	int rc = map(link, header.file_bytes, refusal);
	if (rc == 0)
		find_parts(link, &header);
	return rc;
}

int gpu_link_open(struct gpu_link *ret, const char *path, int64_t patience_ns,
		  struct refusal *refusal)
{
	int64_t until = gpu_clock_ns() + patience_ns;
	*ret = (struct gpu_link){.fd = -1};
	if (strlen(path) >= sizeof(ret->path))
		return refuse_link(refusal, -EINVAL, path, "this name is too long for a link");
	snprintf(ret->path, sizeof(ret->path), "%s", path);
	for (;;) {
		int rc = try_open(ret, refusal);
		if (rc == 0)
			return 0;
		gpu_link_close(ret);
		if (rc != -EAGAIN)
			return rc;
		if (gpu_clock_ns() >= until)
			return refuse_link(refusal, -ETIMEDOUT, path, "no run offers this link");
		nanosleep(&(struct timespec){0, LOOK_NS}, NULL);
	}
}

int gpu_link_claim(struct gpu_link *link, uint32_t rank, const char *device,
		   struct refusal *refusal)
{
	if (rank >= link->header->rank_count) {
		name(refusal, link->path);
		return refuse(refusal, -EINVAL, "there is no rank %: the run has %", rank,
			      link->header->rank_count, 0);
	}
	if (take_byte(link->fd, 1 + (off_t)rank) < 0 ||
	    gpu_link_rank_state(link, rank) != GPU_RANK_FREE) {
		name(refusal, link->path);
		return refuse(refusal, -EBUSY, "rank % has a generator", rank, 0, 0);
	}
	struct gpu_link_rank *of = &link->ranks[rank];
	of->pid = (uint32_t)getpid();
	snprintf(of->device, sizeof(of->device), "%s", device);
	gpu_link_beat_rank(link, rank, gpu_clock_ns());
	return 0;
}

// ---------------------------------------------------------------- states and flags

void gpu_link_set_rank(struct gpu_link *link, uint32_t rank, enum gpu_rank_state state)
{
	__atomic_store_n(&link->ranks[rank].state, (uint32_t)state, __ATOMIC_RELEASE);
}

enum gpu_rank_state gpu_link_rank_state(const struct gpu_link *link, uint32_t rank)
{
	return (enum gpu_rank_state)__atomic_load_n(&link->ranks[rank].state, __ATOMIC_ACQUIRE);
}

void gpu_link_set_host(struct gpu_link *link, enum gpu_host_state state, int64_t start_ns)
{
	link->header->start_ns = start_ns;
	__atomic_store_n(&link->header->state, (uint32_t)state, __ATOMIC_RELEASE);
}

enum gpu_host_state gpu_link_host_state(const struct gpu_link *link)
{
	return (enum gpu_host_state)__atomic_load_n(&link->header->state, __ATOMIC_ACQUIRE);
}

void gpu_link_beat_host(struct gpu_link *link, int64_t now_ns)
{
	__atomic_store_n(&link->header->beat_ns, now_ns, __ATOMIC_RELAXED);
}

void gpu_link_beat_rank(struct gpu_link *link, uint32_t rank, int64_t now_ns)
{
	__atomic_store_n(&link->ranks[rank].beat_ns, now_ns, __ATOMIC_RELAXED);
}

static enum gpu_peer peer_is(const struct gpu_link *link, off_t byte, const int64_t *beat_ns,
			     int64_t now_ns)
{
#ifndef PLANT_UNSEEN_DEATH // a bug on purpose: a test must find it
	if (!is_held(link->fd, byte))
		return GPU_PEER_GONE;
#endif
	int64_t age_ns = now_ns - __atomic_load_n(beat_ns, __ATOMIC_RELAXED);
	return age_ns > GPU_SILENT_NS ? GPU_PEER_SILENT : GPU_PEER_HERE;
}

enum gpu_peer gpu_link_host_is(const struct gpu_link *link, int64_t now_ns)
{
	return peer_is(link, 0, &link->header->beat_ns, now_ns);
}

enum gpu_peer gpu_link_rank_is(const struct gpu_link *link, uint32_t rank, int64_t now_ns)
{
	return peer_is(link, 1 + (off_t)rank, &link->ranks[rank].beat_ns, now_ns);
}

void gpu_link_raise(struct gpu_link_flag *flag, int64_t at_ns)
{
	flag->at_ns = at_ns;
	__atomic_store_n(&flag->is_set, 1, __ATOMIC_RELEASE);
}

bool gpu_link_is_raised(const struct gpu_link_flag *flag)
{
	return __atomic_load_n(&flag->is_set, __ATOMIC_ACQUIRE) != 0;
}

bool gpu_link_have_ended(const struct gpu_link *link, uint32_t steps)
{
	for (uint32_t rank = 0; rank < link->header->rank_count; rank++)
		if (__atomic_load_n(&link->ranks[rank].step, __ATOMIC_ACQUIRE) < steps)
			return false;
	return true;
}

// ---------------------------------------------------------------- steps

static void note_step(struct gpu_lateness *steps, struct gpu_link_figures *figures, int64_t took_ns)
{
	gpu_lateness_add(steps, took_ns);
	figures->step_mean_ns += took_ns;
}

int gpu_link_measure_steps(const struct gpu_link *link, uint32_t rank,
			   struct gpu_link_figures *figures)
{
	uint32_t count = link->header->op_count;
	struct gpu_lateness steps;
	int64_t begin_ns = link->header->start_ns;
	if (gpu_lateness_init(&steps, link->ops[count - 1].step + 1) < 0)
		return -ENOMEM;
	figures->step_mean_ns = 0;
	for (uint32_t i = 0; i < count; i++) {
		int64_t end_ns = gpu_link_flag_of(link, link->done, rank, i)->at_ns;
		if (link->ops[i].work != GPU_UPDATE)
			continue;
		note_step(&steps, figures, end_ns - begin_ns);
		begin_ns = end_ns;
	}
	figures->step_mean_ns /= steps.count > 0 ? steps.count : 1;
	figures->step_min_ns = gpu_lateness_quantile(&steps, 0);
	figures->step_p50_ns = gpu_lateness_quantile(&steps, 500);
	figures->step_max_ns = gpu_lateness_quantile(&steps, 1000);
	gpu_lateness_free(&steps);
	return 0;
}

void gpu_link_close(struct gpu_link *link)
{
	if (link->base != NULL)
		munmap(link->base, link->bytes);
	if (link->fd >= 0 && link->is_host)
		unlink(link->path);
	if (link->fd >= 0)
		close(link->fd);
	link->header = NULL;
	link->base = NULL;
	link->fd = -1;
}
