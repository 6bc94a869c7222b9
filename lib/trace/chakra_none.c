// SPDX-License-Identifier: Apache-2.0
// A build without protobuf-c.

#include <errno.h>

#include <weft/trace/trace_run.h>

#include "set.h"

int trace_read_chakra(struct trace_input *input)
{
	return refuse(input->refusal, -ENOTSUP,
		      "this build cannot read Chakra's protocol buffers: protobuf-c "
		      "(libprotobuf-c-dev, protobuf-c-compiler) was not there");
}

int trace_chakra_text(char **ret_text, size_t *ret_bytes, const struct trace_set *set,
		      uint32_t rank, struct refusal *refusal)
{
	return refuse(refusal, -ENOTSUP,
		      "this build cannot write Chakra's protocol buffers: protobuf-c "
		      "(libprotobuf-c-dev, protobuf-c-compiler) was not there");
}
