// SPDX-License-Identifier: Apache-2.0
// See sections.h.

#include "sections.h"

#include <stdio.h>
#include <string.h>

#include <weft/result/figures.h>
#include <weft/result/put.h>

// What is no figure of the table (figures.def). A path in the document; "a[].b" is of each element.
static const struct withheld {
	const char *path, *reason;
} rows[] = {
	{"drops[].switches", NOT_OWN_FABRIC},
	{"drops[].cables", NOT_OWN_FABRIC},
	{"cables", NOT_OWN_FABRIC},
	{"switches", NOT_OWN_FABRIC},
	{"links", NOT_OWN_FABRIC},
	{"culprits", NOT_OWN_FABRIC},
	{"delays", "hosts have no common clock for the way of a packet"},
};

static void withhold(json_t *at, const char *path, const char *reason)
{
	char name[64];
	size_t i, length = strcspn(path, ".[");
	json_t *each;
	snprintf(name, sizeof(name), "%.*s", (int)length, path);
	json_t *field = json_object_get(at, name);
	const char *rest = path + length;
	if (*rest == '.')
		withhold(field, rest + 1, reason);
	else if (*rest == '[')
		json_array_foreach(field, i, each) withhold(each, rest + 3, reason);
	else if (field != NULL && !json_is_null(field)) // which has a reason of its own
		put_reason(at, name, reason);
}

void withheld_json(json_t *root, const struct report_input *input)
{
	if (input->wall == NULL)
		return;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		withhold(root, rows[i].path, rows[i].reason);
	json_object_del(root, "buffer"); // of switches
	put(root, "wall", json_incref(input->wall));
}
