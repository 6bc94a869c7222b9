// SPDX-License-Identifier: Apache-2.0
// A fabric as a picture.
#pragma once

#include <stdio.h>

#include <weft/world/world.h>

// Draws the fabric into `to`. -ENOMEM, or -EIO when it could not be written.
int svg_draw(FILE *to, const struct scenario *scenario, const struct topology *topology);
