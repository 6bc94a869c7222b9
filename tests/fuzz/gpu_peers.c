// SPDX-License-Identifier: Apache-2.0
// Fuzz: a link whose other end lies. The peer writes into the file at every look at the clock, nap
// and read of the file that the checked end makes, as the input says: headers, computations, rows,
// flags, lengths. So the same input is the same race. When the input is over the peer is gone, and
// the checked end must end soon, with a reason; what it took from the link must be what can be.

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <weft/gpu/gpu_generator.h>

#include "target.h"

#define OPS_MAX 64u
#define HOOKS_LEFT 100000u // that an end may need behind the end of the input
#define POLLS 40u

#ifndef WITH_LIBFUZZER
const char *const fuzz_folders[] = {NULL};
const char *const fuzz_texts[] = {
	"0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000",
	"1221100000000000000000000000000000000000000000000000\x80"
	"0abcdef\x81"
	"4999\x82"
	"6zz",
	"2111000000\x85\x01\x02\x03\x86\x04\x05\x06\x87\x07\x08\x09\x88\x0a\x0b\x0c\x89\x0d\x0e",
	"112003\x20"
	"000000000000000000000000000000000000000000000000000000000000000000000000",
	"3212101111111111111111111111111111111111111111111111111111111111\x84\x84\x84\x84\x84",
	NULL};
#endif

// The peer, and the input that it plays.
static struct {
	const uint8_t *at;
	size_t left;
	bool is_on, is_acting, has_let_go;
	int fd;
	struct gpu_link_header header;
	int64_t now_ns;
	uint32_t hooks_left, asked;
} peer;

static uint8_t next(void)
{
	if (peer.left == 0)
		return 0;
	peer.left--;
	return *peer.at++;
}

// ---------------------------------------------------------------- what it writes

static void put(uint64_t offset, const void *value, size_t bytes)
{
	if (syscall(SYS_pwrite64, peer.fd, value, bytes, offset) < 0)
		check(errno == EPERM || errno == EINVAL); // sealed, or no offset
}

static uint64_t odd_value(void)
{
	const uint64_t values[] = {0,
				   1,
				   2,
				   UINT64_MAX,
				   INT64_MAX,
				   (uint64_t)INT64_MIN,
				   UINT32_MAX,
				   UINT64_C(1) << 31,
				   UINT64_C(1) << 32,
				   peer.header.file_bytes,
				   peer.header.stretch_bytes,
				   peer.header.slice_bytes << 20,
				   (uint64_t)peer.now_ns,
				   (uint64_t)peer.now_ns + 4000000000u,
				   GPU_LINK_MAGIC,
				   77};
	uint8_t which = next();
	return which < 128 ? values[which % (sizeof(values) / sizeof(*values))]
			   : (uint64_t)next() << (which % 64);
}

static void put_odd(uint64_t offset)
{
	static const size_t sizes[] = {1, 4, 8, 8};
	uint64_t value = odd_value();
	put(offset, &value, sizes[next() % 4]);
}

static void raise_flag(uint64_t flags, uint32_t rank, uint32_t op, int64_t at_ns)
{
	struct gpu_link_flag flag = {.is_set = 1, .at_ns = at_ns};
	put(flags + (rank * peer.header.op_count + op) * sizeof(flag), &flag, sizeof(flag));
}

static uint32_t some_rank(void)
{
	return next() % peer.header.rank_count;
}

static uint32_t some_op(void)
{
	return next() % peer.header.op_count;
}

static void let_go(void)
{
	struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 0};
	fcntl(peer.fd, F_OFD_SETLK, &lock);
	peer.has_let_go = true;
}

static void resize(void)
{
	uint64_t bytes = next() * peer.header.file_bytes / 200;
	if (ftruncate(peer.fd, (off_t)bytes) < 0)
		check(errno == EPERM);
	if (next() % 2 == 0 && ftruncate(peer.fd, (off_t)peer.header.file_bytes) < 0)
		check(errno == EPERM);
}

static void act(void)
{
	const struct gpu_link_header *header = &peer.header;
	switch (next() % 9) {
	case 0:
		put_odd(next() % sizeof(*header));
		break;
	case 1:
		put_odd(header->ops + some_op() * sizeof(struct gpu_link_op) + next() % 12 * 4);
		break;
	case 2:
		put_odd(header->ranks + some_rank() * sizeof(struct gpu_link_rank) +
			next() % 70 * 4);
		break;
	case 3:
		raise_flag(header->asked, some_rank(), some_op(), (int64_t)odd_value());
		break;
	case 4:
		raise_flag(header->done, some_rank(), some_op(), (int64_t)odd_value());
		break;
	case 5:
		resize();
		break;
	case 6:
		peer.now_ns += next() * INT64_C(50000000);
		break;
	case 7:
		let_go();
		break;
	default:
		put_odd((uint64_t)next() * 256 % header->file_bytes);
	}
}

