// SPDX-License-Identifier: Apache-2.0
// DPDK's environment (EAL). Our defaults need no huge pages, no PCI devices and no files; a word of
// the caller's takes the place of the default that it would clash with.

#include "dpdk_ports.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include <weft/core/check.h>
#include <weft/files/files.h>
#include <weft/ports/port.h>

#define WORDS_MAX 128
#define WORD_BYTES 1024
#define SAID_BYTES 8192
#define OWN_MIB 96	 // what DPDK needs beside frames
#define EXIT_BAD_INPUT 2 // of programs

// A default, and the caller's words (or their beginnings) that take its place.
struct eal_default {
	const char *word;
	const char *unless[6];
};

static const struct eal_default defaults[] = {
	{"--no-huge", {"--no-huge", "--in-memory", "--huge-dir", "--huge-unlink", "--socket-mem"}},
	{"--no-pci", {"--no-pci", "-a", "--allow", "-b", "--block"}},
	{"--no-shconf", {"--no-shconf", "--in-memory", "--proc-type"}},
	{"--no-telemetry", {"--no-telemetry", "--telemetry"}},
	{"--log-level=error", {"--log-level"}},
	{"--file-prefix=", {"--file-prefix"}},
	{"-m", {"-m", "--socket-mem"}},
	{"--lcores=", {"-l", "-c", "--lcores"}},
};

struct words {
	char text[WORDS_MAX][WORD_BYTES];
	char *at[WORDS_MAX + 1];
	int count;
};

// Once in a process, also when the caller's words were wrong: then it stays refused.
static bool is_started;
static bool has_devices; // which only the end of the process closes
static struct refusal refused;
static int refused_rc;

// ---------------------------------------------------------------- words

static void add_word(struct words *words, const char *format, ...)
{
	va_list arguments;
	check(words->count < WORDS_MAX);
	va_start(arguments, format);
	vsnprintf(words->text[words->count], WORD_BYTES, format, arguments);
	va_end(arguments);
	words->at[words->count] = words->text[words->count];
	words->at[++words->count] = NULL;
}

static bool begins(const char *word, const char *with)
{
	return strncmp(word, with, strlen(with)) == 0;
}

static bool is_replaced(const struct eal_default *own, const struct dpdk_options *options)
{
	for (uint32_t i = 0; i < options->word_count; i++)
		for (const char *const *unless = own->unless; *unless != NULL; unless++)
			if (begins(options->words[i], *unless))
				return true;
	return false;
}

// The CPUs that this process may use, "0,1,5".
static uint32_t cpu_list(char *ret, size_t bytes)
{
	cpu_set_t set;
	uint32_t count = 0;
	ret[0] = '\0';
	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		CPU_ZERO(&set);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		size_t used = strlen(ret);
		if (CPU_ISSET(cpu, &set) && used + 8 < bytes)
			snprintf(ret + used, bytes - used, "%s%d", count++ > 0 ? "," : "", cpu);
	}
	return count;
}

// One lane goes where the system likes; several have a CPU each.
static void add_lcores(struct words *words, uint32_t lanes)
{
	char cpus[WORD_BYTES - 64], lcores[WORD_BYTES] = "";
	cpu_list(cpus, sizeof(cpus));
	if (lanes <= 1) {
		add_word(words, "--lcores=0@(%s)", cpus);
		return;
	}
	const char *cpu = cpus;
	for (uint32_t i = 0; i < lanes; i++) {
		size_t used = strlen(lcores);
		snprintf(lcores + used, sizeof(lcores) - used, "%s%u@%ld", i > 0 ? "," : "", i,
			 strtol(cpu, (char **)&cpu, 10));
		cpu += *cpu == ',';
	}
	add_word(words, "--lcores=%s", lcores);
}

static void add_default(struct words *words, const struct eal_default *own,
			const struct dpdk_options *options, uint64_t memory_bytes)
{
	if (is_replaced(own, options))
		return;
	if (strcmp(own->word, "-m") == 0) {
		add_word(words, "-m");
		add_word(words, "%llu", (unsigned long long)(memory_bytes >> 20) + OWN_MIB);
	} else if (strcmp(own->word, "--file-prefix=") == 0) {
		add_word(words, "--file-prefix=weft-%ld", (long)getpid());
	} else if (strcmp(own->word, "--lcores=") == 0) {
		add_lcores(words, options->lanes);
	} else {
		add_word(words, "%s", own->word);
	}
}

// ---------------------------------------------------------------- what DPDK says

// Where the standard outputs go while DPDK starts: it prints its reasons, and pages of help.
struct listener {
	int file;
	int out, error; // what stood there; -1: nothing, it was closed
};

static struct listener listener;
static bool is_listening;

// A copy that lies on none of the standard files, should one of them be closed. False when the
// system has no room for it.
static bool copy_above(int file, int *ret_copy)
{
	*ret_copy = fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	return *ret_copy >= 0 || errno == EBADF;
}

