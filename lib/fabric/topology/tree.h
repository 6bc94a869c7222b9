// SPDX-License-Identifier: Apache-2.0
// Between the reader of a .topo file (tree_parse.c) and the tree that it describes (tree.c).
#pragma once

#include <weft/fabric/fabric.h>

// A figure of the file.
enum tree_figure { TREE_PODSIZE, TREE_DOWN, TREE_UP };

struct tree_key {
	enum tree_figure figure;
	uint32_t tier; // of TREE_DOWN, TREE_UP
};

// That the figures of a tree fit together. -EINVAL with the figure that does not in `ret`.
int tree_check(const struct tree_plan *tree, struct tree_key *ret, struct refusal *refusal);