// Beside that it does what a run does, so that there is something to disturb.
static void be_a_run(void)
{
	const struct gpu_link_header *header = &peer.header;
	uint32_t count = header->rank_count * header->op_count, runs = GPU_HOST_RUNS;
	put(offsetof(struct gpu_link_header, beat_ns), &peer.now_ns, sizeof(peer.now_ns));
	if (peer.asked == 0) {
		put(offsetof(struct gpu_link_header, start_ns), &peer.now_ns, sizeof(peer.now_ns));
		put(offsetof(struct gpu_link_header, state), &runs, sizeof(runs));
	}
	if (peer.asked < count)
		raise_flag(header->asked, peer.asked / header->op_count,
			   peer.asked % header->op_count, peer.now_ns);
	peer.asked++;
}

// One turn of the peer.
static void turn(void)
{
	if (!peer.is_on || peer.is_acting)
		return;
	peer.is_acting = true;
	int error = errno;
	peer.now_ns += 5000;
	if (peer.left == 0) {
		if (!peer.has_let_go)
			let_go();
		check(peer.hooks_left-- > 0); // it does not end
		peer.now_ns += 20000000;
	} else if (next() < 128) {
		be_a_run();
	} else {
		act();
	}
	errno = error;
	peer.is_acting = false;
}

// ---------------------------------------------------------------- where it gets its turns

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	if (!peer.is_on || clock != CLOCK_MONOTONIC)
		return (int)syscall(SYS_clock_gettime, clock, ret);
	turn();
	*ret = (struct timespec){peer.now_ns / 1000000000, peer.now_ns % 1000000000};
	return 0;
}

int nanosleep(const struct timespec *nap, struct timespec *left)
{
	if (!peer.is_on)
		return (int)syscall(SYS_nanosleep, nap, left);
	peer.now_ns += nap->tv_nsec;
	turn();
	return 0;
}

int sched_yield(void)
{
	turn();
	return 0;
}

ssize_t pread(int fd, void *to, size_t bytes, off_t offset)
{
	ssize_t got = syscall(SYS_pread64, fd, to, bytes, offset);
	turn();
	return got;
}

// ---------------------------------------------------------------- the link

struct image {
	struct gpu_link_shape shape;
	struct gpu_link_op ops[OPS_MAX];
};

static void put_op(struct image *image, struct gpu_link_op op)
{
	check(image->shape.op_count < OPS_MAX);
	image->ops[image->shape.op_count++] = op;
}

// A few steps of one or two slices, as the first bytes of the input say.
static void draw(struct image *image)
{
	uint32_t ranks = 1 + next() % 3, slices = 1 + next() % 2, steps = 1 + next() % 3;
	uint32_t element = next() % 2 == 0 ? 2 : 4, block = 8 * element, slice = block * ranks;
	*image = (struct image){.shape = {.rank_count = ranks,
					  .element_bytes = element,
					  .block_bytes = block,
					  .slice_bytes = slice,
					  .bucket_bytes = slice,
					  .stretch_bytes = slices * slice,
					  .dilation_milli = 1000,
					  .limit_s = 2,
					  .has_barrier = next() % 2 == 0}};
	uint64_t away = next() % 4 == 3 ? (uint64_t)slice << next() % 56
					: 0; // all of them lie there
	for (uint32_t step = 0; step <= steps; step++) {
		put_op(image,
		       (struct gpu_link_op){.work = GPU_GATE,
					    .needs_messages = step > 0,
					    .step = step,
					    .bytes = slices * slice,
					    .compute_ns = 9000});
		for (uint32_t i = 0; i < 2 * slices && step < steps; i++)
			put_op(image,
			       (struct gpu_link_op){.work = i % 2 == 0 ? GPU_FILL : GPU_REDUCE,
						    .needs_messages = i % 2,
						    .step = step,
						    .slice = i / 2,
						    .offset = i / 2 * slice + away,
						    .bytes = slice,
						    .compute_ns = 7000});
		if (step < steps)
			put_op(image,
			       (struct gpu_link_op){.work = GPU_UPDATE,
						    .needs_messages = 1,
						    .step = step,
						    .compute_ns = 5000});
	}
}

static void check_refusal(int rc, const struct refusal *refusal)
{
	check(rc < 0 && refusal->text[0] != '\0');
	for (const char *at = refusal->text; *at != '\0'; at++)
		check(*at >= ' ' && *at < 127);
}

static void begin(const uint8_t *data, size_t bytes, struct image *image)
{
	peer.at = data;
	peer.left = bytes;
	peer.is_on = peer.has_let_go = false;
	peer.now_ns = INT64_C(1000000000000);
	peer.hooks_left = HOOKS_LEFT;
	peer.asked = 0;
	draw(image);
	gpu_link_lay_out(&peer.header, &image->shape);
	peer.header.state = GPU_HOST_WAITS;
	peer.header.beat_ns = peer.now_ns;
}