static void put_back(int copy, int standard)
{
	if (copy < 0) {
		close(standard);
		return;
	}
	dup2(copy, standard);
	close(copy);
}

static bool listen_begin(void)
{
	fflush(stdout);
	if (!copy_above(STDOUT_FILENO, &listener.out))
		return false;
	bool has_copies = copy_above(STDERR_FILENO, &listener.error);
	int file = memfd_create("weft-eal", MFD_CLOEXEC); // may lie on a standard file
	is_listening = has_copies && file >= 0 && copy_above(file, &listener.file);
	if (file >= 0)
		close(file);
	if (is_listening) {
		dup2(listener.file, STDOUT_FILENO);
		dup2(listener.file, STDERR_FILENO);
		return true;
	}
	if (listener.out >= 0)
		close(listener.out);
	if (listener.error >= 0)
		close(listener.error);
	return false;
}

// Puts the outputs back; what was said is in `ret`.
static void listen_end(char *ret, size_t bytes)
{
	fflush(stdout);
	put_back(listener.out, STDOUT_FILENO);
	put_back(listener.error, STDERR_FILENO);
	ssize_t length = pread(listener.file, ret, bytes - 1, 0);
	ret[length > 0 ? length : 0] = '\0';
	close(listener.file);
	is_listening = false;
}

// For some words DPDK prints help and ends the program, as if all were well.
static void say_exit(void)
{
	char said[SAID_BYTES];
	if (!is_listening)
		return;
	listen_end(said, sizeof(said));
	fprintf(stderr, "weft: DPDK ended the program: do the words of --eal ask for its help?\n");
	_exit(EXIT_BAD_INPUT);
}

// The words that tell why: what getopt says of an option, else the first that DPDK marked as its
// own, to the end of the line.
static const char *reason_of(char *said)
{
	static const char *const marks[] = {"unrecognized option", "invalid option",
					    "option requires", "option '", "EAL: "};
	char *at = NULL;
	for (size_t i = 0; at == NULL && i < sizeof(marks) / sizeof(*marks); i++)
		at = strstr(said, marks[i]);
	if (at == NULL)
		at = said;
	at[strcspn(at, "\n")] = '\0';
	return at[0] != '\0' ? at : "it says nothing";
}

static int refuse_start(struct refusal *refusal, char *said)
{
	snprintf(refusal->text, sizeof(refusal->text), "DPDK does not start: %.160s",
		 reason_of(said));
	return -ENODEV;
}

// ---------------------------------------------------------------- start and end

// Devices that the caller's words made, and nobody would use.
static int check_devices(struct refusal *refusal)
{
	uint16_t port = 0;
	struct rte_eth_dev_info info = {0};
	if (rte_eth_dev_count_avail() == 0)
		return 0;
	RTE_ETH_FOREACH_DEV(port)
	{
		rte_eth_dev_info_get(port, &info);
		break;
	}
	snprintf(refusal->text, sizeof(refusal->text),
		 "--eal makes a port of driver %.60s, which no cable would use",
		 info.driver_name != NULL ? info.driver_name : "?");
	return -ENODEV;
}

static int check_lanes(const struct dpdk_options *options, struct refusal *refusal)
{
	char cpus[WORD_BYTES];
	uint32_t lanes = options->lanes > 1 ? options->lanes : 1;
	uint32_t count = cpu_list(cpus, sizeof(cpus));
	if (lanes > 1 && lanes > count)
		return refuse(refusal, -ENODEV, "% lanes want a CPU each, and there are %", lanes,
			      count);
	return 0;
}

// DPDK takes all of its memory at its start: what is not there would take the machine down.
static int check_memory(const struct dpdk_options *options, uint64_t memory_bytes,
			struct refusal *refusal)
{
	static const struct eal_default own = {"-m", {"-m", "--socket-mem"}};
	uint64_t wanted = memory_bytes + (uint64_t)OWN_MIB * 1024 * 1024;
	uint64_t there = memory_available_bytes();
	if (wanted <= there || is_replaced(&own, options))
		return 0;
	return refuse(refusal, -ENODEV,
		      "the frames of this world take % MiB, and the machine has % MiB: lower "
		      "limits.packets",
		      (int64_t)(wanted >> 20), (int64_t)(there >> 20));
}

static int refuse_word(struct refusal *refusal, const char *word, const char *why)
{
	snprintf(refusal->file, sizeof(refusal->file), "--eal");
	snprintf(refusal->text, sizeof(refusal->text), "%s '%.60s'", why, word);
	return -EINVAL;
}

