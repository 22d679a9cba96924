#!/usr/bin/env bash
# list_is_complete.sh SOURCE_FOLDER HEADER...: compares the headers given with those that git knows.
set -euo pipefail
cd "$1"
shift
if ! known=$(git ls-files core db microbench calibrate predictor report cli 2>/dev/null) || [ -z "$known" ]; then
  echo "skipped: this is not a git checkout"
  exit 77
fi
if ! difference=$(diff <(grep '\.h$' <<<"$known" | LC_ALL=C sort) <(printf '%s\n' "$@" | LC_ALL=C sort)); then
  echo "tests/headers/CMakeLists.txt lists other headers (>) than git (<):"
  echo "$difference"
  exit 1
fi
