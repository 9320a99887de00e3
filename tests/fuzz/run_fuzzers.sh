#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run_fuzzers.sh BUILD SECONDS [RUNS]: every fuzz target for SECONDS each, or for RUNS inputs if
# that is sooner, from the committed seeds and one random seed: the same inputs every time. New
# inputs are kept under BUILD/corpus, so a later run goes on where this one stopped; an input that
# breaks something is left under BUILD/findings and named in the output.
set -eu
build=$1
seconds=$2
runs=${3:--1}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$build/findings"
failed=
for program in "$build"/tests/fuzz/fuzz_*; do
  [ -x "$program" ] && [ -f "$program" ] || continue
  name=$(basename "$program")
  corpus=$build/corpus/$name
  mkdir -p "$corpus"
  seeds=
  [ -d "$here/seeds/$name" ] && seeds=$here/seeds/$name
  log=$build/findings/$name.log
  # shellcheck disable=SC2086
  if "$program" -seed=1 -runs="$runs" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=4096 \
       -artifact_prefix="$build/findings/$name-" -print_final_stats=1 \
       "$corpus" $seeds >"$log" 2>&1; then
    echo "$name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs, nothing found"
  else
    tail -n 40 "$log"
    echo "$name: FAILED, input kept as $build/findings/$name-*"
    failed=1
  fi
done
[ -z "$failed" ]