// A file that the peer made, without a seal.
static void make_file(const struct image *image)
{
	const struct gpu_link_header *header = &peer.header;
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
	peer.fd = memfd_create("peer", MFD_CLOEXEC);
	check(peer.fd >= 0 && ftruncate(peer.fd, (off_t)header->file_bytes) == 0);
	check(fcntl(peer.fd, F_OFD_SETLK, &lock) == 0);
	put(0, header, sizeof(*header));
	put(header->ops, image->ops, header->op_count * sizeof(*image->ops));
	for (uint32_t i = 0; i < header->rank_count; i++) {
		const struct gpu_link_rank row = {
			.buffer = header->buffers + i * header->buffer_bytes, .number = i};
		put(header->ranks + i * sizeof(row), &row, sizeof(row));
	}
}

// ---------------------------------------------------------------- a generator, and a run that lies

static void check_generator(const uint8_t *data, size_t bytes)
{
	struct image image;
	struct refusal refusal = {0};
	struct gpu_link link;
	const uint32_t rows[] = {0, 1, 2};
	begin(data, bytes, &image);
	make_file(&image);
	const struct gpu_link run = {.fd = peer.fd};
	for (uint32_t left = next() % 4; left > 0; left--) // some of the lists are wrong at once
		put_odd(peer.header.ops + some_op() * sizeof(struct gpu_link_op) + next() % 7 * 8);
	peer.is_on = true;
	int rc = gpu_link_join(&link, &run, &refusal);
	uint32_t count = rc == 0 ? link.header->rank_count : 0;
	for (uint32_t i = 0; rc == 0 && i < count; i++)
		rc = gpu_link_claim(&link, rows[i], "fuzz", &refusal);
	const struct gpu_generator_options options = {.ranks = rows, .rank_count = count};
	if (rc == 0)
		rc = gpu_host_run(&link, &options, &refusal);
	peer.is_on = false;
	if (rc < 0)
		check_refusal(rc, &refusal);
	for (uint32_t i = 0; rc == 0 && i < count; i++)
		check(gpu_link_figures_wrong(link.header, &link.figures[i]) == NULL);
	gpu_link_close(&link);
	close(peer.fd);
}

// ---------------------------------------------------------------- a run, and generators that lie

static void look_at_rank(const struct gpu_link *link, uint32_t rank)
{
	char device[GPU_NAME_BYTES];
	struct gpu_link_figures figures;
	int64_t at_ns;
	check(gpu_link_rank_state(link, rank) <= GPU_RANK_FAILED);
	gpu_link_rank_is(link, rank, gpu_clock_ns());
	for (uint32_t op = 0; op < link->header->op_count; op++)
		if (gpu_link_look(gpu_link_flag_of(link, link->done, rank, op), &at_ns) ==
		    GPU_LOOK_UP)
			check(at_ns >= 0 && at_ns <= peer.now_ns + GPU_AHEAD_NS);
	gpu_link_device(link, rank, device);
	check(memchr(device, '\0', sizeof(device)) != NULL);
	for (const char *at = device; *at != '\0'; at++)
		check(*at >= ' ' && *at < 127);
	memcpy(&figures, &link->ranks[rank].figures, sizeof(figures));
	if (gpu_link_figures_wrong(link->header, &figures) == NULL)
		check(figures.gates_ns + figures.update_wait_ns >= 0);
}

static void check_run(const uint8_t *data, size_t bytes)
{
	struct image image;
	struct refusal refusal = {0};
	struct gpu_link link;
	begin(data, bytes, &image);
	check(gpu_link_create(&link, NULL, &image.shape, &refusal) == 0);
	memcpy(link.ops, image.ops, image.shape.op_count * sizeof(*image.ops));
	if (gpu_link_offer(&link, &refusal) < 0) {
		check_refusal(-EINVAL, &refusal);
		gpu_link_close(&link);
		return;
	}
	char path[64];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", link.fd);
	peer.fd = open(path, O_RDWR | O_CLOEXEC);
	check(peer.fd >= 0);
	peer.is_on = true;
	for (uint32_t i = 0; i < POLLS && peer.left > 0; i++) {
		for (uint32_t rank = 0; rank < link.header->rank_count; rank++)
			look_at_rank(&link, rank);
		gpu_link_have_ended(&link, i);
		gpu_link_wrong(&link);
		check(gpu_link_header_wrong(link.header, link.bytes) == NULL);
	}
	peer.is_on = false;
	gpu_link_close(&link);
	close(peer.fd);
}

static void fuzz_one(const uint8_t *data, size_t bytes)
{
	if (bytes > FUZZ_BYTES_MAX)
		return;
	check_generator(data, bytes);
	check_run(data, bytes);
}
