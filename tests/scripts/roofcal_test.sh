#!/usr/bin/env bash
# Tests of scripts/roofcal with a toy in place of roofcal's sources, so that a build takes a second.
# Usage: roofcal_test.sh SOURCE_FOLDER
source_folder=$1
. "$source_folder/tests/scripts/expect.sh"

export ROOFCAL_NO_SETUP=1
toy="$work/a clone"
mkdir -p "$toy/scripts" "$toy"/{cmake,core,db,calibrate,predictor,report,cli}
cp "$source_folder/scripts/roofcal" "$toy/scripts/"
cat >"$toy/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.22)
project(toy CXX)
add_subdirectory(cli)
CMAKE
echo 'add_executable(roofcal main.cc)' >"$toy/cli/CMakeLists.txt"
cat >"$toy/core/answer.h" <<'CODE'
#define ANSWER "first"
CODE
cat >"$toy/cli/main.cc" <<'CODE'
#include "../core/answer.h"
#include <cstdio>
int main(int argc, char** argv) {
  std::printf("%s", ANSWER);
  for (int i = 1; i < argc; ++i) std::printf(" [%s]", argv[i]);
  std::printf("\n");
  return argc > 1 ? 3 : 0;
}
CODE

roofcal="$toy/scripts/roofcal"
builds() { grep -c 'building once' "$1"; }

# Two at once: both answer, one builds.
"$roofcal" >"$work/out1" 2>"$work/err1" &
"$roofcal" >"$work/out2" 2>"$work/err2" &
wait
expect_equal "first of two at once" "first" "$(cat "$work/out1")"
expect_equal "second of two at once" "first" "$(cat "$work/out2")"
cat "$work/err1" "$work/err2" >"$work/err"
expect_equal "builds by two at once" 1 "$(builds "$work/err")"
expect_equal "lines on stderr" 1 "$(wc -l <"$work/err")"

# Afterwards: nothing on stderr, arguments and exit status passed on.
out=$("$roofcal" 'a b' "" '*' 2>"$work/err")
expect_equal "exit status" 3 $?
expect_equal "arguments" "first [a b] [] [*]" "$out"
expect_equal "stderr when built" "" "$(cat "$work/err")"

# From anywhere, through symlinks, the current folder left as it is.
ln -s "$roofcal" "$work/link"
ln -s link "$work/link to link"
expect_equal "through a symlink" "first" "$(cd / && "$work/link to link" 2>&1)"
expect_equal "by a relative path" "first" "$(cd "$toy/core" && ../scripts/roofcal 2>&1)"
expect_equal "by its bare name" "first" "$(cd "$toy/scripts" && bash roofcal 2>&1)"
expect_equal "through PATH" "first" "$(cd / && PATH="$toy/scripts:$PATH" roofcal 2>&1)"

# The answer that needs no build costs little beside the program itself: the best of ten, generously bounded.
best=1000000
for _ in 1 2 3 4 5 6 7 8 9 10; do
  start=${EPOCHREALTIME/[.,]/}
  "$roofcal" >/dev/null
  took=$((${EPOCHREALTIME/[.,]/} - start))
  [ "$took" -lt "$best" ] && best=$took
done
echo "one answer without a build: $best us"
[ "$best" -lt 40000 ] || fail "an answer without a build took $best us"

# A changed source is built, a file added too; an untouched one is not.
echo '#define ANSWER "second"' >"$toy/core/answer.h"
expect_equal "after a change" "second" "$("$roofcal" 2>"$work/err")"
expect_equal "builds after a change" 1 "$(builds "$work/err")"
expect_equal "stderr after that" "second" "$("$roofcal" 2>&1)"

# A failed build says why, exits 1, and is tried again.
echo 'ANSWER ANSWER' >"$toy/core/answer.h"
out=$("$roofcal" 2>"$work/err")
expect_equal "status of a failed build" 1 $?
expect_equal "stdout of a failed build" "" "$out"
expect_contains "message of a failed build" "error:" "$(cat "$work/err")"
expect_contains "message of a failed build" "build.log" "$(cat "$work/err")"
echo '#define ANSWER "third"' >"$toy/core/answer.h"
expect_equal "after a failed build" "third" "$("$roofcal" 2>/dev/null)"

# A build that was cut short: half a binary, half a cache, no stamp.
printf 'half' >"$toy/build/cli/roofcal"
printf '// half\n' >"$toy/build/CMakeCache.txt"
rm "$toy/build/built-from"
touch "$toy/build/cli/roofcal"
sleep 0.05
echo '#define ANSWER "fourth"' >"$toy/core/answer.h"
expect_equal "after a build that was cut short" "fourth" "$("$roofcal" 2>/dev/null)"

# A clone that was moved is built anew in its new place.
mv "$toy" "$work/moved"
expect_equal "after a move" "fourth" "$("$work/moved/scripts/roofcal" 2>"$work/err")"
expect_equal "builds after a move" 1 "$(builds "$work/err")"
finish
