# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The files a lint reads, for lints in shell: those that git tracks; where there is no repository, all but
# what is built.

# Prints the files below $1 whose names match one of the patterns that follow, one per line, relative to $1.
tracked() {
  local root=$1 file pattern
  shift
  if git -C "$root" rev-parse --git-dir >/dev/null 2>&1 && [ -e "$root/.git" ]; then
    git -C "$root" ls-files
  else
    (cd "$root" && find . -path './build*' -prune -o -path './out*' -prune -o -type f -print | sed 's|^\./||')
  fi | LC_ALL=C sort | while read -r file; do
    [ -f "$root/$file" ] || continue
    for pattern in "$@"; do
      # shellcheck disable=SC2053 # a pattern
      if [[ ${file##*/} == $pattern ]]; then
        printf '%s\n' "$file"
        break
      fi
    done
  done
}
