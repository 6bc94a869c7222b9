# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What has to be installed, told once for apps/try and tests/run, which read this file. Names are those of Debian 12;
# the probe decides, so that other systems work too.

# for     package            probe
packages_table() {
  cat <<'END'
build     gcc                command -v gcc
build     libc6-dev          echo '#include <stdio.h>' | gcc -E -
build     meson              command -v meson
build     ninja-build        command -v ninja
build     pkg-config         command -v pkg-config
build     git                command -v git
build     libyaml-dev        pkg-config --exists yaml-0.1
build     libjansson-dev     pkg-config --exists jansson
build     libisal-dev        pkg-config --exists libisal
test      g++                command -v g++
test      clang              command -v clang
test      libclang-rt-dev    echo 'int main(void){}' | clang -fsanitize=address,undefined -x c -o /dev/null -
test      clang-format       command -v clang-format
test      libcmocka-dev      pkg-config --exists cmocka
test      shellcheck         command -v shellcheck
END
}

# Prints the packages whose probe fails, on one line. $1: build, or test for both.
packages_missing() {
  packages_table | while read -r purpose package probe; do
    [ "$purpose" = build ] || [ "$1" = test ] || continue
    bash -c "$probe" </dev/null >/dev/null 2>&1 || printf '%s ' "$package"
  done
}

# Installs what is missing. Ends the script with 3 when that cannot be done here. $1: as above.
packages_need() {
  local missing
  missing=$(packages_missing "$1")
  [ -n "$missing" ] || return 0
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    printf 'missing; as root: apt-get install -y --no-install-recommends %s\n' "${missing% }" >&2
    exit 3
  fi
  printf 'installing %s\n' "${missing% }"
  mkdir -p build
  # shellcheck disable=SC2086 # one word per package
  if ! { DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing ||
    { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing; }; } \
    >build/packages.log 2>&1; then
    tail -n 5 build/packages.log >&2
    printf 'cannot install: %s\n' "${missing% }" >&2
    exit 3
  fi
}

# Configures and builds folder $1 with the meson arguments behind it; the log is shown only when that fails. Configures
# anew each time, because new files are found by their names then.
build_in() {
  local folder=$1 log=$1/build.log
  shift
  mkdir -p "$folder"
  if [ -e "$folder/build.ninja" ]; then
    set -- --reconfigure "$@"
  fi
  if ! { meson setup "$folder" "$@" && ninja -C "$folder"; } >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    printf 'building %s failed; all of it is in %s\n' "$folder" "$log" >&2
    return 1
  fi
}
