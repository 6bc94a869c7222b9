// SPDX-License-Identifier: Apache-2.0
// Traces of training jobs as other programs write them, read into one form: nodes of a rank
// (computation, sends, receives, collectives) that wait for each other. This room takes memory from
// the system, so it stands beside the pure rooms: a world is given a program
// (weft/workload/program.h).
//
//   set.c         nodes, memory                 wait.c         which node waits for which, circles
//   members.c     groups and their members      file_rank.c         which file is of which rank
//   format.c      which format a text has       unpack.c       gzip
//   chakra.c      Chakra ET (protocol buffers)  chakra_json.c  Chakra as JSON
//   pytorch.c     execution trace of PyTorch    kineto.c       PyTorch's profiler
//   aicb.c        AICB's CSV                    simai.c        text of SimAI and AICB
//   goal.c        GOAL                          count.c        what is in a set
//   phases.c      what steps computed (weft/trace/trace_phases.h)
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/core/refusal.h>
#include <weft/core/time.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TRACE_NAME_BYTES 48
#define TRACE_PATH_BYTES 256
#define TRACE_UNPACKED_BYTES_MAX ((size_t)1 << 29)
#define TRACE_NONE_WAITED UINT32_MAX

enum trace_format {
	TRACE_FORMAT_CHAKRA,	  // messages of Chakra's et_def.proto, each behind its length
	TRACE_FORMAT_CHAKRA_JSON, // {"workload_graph": [...]}
	TRACE_FORMAT_PYTORCH,	  // {"schema", "nodes": [...]}: ExecutionTraceObserver
	TRACE_FORMAT_KINETO,	  // {"traceEvents": [...]}: torch.profiler
	TRACE_FORMAT_SIMAI,	  // text of SimAI, all parallel sizes on line 1
	TRACE_FORMAT_AICB,	  // the same text without them
	TRACE_FORMAT_MICRO,	  // the same columns, a list of single collectives
	TRACE_FORMAT_AICB_CSV,	  // comm_type,comm_group,...
	TRACE_FORMAT_GOAL,	  // "num_ranks": LogGOPSim, Schedgen; all ranks in one file
	TRACE_FORMAT_COUNT
};

// "chakra", "chakra-json", "pytorch", "kineto", "simai", "aicb", "micro", "aicb-csv", "goal".
const char *trace_format_name(enum trace_format format);

enum trace_kind {
	TRACE_KIND_OTHER, // neither computes nor communicates: metadata, memory, a wait
	TRACE_KIND_COMPUTE,
	TRACE_KIND_SEND,
	TRACE_KIND_RECEIVE,
	TRACE_KIND_COLLECTIVE, // with `bytes`
	TRACE_KIND_CALL,       // a collective as the host called it; what it moved is another node
	TRACE_KIND_COUNT
};

// "other", "compute", "send", "receive", "collective", "call".
const char *trace_kind_name(enum trace_kind kind);

// Numbers of Chakra's CollectiveCommType.
enum trace_collective {
	TRACE_COLLECTIVE_ALL_REDUCE,
	TRACE_COLLECTIVE_REDUCE,
	TRACE_COLLECTIVE_ALL_GATHER,
	TRACE_COLLECTIVE_GATHER,
	TRACE_COLLECTIVE_SCATTER,
	TRACE_COLLECTIVE_BROADCAST,
	TRACE_COLLECTIVE_ALL_TO_ALL,
	TRACE_COLLECTIVE_REDUCE_SCATTER,
	TRACE_COLLECTIVE_REDUCE_SCATTER_BLOCK,
	TRACE_COLLECTIVE_BARRIER,
	TRACE_COLLECTIVE_COUNT
};

// "all_reduce", ..., "broadcast".
const char *trace_collective_name(enum trace_collective collective);

struct trace_node {
	uint64_t id;			 // as in the file; its number where the file has none
	uint64_t bytes;			 // as in the file: see trace_set.gathers_whole
	ps_t start_ps;			 // from the first node on; 0 where the file does not tell
	ps_t duration_ps;		 // 0 where the file does not tell
	uint32_t wait_first, wait_count; // in trace_rank.waits
	uint32_t group;			 // collective, and messages of PyTorch: in trace_set.groups
	uint32_t split_first, split_count;	 // all-to-all: in trace_rank.splits; 0: all equal
	uint32_t received_first, received_count; // the same of what it receives; 0: not said
	uint32_t peer, tag;			 // send, receive
	uint32_t place;		     // line, or number of the record in the file, from 1
	uint32_t stream;	     // what runs one after the other
	uint8_t kind;		     // enum trace_kind
	uint8_t collective;	     // enum trace_collective
	bool is_host;		     // on the CPU
	char name[TRACE_NAME_BYTES]; // cut; printable
};

