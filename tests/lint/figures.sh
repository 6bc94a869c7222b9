#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The rows of the table of figures stand in docs/result.md.
exec "$(dirname "$0")/../../lib/result/schemas.py" "$1" --check
