// SPDX-License-Identifier: Apache-2.0
// Numbers of Chakra's NodeType, for the reader and the writer.
#pragma once

enum chakra_type {
	TYPE_INVALID,
	TYPE_METADATA,
	TYPE_MEMORY_LOAD,
	TYPE_MEMORY_STORE,
	TYPE_COMPUTE,
	TYPE_SEND,
	TYPE_RECEIVE,
	TYPE_COLLECTIVE,
	TYPE_STORAGE,
	TYPE_BATCH,
	TYPE_CHECKPOINT,
	TYPE_COUNT
};

#define CHAKRA_GROUP_ALL "all"	  // our name for a collective without pg_name
#define CHAKRA_PICO "duration_ps" // ours: a time that is no whole number of microseconds
