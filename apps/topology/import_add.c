// SPDX-License-Identifier: Apache-2.0
// What all formats do: refuse, and add nodes and links. See import.h.
#include "import.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include <weft/scenario/scenario.h>

int import_refuse(const struct import *import, struct refusal *refusal, uint32_t line,
		  const char *format, ...)
{
	*refusal = (struct refusal){.line = line};
	refusal_name(refusal, import->path);
	va_list words;
	va_start(words, format);
	vsnprintf(refusal->text, sizeof(refusal->text), format, words);
	va_end(words);
	return -EINVAL;
}

// Room for one more of `bytes` each, of `max` at most.
static int grow(struct import *import, void **list, uint32_t count, uint32_t *room, size_t bytes,
		uint32_t max, const char *what, struct refusal *refusal)
{
	if (count == max)
		return import_refuse(import, refusal, 0, "there are more than %u %s", max, what);
	if (count < *room)
		return 0;
	uint32_t more = *room == 0 ? 64 : *room * 2;
	void *grown = realloc(*list, more * bytes);
	if (grown == NULL)
		return refuse(refusal, -ENODEV, "not enough memory");
	*list = grown;
	*room = more;
	return 0;
}

int import_add_node(struct import *import, const char *name, bool is_host, struct refusal *refusal)
{
	int rc = grow(import, (void **)&import->nodes, import->node_count, &import->node_room,
		      sizeof(*import->nodes), 2 * SCENARIO_LINKS_MAX, "nodes", refusal);
	if (rc < 0)
		return rc;
	struct import_node *node = &import->nodes[import->node_count++];
	*node = (struct import_node){.is_host = is_host};
	snprintf(node->name, sizeof(node->name), "%s", name);
	return 0;
}

int import_add_link(struct import *import, const struct import_link *link, struct refusal *refusal)
{
	struct import_node *a = &import->nodes[link->a], *b = &import->nodes[link->b];
	if (link->a == link->b || (a->is_host && b->is_host))
		return import_refuse(import, refusal, link->line,
				     "a link from `%s` to `%s`: one end at least is a switch",
				     a->name, b->name);
	int rc = grow(import, (void **)&import->links, import->link_count, &import->link_room,
		      sizeof(*import->links), SCENARIO_LINKS_MAX, "links", refusal);
	if (rc < 0)
		return rc;
	a->nics += a->is_host;
	b->nics += b->is_host;
	import->links[import->link_count++] = *link;
	return 0;
}