// One file: what one rank did, or what each rank does; of GOAL one block of the file.
struct trace_rank {
	char path[TRACE_PATH_BYTES];
	uint32_t node_count, node_max;
	struct trace_node *nodes; // [node_count], owned
	uint32_t wait_count, wait_max;
	uint64_t *wait_ids; // [wait_count] as in the file, owned
	uint32_t *waits;    // [wait_count] index of a node, or TRACE_NONE_WAITED; owned
	uint32_t split_count;
	uint64_t *splits;  // [split_count] bytes for each member in turn; owned
	uint32_t missing;  // waits for nodes that are not in the file
	uint32_t circular; // nodes that wait in a circle, or for one
	uint32_t cut;	   // waits that were left out, so that there is no circle
	uint64_t records;  // messages, events, nodes or lines of the file, all of them
	uint32_t number;   // rank of the job that the file says it is of
	uint32_t own;	   // rank that its messages say is their end here
	bool has_number, has_own;
};

// Two groups are the same when name, size and list of members are: names are given twice.
struct trace_process_group {
	char name[TRACE_NAME_BYTES];
	uint32_t ranks;	 // 0: unknown
	uint32_t stride; // from one member to the next; 0: unknown, or not the same everywhere
	uint32_t member_count; // 0: the members are unknown
	uint32_t *members;     // [member_count] ranks of the job, ascending; owned
};

struct trace_set {
	enum trace_format format;
	uint32_t file_count;
	uint32_t rank_count, rank_max;
	struct trace_rank *ranks; // [rank_count] one per file (GOAL: see there), owned
	uint32_t group_count, group_max;
	uint32_t listed_count;		    // groups that comm_group.json names: the first ones
	struct trace_process_group *groups; // [group_count], owned
	uint32_t nics_each;		    // of a rank, each one of `ranks`; 0 is 1
	uint32_t world;			    // ranks of the job as the file tells; 0: it does not
	uint64_t left_bytes;	   // of each pipeline transfer, which the file does not place
	bool gathers_whole;	   // bytes of an all-gather: the whole output; else one rank's part
	bool has_times;		   // durations
	bool is_lined_up;	   // trace_line_up() has been here
	uint64_t memory_bytes_max; // of operations, checked before lines are dealt; 0: no limit
	bool skips_damaged; // asked for: a record that cannot be read is left out, and counted
	uint64_t skipped;
	struct refusal first_skipped; // why the first one was
};

// Recognises a text by its first bytes (not packed). -EINVAL with a reason.
int trace_recognise(enum trace_format *ret, const char *text, size_t bytes,
		    struct refusal *refusal);

// Whether `text` is packed by gzip.
bool trace_is_packed(const char *text, size_t bytes);

// Unpacks into new memory (free()). -EINVAL with a reason: damaged, cut, more than
// TRACE_UNPACKED_BYTES_MAX; -ENOTSUP in a build without zlib; -ENOMEM.
int trace_unpack(char **ret_text, size_t *ret_bytes, const char *text, size_t bytes,
		 struct refusal *refusal);

// An empty set. Needs trace_set_free() after any call of trace_set_add().
void trace_set_init(struct trace_set *set, enum trace_format format);
void trace_set_free(struct trace_set *set);

// Reads one file of the set's format, which need not end with NUL. `path` is for messages. -EINVAL
// with file, line and column where the format has them, and the reason; -ENOTSUP in a build without
// what the format needs; -ENOMEM.
// With skips_damaged, records of Chakra, PyTorch, Kineto and lines of AICB's CSV that are refused
// are left out and counted; other formats refuse the wish.
int trace_set_add(struct trace_set *set, const char *path, const char *text, size_t bytes,
		  struct refusal *refusal);

// Reads astra-sim's comm_group.json, {"0": [0, 1], ...}: the members of groups that traces name by
// pg_name. Before the first file of the set. -EINVAL with file and reason, -ENOMEM.
int trace_set_groups(struct trace_set *set, const char *path, const char *text, size_t bytes,
		     struct refusal *refusal);

// ---------------------------------------------------------------- what is in it

// Communications of a kind, a group and a size.
struct trace_row {
	uint8_t kind, collective; // enum trace_kind, enum trace_collective
	uint32_t group;
	uint64_t bytes; // of each
	uint64_t count;
};

struct trace_count {
	uint64_t records, nodes, waits, missing, circular;
	uint64_t kinds[TRACE_KIND_COUNT];
	uint64_t bytes[TRACE_KIND_COUNT];
	ps_t compute_ps;  // of all ranks
	ps_t duration_ps; // of communications, of all ranks
	uint32_t row_count;
	struct trace_row *rows; // [row_count], in order of first appearance; owned
};

// Counts. -ENOMEM. `ret` needs trace_count_free() after 0.
int trace_count(struct trace_count *ret, const struct trace_set *set);
void trace_count_free(struct trace_count *count);

#ifdef __cplusplus
}
#endif
