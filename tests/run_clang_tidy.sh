#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run_clang_tidy.sh BUILD JOBS: clang-tidy on the library and the program. A file that passed is not
# looked at again until it, a header or the settings change.
set -eu
build=$1
jobs=$2
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
stamps=$build/clang-tidy
mkdir -p "$stamps"
headers=$(find include src cli bench/collision examples -name '*.hpp' | LC_ALL=C sort | xargs cat .clang-tidy | cksum | tr -d ' ')
check() {
  stamp=$stamps/$(echo "$1" | tr / _)
  key="$headers $(cksum <"$1")"
  [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$key" ] && return 0
  clang-tidy --quiet -p "$build" "$1" 2>/dev/null || return 1
  echo "$key" >"$stamp"
}
if [ "${3:-}" != "" ]; then
  check "$3"
  exit
fi
files=$(find src cli bench/collision examples -name '*.cpp' | LC_ALL=C sort)
# shellcheck disable=SC2086
printf '%s\n' $files | xargs -P "$jobs" -n 1 "$0" "$build" "$jobs"
echo "clang-tidy: $(echo "$files" | wc -l) files, nothing found"
