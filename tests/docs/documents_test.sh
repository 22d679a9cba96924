#!/usr/bin/env bash
# documents_test.sh SOURCE_FOLDER ROOFCAL: what the documents name exists: scripts, files that they link to, verbs.
source_folder=$1
roofcal=$2
. "$source_folder/tests/scripts/expect.sh"
cd "$source_folder" || exit 1

documents=(README.md CONTRIBUTING.md docs/*.md)
for document in "${documents[@]}"; do
  # Links to files of the repository, relative to the document.
  while read -r link; do
    case $link in http*) continue ;; esac
    [ -e "$(dirname "$document")/${link%%#*}" ] || fail "$document links to $link, which is not there"
  done < <(grep -oE '\]\([^)#][^)]*\)' "$document" | sed 's/^](//; s/)$//')

  while read -r script; do
    [ -x "$script" ] || fail "$document names $script, which is no program of this repository"
  done < <(grep -oE '(^|[^[:alnum:]_/.-])(\./)?scripts/[a-z_-]+(\.py)?' "$document" | grep -oE 'scripts/.*' | grep -v 'packages$' | sort -u)

  # Verbs in indented examples: the plain words after `roofcal`, up to the first option, path or name, answer --help.
  while read -r words; do
    # shellcheck disable=SC2086  # a list of words
    "$roofcal" $words --help >"$work/help" 2>&1 ||
      fail "$document shows 'roofcal $words', but with --help it says: $(head -n 1 "$work/help")"
  done < <(grep -E '^    ' "$document" | grep -oE '(^ +|/|\$ |\| )roofcal( [a-z][a-z-]*)+( |$)' |
    sed -E 's/^.*roofcal //; s/ +$//' | sort -u)
done
finish
