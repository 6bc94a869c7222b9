// SPDX-License-Identifier: Apache-2.0
// Between start and stop a host in wall time that owns its core makes no system call and allocates
// nothing: two of them in one process over DPDK's ring ports, and two processes over memif. See
// quiet.h; a child that does either in the middle of its run shows that the watches work.

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/ports/device.h>

#include "quiet.h"
#include "wall_pair.h"

#define FLOWS "{from: 0, to: 1, bytes: 32MiB}, {from: 1, to: 0, bytes: 32MiB}"
#define WAIT_S 60
#define SETTLE_US 300000

// How a child ends.
enum word { FINE, REFUSED, NOT_DONE, WRONG_BYTES, ALLOCATES, NO_FILTER };

enum what { QUIET, CALLS, DRAWS };

// What both processes see.
struct shared {
	int ready[2];
	struct ending ending;
};

static enum what what; // a child does in its run
static uint64_t looks;

// The clock of a loop, which at one look does what it may not.
static int64_t clock_ns(void *context)
{
	if (++looks == 20 && what == CALLS)
		syscall(SYS_getppid);
	if (looks == 20 && what == DRAWS) {
		void *volatile block = malloc(10);
		free(block);
	}
	return dpdk_clock_ns(context);
}

static int verdict(const struct pair *pair, uint32_t host)
{
	const struct wall_counts *counts = wall_counts(pair->wall[host]);
	if (counts->payload_bytes_wrong > 0 || counts->payload_bytes_good != 32 << 20)
		return WRONG_BYTES;
	return calls == 0 ? FINE : ALLOCATES;
}

// ---------------------------------------------------------------- one process

static int open_rings(struct ports *ports, struct arena *arena, struct refusal *refusal)
{
	static const struct dpdk_options options = {.lanes = 1};
	return port_dpdk_open(ports, arena, &options, refusal);
}

static int run_rings(struct shared *shared)
{
	(void)shared;
	open_kind = open_rings;
	struct pair *pair = pair_open_at(FLOWS, "", "100us");
	if (!forbid_calls(false))
		return NO_FILTER;
	is_watching = true;
	wall_announce(pair->wall[0]);
	wall_announce(pair->wall[1]);
	int64_t start_ns = clock_ns(NULL);
	do {
		pair->now = (clock_ns(NULL) - start_ns) * PS_PER_NS;
		wall_turn(pair->wall[0], pair->now);
		wall_turn(pair->wall[1], pair->now);
	} while (!is_done(pair) && pair->now < WAIT_S * PS_PER_S);
	is_watching = false;
	if (!is_done(pair))
		return NOT_DONE;
	int first = verdict(pair, 0);
	return first != FINE ? first : verdict(pair, 1);
}

// ---------------------------------------------------------------- two processes

static void await(const int *flag)
{
	for (int i = 0; i < WAIT_S * 1000 && !__atomic_load_n(flag, __ATOMIC_ACQUIRE); i++)
		usleep(1000);
}

// Ports to the other process; host 0 is the server, and there first.
static int open_memif(struct pair *pair, struct shared *shared, uint32_t host)
{
	static const struct dpdk_options options = {.lanes = 1};
	struct device devices[PLANES];
	struct codec codec;
	if (codec_init(&codec, &pair->world[0], &pair->refusal) < 0)
		return -1;
	for (uint32_t i = 0; i < PLANES; i++) {
		devices[i].is_server = host == 0;
		snprintf(devices[i].word, sizeof(devices[i].word), "memif:quiet-%d-%u", getppid(),
			 i);
	}
	pair->ports = (struct ports){.frames = 8192, .frame_bytes_max = codec.frame_bytes_max};
	if (host == 1)
		await(&shared->ready[0]);
	int rc = port_device_open(&pair->ports, &pair->ports_arena, devices, PLANES, &options,
				  &pair->refusal);
	__atomic_store_n(&shared->ready[host], 1, __ATOMIC_RELEASE);
	await(&shared->ready[1 - host]);
	for (uint32_t i = 0; rc == 0 && i < PLANES; i++)
		for (int k = 0; k < WAIT_S * 1000 && !port_device_is_up(&pair->ports, i); k++)
			usleep(1000);
	return rc < 0 ? rc : port_device_settle(&pair->ports, &pair->refusal);
}