// Words that DPDK would not refuse, but that run nothing: it ends the program after its help.
static int check_words(const struct dpdk_options *options, struct refusal *refusal)
{
	if (options->word_count + 16 > WORDS_MAX)
		return refuse(refusal, -EINVAL, "--eal has % words; at most % are taken",
			      options->word_count, WORDS_MAX - 16);
	for (uint32_t i = 0; i < options->word_count; i++)
		if (begins(options->words[i], "-h") || begins(options->words[i], "--he"))
			return refuse_word(refusal, options->words[i],
					   "DPDK's help would end the program, at");
	return 0;
}

// DPDK steps over words that are no options; `taken` is how many it took.
static int check_taken(const struct words *words, int taken, struct refusal *refusal)
{
	if (taken + 1 >= words->count)
		return 0;
	return refuse_word(refusal, words->at[taken + 1], "DPDK takes no");
}

// DPDK makes a folder for each name of a process, and leaves it behind. One with files in it is
// somebody's, and stays.
static void remove_folder(void)
{
	char path[256];
	snprintf(path, sizeof(path), "%s/dpdk_telemetry.v2", rte_eal_get_runtime_dir());
	if (!is_started)
		unlink(path); // of telemetry, whose thread nobody stops
	rmdir(rte_eal_get_runtime_dir());
}

static int start(const struct dpdk_options *options, uint64_t memory_bytes, struct refusal *refusal)
{
	static struct words words; // the EAL keeps pointers to them
	char said[SAID_BYTES];
	words.count = 0;
	add_word(&words, "weft");
	for (size_t i = 0; i < sizeof(defaults) / sizeof(*defaults); i++)
		add_default(&words, &defaults[i], options, memory_bytes);
	for (uint32_t i = 0; i < options->word_count; i++)
		add_word(&words, "%s", options->words[i]);
	if (!listen_begin())
		return refuse(refusal, -ENODEV, "the system gives no file for DPDK's words");
	atexit(say_exit);
	opterr = 1; // getopt says which option is wrong, unless somebody asked it not to
	int rc = rte_eal_init(words.count, words.at);
	listen_end(said, sizeof(said));
	if (rc < 0) {
		remove_folder();
		return refuse_start(refusal, said);
	}
	is_started = true;
	has_devices = options->has_devices;
	remove_folder(); // nothing is put there, and a process that is killed would leave it
	return check_taken(&words, rc, refusal);
}

// Runs after the first have the lcores that it asked for, or fewer.
static int check_lcores(const struct dpdk_options *options, struct refusal *refusal)
{
	if (options->lanes <= rte_lcore_count())
		return 0;
	return refuse(refusal, -ENODEV, "DPDK was started with % lcores; % lanes want one each",
		      rte_lcore_count(), options->lanes);
}

// What the first start finds wrong once DPDK runs.
static int check_started(const struct dpdk_options *options, struct refusal *refusal)
{
	uint32_t lanes = options->lanes > 1 ? options->lanes : 1;
	if (rte_lcore_count() != lanes)
		return refuse(refusal, -ENODEV, "--eal gives % lcores to % lanes",
			      rte_lcore_count(), lanes);
	return has_devices ? 0 : check_devices(refusal);
}

int dpdk_start(const struct dpdk_options *options, uint64_t memory_bytes, struct refusal *refusal)
{
	if (is_started && refused_rc < 0) {
		*refusal = refused;
		return refused_rc;
	}
	if (is_started)
		return check_lcores(options, refusal);
	int rc = check_words(options, refusal);
	if (rc == 0)
		rc = check_lanes(options, refusal);
	if (rc == 0)
		rc = check_memory(options, memory_bytes, refusal);
	if (rc == 0)
		rc = start(options, memory_bytes, refusal);
	if (rc == 0)
		rc = check_started(options, refusal);
	if (rc < 0) {
		refused = *refusal;
		refused_rc = rc;
	}
	return rc;
}

void dpdk_stop(void)
{
	if (is_started && !has_devices)
		rte_eal_cleanup();
	bool was_started = is_started;
	is_started = false;
	if (was_started)
		remove_folder();
}

int64_t dpdk_clock_ns(void *context)
{
	(void)context;
	return (int64_t)((unsigned __int128)rte_rdtsc() * 1000000000u / rte_get_tsc_hz());
}

// ---------------------------------------------------------------- lanes

struct launch {
	void (*fn)(void *);
	void *context;
};

static int run_one(void *argument)
{
	const struct launch *launch = argument;
	launch->fn(launch->context);
	return 0;
}

void dpdk_run(void (*fn)(void *), void *const *contexts, uint32_t count)
{
	struct launch launches[PORT_LANES_MAX];
	unsigned lcore;
	uint32_t next = 1;
	RTE_LCORE_FOREACH_WORKER(lcore)
	{
		if (next == count) // this run has fewer lanes than the first
			break;
		launches[next] = (struct launch){fn, contexts[next]};
		int rc = rte_eal_remote_launch(run_one, &launches[next], lcore);
		check(rc == 0);
		next++;
	}
	check(next == count);
	fn(contexts[0]);
	rte_eal_mp_wait_lcore();
}
