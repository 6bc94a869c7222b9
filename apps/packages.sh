# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What has to be installed, told once for apps/try and tests/run, which read this file. Names are those of Debian 12;
# the probe decides, so that other systems work too. Purposes: build and test are needed, optional is used if it is there, and
# so are readers, in tests alone: programs of others that read what weft writes. The package of Prometheus starts a service: it
# is not installed where systemd would run that.

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
build     libssl-dev         pkg-config --exists libcrypto
optional  libdpdk-dev        pkg-config --exists libdpdk
optional  libpcap-dev        pkg-config --exists libpcap
optional  libsqlite3-dev     pkg-config --exists sqlite3
optional  libnlopt-dev       pkg-config --exists nlopt
optional  libopenmpi-dev     command -v mpicc
optional  openmpi-bin        command -v mpirun
optional  zlib1g-dev         pkg-config --exists zlib
optional  libprotobuf-c-dev  pkg-config --exists libprotobuf-c
optional  protobuf-c-compiler command -v protoc-c
test      g++                command -v g++
test      clang              command -v clang
test      libclang-rt-dev    echo 'int main(void){}' | clang -fsanitize=address,undefined -x c -o /dev/null -
test      clang-format       command -v clang-format
test      libcmocka-dev      pkg-config --exists cmocka
test      shellcheck         command -v shellcheck
test      patch              command -v patch
test      tshark             command -v tshark
readers   python3-jsonschema python3 -c 'import jsonschema' || /usr/bin/python3 -c 'import jsonschema'
readers   python3-prometheus-client /usr/bin/python3 -c 'import prometheus_client'
readers   debhelper          command -v dh
readers   dh-python          command -v dh_python3
readers   python3-pandas     /usr/bin/python3 -c 'import pandas'
readers   zsh                command -v zsh
readers   prometheus         command -v prometheus || [ -d /run/systemd/system ]
readers   gnuplot-nox        command -v gnuplot
END
}

# Prints the packages whose probe fails, on one line. $1: purposes, with a space between.
packages_missing() {
  packages_table | while read -r purpose package probe; do
    [[ " $1 " == *" $purpose "* ]] || continue
    bash -c "$probe" </dev/null >/dev/null 2>&1 || printf '%s ' "$package"
  done
}

packages_can_install() {
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null
}

# Installs packages; what that says goes to build/packages.log.
packages_install() {
  local get=(env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@")
  printf 'installing %s\n' "$*"
  mkdir -p build
  { "${get[@]}" || { apt-get update -q && "${get[@]}"; }; } >build/packages.log 2>&1 </dev/null
}

# Installs what is missing. Ends the script with 3 when that cannot be done here, but goes on without what is optional,
# having said so. $1: build, or test for both.
packages_need() {
  local needed=() extra=() purposes=build wishes=optional
  [ "$1" = build ] || { purposes='build test' wishes='optional readers'; }
  read -ra needed <<<"$(packages_missing "$purposes")"
  read -ra extra <<<"$(packages_missing "$wishes")"
  if [ ${#needed[@]} -gt 0 ] && ! packages_can_install; then
    needed+=("${extra[@]}")
    printf 'missing; as root: apt-get install -y --no-install-recommends %s\n' "${needed[*]}" >&2
    exit 3
  fi
  if [ ${#needed[@]} -gt 0 ] && ! packages_install "${needed[@]}"; then
    tail -n 5 build/packages.log >&2
    printf 'cannot install: %s\n' "${needed[*]}" >&2
    exit 3
  fi
  if [ ${#extra[@]} -gt 0 ] && ! { packages_can_install && packages_install "${extra[@]}"; }; then
    printf 'going on without %s; as root: apt-get install -y --no-install-recommends %s\n' "${extra[*]}" "${extra[*]}"
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