static int open_end(struct pair *pair, struct shared *shared, uint32_t host)
{
	struct wall_port wall_ports[PLANES];
	if (open_memif(pair, shared, host) < 0)
		return -1;
	for (uint32_t i = 0; i < PLANES; i++)
		wall_ports[i] = (struct wall_port){
			.port = i, .peer = WALL_ANY_HOST, .rx_queue = i, .tx_queue = i};
	const struct wall_options options = {.host = host,
					     .ports = &pair->ports,
					     .wall_ports = wall_ports,
					     .wall_port_count = PLANES,
					     .stall_ps = STALL_PS,
					     .dead_ps = WAIT_S * PS_PER_S};
	return wall_create(&pair->wall[host], &pair->world[host], &options, &pair->refusal);
}

static int run_end(struct shared *shared, uint32_t host)
{
	struct ending_part part = {&shared->ending, host};
	struct pair *pair = pair_build(FLOWS, "", "100us");
	const struct wall_control control = {.clock = clock_ns,
					     .news = &shared->ending.news,
					     .done = ending_tell,
					     .done_context = &part,
					     .owns_core = true};
	if (open_end(pair, shared, host) < 0) {
		fprintf(stderr, "refused: %s\n", pair->refusal.text);
		return REFUSED;
	}
	usleep(SETTLE_US); // DPDK's interrupt thread goes to sleep, for good
	if (!forbid_calls(false))
		return NO_FILTER;
	is_watching = true;
	enum wall_end ended = wall_run(pair->wall[host], &control);
	is_watching = false;
	return ended == WALL_END_DONE ? verdict(pair, host) : NOT_DONE;
}

static int run_server(struct shared *shared)
{
	return run_end(shared, 0);
}

static int run_client(struct shared *shared)
{
	what = QUIET;
	return run_end(shared, 1);
}

// ---------------------------------------------------------------- children

static pid_t start(int (*run)(struct shared *shared), struct shared *shared)
{
	fflush(NULL);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0)
		_exit(run(shared));
	return child;
}

static int end_of(pid_t child)
{
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void check_end(int status)
{
	bool is_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
	if (what == CALLS) {
		assert_true(is_killed);
		return;
	}
	if (is_killed)
		fail_msg("the run made a system call");
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), what == DRAWS ? ALLOCATES : FINE);
}

static void two_hosts_over_ring_ports(void **state)
{
	what = *(const enum what *)*state;
	check_end(end_of(start(run_rings, NULL)));
}

static void two_processes_over_memif(void **state)
{
	what = *(const enum what *)*state;
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(shared != MAP_FAILED);
	pid_t server = start(run_server, shared), client = start(run_client, shared);
	int status = end_of(server);
	check_end(status);
	if (what == CALLS)
		kill(client, SIGKILL); // it waits for the other end
	int other = end_of(client);
	if (what != CALLS)
		assert_int_equal(other, 0);
	munmap(shared, sizeof(*shared));
}

int main(void)
{
	static enum what quiet = QUIET, makes_calls = CALLS, draws = DRAWS;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(two_hosts_over_ring_ports, &makes_calls),
		cmocka_unit_test_prestate(two_hosts_over_ring_ports, &draws),
		cmocka_unit_test_prestate(two_hosts_over_ring_ports, &quiet),
		cmocka_unit_test_prestate(two_processes_over_memif, &makes_calls),
		cmocka_unit_test_prestate(two_processes_over_memif, &draws),
		cmocka_unit_test_prestate(two_processes_over_memif, &quiet),
	};
	pair_times = "rto: 300ms, hole_age: 30ms"; // others have the cores, too
	if (!can_forbid_calls()) {
		printf("skipped: this kernel, or this CPU, has no seccomp filter\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
