#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run.sh BUILD WORK COMPILER: installs BUILD into a fresh folder, moves the install tree away from
# where it was built for, and builds the consumer against it with CMake and with pkg-config.
set -eu
build=$1
work=$2
compiler=$3
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$work"
mkdir -p "$work"
cmake --install "$build" --prefix "$work/first" >"$work/install.log"
mv "$work/first" "$work/prefix"

cmake -S "$here" -B "$work/build" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" \
  -DCMAKE_PREFIX_PATH="$work/prefix" >"$work/configure.log"
cmake --build "$work/build" >"$work/build.log"
"$work/build/consumer"
"$work/build/simulation_consumer"

libs=$(dirname "$(find "$work/prefix" -name tangere.pc)")
for pair in tangere_collision:consumer tangere:simulation_consumer; do
  flags=$(PKG_CONFIG_PATH=$libs pkg-config --cflags --libs "${pair%%:*}")
  # shellcheck disable=SC2086
  "$compiler" -std=c++20 "$here/${pair#*:}.cpp" -o "$work/${pair#*:}" $flags
  "$work/${pair#*:}"
done
[ ! -e "$work/prefix/bin/tangere" ] || "$work/prefix/bin/tangere" --version
