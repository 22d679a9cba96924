#!/usr/bin/env bash
# no_tables_test.sh SOURCE_FOLDER: no measured table is part of the repository, and no file is larger than 2 MB.
source_folder=$1
. "$source_folder/tests/scripts/expect.sh"
cd "$source_folder" || exit 1
if ! git ls-files -z >"$work/files" 2>/dev/null || [ ! -s "$work/files" ]; then
  echo "skipped: this is not a git checkout"
  exit 77
fi

while IFS= read -r -d '' file; do
  [ -f "$file" ] || continue
  size=$(wc -c <"$file")
  [ "$size" -le 2000000 ] || fail "$file has $size bytes"
  case $file in
    *.parquet | *.db) fail "$file is a table" ;;
    *.csv.gz) [ "$(gzip -dc "$file" | wc -l)" -le 100 ] || fail "$file is a table" ;;
    *.csv) [ "$(wc -l <"$file")" -le 100 ] || fail "$file is a table" ;;
  esac
done <"$work/files"

# Under other names: files with many lines that look like rows of the public tables.
while IFS= read -r line; do
  count=${line##*:}
  [ "$count" -le 100 ] || fail "${line%:*} holds $count rows that look like measurements"
done < <(git grep -cIiE '^(TRTLLM|VLLM|SGLang),[^,]+,NVIDIA [^,]+,' || true)

# Built-in calibrations: coefficients, without measured times.
while IFS= read -r file; do
  gzip -dc "$file" | grep -qE '"(times?_s|latency)": *\[? *[0-9]' && fail "$file names measured times"
done < <(git ls-files 'calibrate/builtin/*.json.gz')
finish
