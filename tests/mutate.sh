#!/usr/bin/env bash
# Changes the code a little, many times, and runs the tests that cover it: they should fail. Works on
# a copy of the tree, which is kept, so that later runs build less.
#
#   tests/mutate.sh [OPTION...]
#
# --file FILE     mutants of this source, or of all sources in this folder; may be repeated. Default:
#                 mutants of the lines that differ from --since
# --since REV     default without --file: HEAD
# --count N       mutants; default: 20
# --seed N        default: a new one each time
# --only PATTERN  tries only those of the mutants whose source matches, such as 'gst/*'
# --tests NAMES   tests of Meson to run, separated by commas; default: those of mutate.map
# --jobs N        compilers and tests at once; default: 1
# --sanitize      with clang's address sanitizer, which kills mutants that leak memory or use it once freed,
#                 and takes several times as long. Leaves out sources with tests that such a build lacks.
#                 So run it without first, then with it and a FILE of the same results but those that
#                 SURVIVED
# --folder FOLDER of the copy; default: ${XDG_CACHE_HOME:-~/.cache}/cudaccl/mutate
# --results FILE  appends each result to this file, and repeats none that is in it: a run that was ended
#                 goes on
# --list          prints the mutants only
#
# Mutants that do not compile, or that compile to the same programs, do not count. The last line
# counts the others, the lines before it list those that survived: with each, either a test is
# missing or the code does not matter. Exit status: 0, 1 if something else failed.
set -euo pipefail
# shellcheck source=scripts/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/setup.sh"

paths=() since='' only='*' count=20 seed=$((RANDOM * 32768 + RANDOM)) tests='' jobs=1 sanitize='' list='' results=/dev/null
folder=${XDG_CACHE_HOME:-$HOME/.cache}/cudaccl/mutate
while (($#)); do
  case $1 in
  -h | --help) show_help && exit ;;
  --list) list=yes ;;
  --sanitize) sanitize=yes ;;
  --*)
    (($# > 1)) || die "$1 needs a value (see --help)"
    case $1 in
    --file) paths+=("$2") ;;
    --since) since=$2 ;;
    --count) count=$2 ;;
    --seed) seed=$2 ;;
    --only) only=$2 ;;
    --tests) tests=${2//,/ } ;;
    --jobs) jobs=$2 ;;
    --folder) folder=$2 ;;
    --results) results=$(realpath -- "$2") ;;
    *) die "no such option: $1 (see --help)" ;;
    esac
    shift
    ;;
  *) die "no such argument: $1 (see --help)" ;;
  esac
  shift
done

cd "$root"
mutate=$root/tests/mutate.py map=$root/tests/mutate.map
if ((${#paths[@]})); then
  mapfile -t files < <(git ls-files -- "${paths[@]}" | grep -E '\.[ch]$')
else
  since=${since:-HEAD}
  mapfile -t files < <(git diff --name-only --diff-filter=AM "$since" | grep -E '^(engine|gst)/.*\.[ch]$')
fi
((${#files[@]})) || die "no sources to change; set --file or --since"
mapfile -t mutants < <("$mutate" list "$seed" "$count" ${since:+--since "$since"} "${files[@]}")
((${#mutants[@]})) || die "nothing to change in ${files[*]}"
echo "seed $seed, ${#mutants[@]} mutants of ${#files[@]} files"
if [[ -n $list ]]; then
  printf '%s\n' "${mutants[@]}" | awk -F'\t' '{ printf "%s:%d: %s\n", $1, $2, $5 }'
  exit
fi

# The copy. Times are kept, so only what changed since the last run is compiled, and what was mutated
# ever: objects of mutants are newer than the sources.
copy=$folder/source build=$folder/build${sanitize:+-sanitized}
mkdir -p "$folder"
rm -rf "$copy"
mkdir "$copy"
git ls-files -z --cached --others --exclude-standard --deduplicate |
  tar --create --null --ignore-failed-read --files-from=- 2>/dev/null | tar --extract --directory "$copy"
touch "$folder/mutated"
while read -r file; do
  [[ ! -f $copy/$file ]] || touch "$copy/$file"
done < <(sort --unique "$folder/mutated")
options=(-Dcuda=disabled -Dtests=enabled)
memory=$((32 * 1024 * 1024)) # KiB: a mutant may ask for any amount
if [[ -n $sanitize ]]; then
  # As test.sh, but without debug information, which has lines and columns: mutants that make no
  # difference compile to the same programs.
  export CC=clang CXX=clang++
  options+=(-Demulation=disabled -Dintrospection=disabled -Ddebug=false -Doptimization=1 -Db_sanitize=address -Db_lundef=false)
  export ASAN_OPTIONS=detect_leaks=1 G_SLICE=always-malloc
  export LSAN_OPTIONS=suppressions=$root/tests/lsan.supp:print_suppressions=0
  # The sanitizer reserves far more memory than it uses. Its limit is in the options that tests do not set.
  export UBSAN_OPTIONS=hard_rss_limit_mb=4096
  memory=unlimited
fi
if [[ ! -f $build/build.ninja ]]; then
  say "configuring $build"
  quietly meson setup "${options[@]}" "$build" "$copy" || die "the copy does not configure"
fi

tests_of() {
  if [[ -n $tests ]]; then
    echo "$tests"
  else
    "$mutate" tests "$map" "$1"
  fi
}

# build_tests TEST...: builds what they need, and sets $targets.
build_tests() {
  read -ra targets <<<"$("$mutate" targets "$build" "$@")"
  ninja -C "$build" -j "$jobs" "${targets[@]}" >"$folder/build.log" 2>&1
}

# run_tests SECONDS TEST...: in this order, up to the first that fails, which is $failed. With seeds of
# their own, tests may take other paths each time.
run_tests() {
  local end=$((SECONDS + $1)) name arguments
  shift
  for failed; do
    name=${failed%%:*} arguments=()
    [[ $failed == "$name" ]] || arguments=(--test-args="${failed#*:}")
    ulimit -S -v "$memory"
    # Browsers reserve far more than they use.
    [[ $name != watch-collect && $name != watch-page ]] || ulimit -S -v unlimited
    timeout --kill-after=10 $((end > SECONDS ? end - SECONDS : 1)) meson test -C "$build" --no-rebuild \
      --timeout-multiplier 3 --num-processes "$jobs" "${arguments[@]}" "$name" >"$folder/test.log" 2>&1 || return 1
  done
}

# The first run without a mutant: its tests pass, and how long they may take.
declare -A digest limit
prepare() {
  local names=$1 start=$SECONDS
  [[ -z ${limit[$names]-} ]] || return 0
  # shellcheck disable=SC2086
  if ! "$mutate" targets "$build" $names >/dev/null; then
    say "leaving out mutants for $names"
    limit[$names]=none
    return
  fi
  say "building and running $names without a mutant"
  # shellcheck disable=SC2086
  build_tests $names || die "the copy does not compile, see $folder/build.log"
  start=$SECONDS
  # shellcheck disable=SC2086
  run_tests 3600 $names || {
    say "tests fail without a mutant, see $folder/test.log; leaving out mutants for $names"
    limit[$names]=none
    return
  }
  limit[$names]=$((3 * (SECONDS - start) + 30))
  digest[$names]=$("$mutate" digest "$build" "${targets[@]}")
}

killed=0 invalid=0 equal=0 survivors=()

# count RESULT MUTANT
count() {
  case $1 in
  killed) killed=$((killed + 1)) ;;
  invalid) invalid=$((invalid + 1)) ;;
  equal) equal=$((equal + 1)) ;;
  SURVIVED) survivors+=("$2") ;;
  esac
}

for mutant in "${mutants[@]}"; do
  IFS=$'\t' read -r file line first last what text <<<"$mutant"
  # shellcheck disable=SC2053
  [[ $file == $only ]] || continue
  result=$(awk -F'\t' -v mutant="$file:$line: $what" \
    'substr ($1, 10) == mutant { print substr ($1, 1, 8); exit }' "$results")
  result=${result%% *}
  if [[ -n $result ]]; then
    count "$result" "$file:$line: $what"
    continue
  fi
  names=$(tests_of "$file")
  [[ -n $names ]] || die "tests/mutate.map has no tests for $file; set --tests"
  prepare "$names"
  [[ ${limit[$names]} != none ]] || continue
  echo "$file" >>"$folder/mutated"
  cp "$copy/$file" "$folder/original"
  "$mutate" apply "$copy/$file" "$first" "$last" "$text"
  # shellcheck disable=SC2086
  if ! build_tests $names; then
    result=invalid
  elif [[ $("$mutate" digest "$build" "${targets[@]}") == "${digest[$names]}" ]]; then
    result=equal
  elif run_tests "${limit[$names]}" $names; then
    result=SURVIVED
  else
    result=killed
  fi
  count "$result" "$file:$line: $what"
  [[ $result == killed ]] || failed=''
  printf '%-8s %s:%d: %s%s\n' "$result" "$file" "$line" "$what" "${failed:+$'\t'by $failed}" | tee -a "$results"
  # Not with its old time: ninja must see a change.
  cat "$folder/original" >"$copy/$file"
done

echo
((${#survivors[@]} == 0)) || printf 'survived %s\n' "${survivors[@]}"
valid=$((killed + ${#survivors[@]}))
printf 'seed %d: %d of %d killed (%d %%), %d compile to the same, %d do not compile\n' "$seed" "$killed" \
  "$valid" $((valid ? 100 * killed / valid : 100)) "$equal" "$invalid"
