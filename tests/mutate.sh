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
# --tests NAMES   tests of Meson to run, separated by commas; default: those of mutate.map
# --jobs N        compilers and tests at once; default: 1
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

paths=() since='' count=20 seed=$((RANDOM * 32768 + RANDOM)) tests='' jobs=1 list='' results=/dev/null
folder=${XDG_CACHE_HOME:-$HOME/.cache}/cudaccl/mutate
while (($#)); do
  case $1 in
  -h | --help) show_help && exit ;;
  --list) list=yes ;;
  --*)
    (($# > 1)) || die "$1 needs a value (see --help)"
    case $1 in
    --file) paths+=("$2") ;;
    --since) since=$2 ;;
    --count) count=$2 ;;
    --seed) seed=$2 ;;
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
copy=$folder/source build=$folder/build
mkdir -p "$folder"
rm -rf "$copy"
mkdir "$copy"
git ls-files -z --cached --others --exclude-standard --deduplicate |
  tar --create --null --ignore-failed-read --files-from=- 2>/dev/null | tar --extract --directory "$copy"
touch "$folder/mutated"
while read -r file; do
  [[ ! -f $copy/$file ]] || touch "$copy/$file"
done < <(sort --unique "$folder/mutated")
if [[ ! -f $build/build.ninja ]]; then
  say "configuring $build"
  quietly meson setup -Dcuda=disabled -Dtests=enabled "$build" "$copy" || die "the copy does not configure"
fi
memory=$((32 * 1024 * 1024)) # KiB: a mutant may ask for any amount

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

# run_tests SECONDS TEST...: in this order, up to the first that fails. With seeds of their own, tests
# may take other paths each time.
run_tests() {
  local end=$((SECONDS + $1)) test
  shift
  for test; do
    ulimit -S -v "$memory"
    # Browsers reserve far more than they use.
    [[ $test != watch-collect && $test != watch-page ]] || ulimit -S -v unlimited
    timeout --kill-after=10 $((end > SECONDS ? end - SECONDS : 1)) meson test -C "$build" --no-rebuild \
      --num-processes "$jobs" "$test" >"$folder/test.log" 2>&1 || return 1
  done
}

# The first run without a mutant: its tests pass, and how long they may take.
declare -A digest limit
prepare() {
  local names=$1 start=$SECONDS
  [[ -z ${limit[$names]-} ]] || return 0
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
  limit[$names]=$((5 * (SECONDS - start) + 20))
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
  result=$(awk -v mutant="$file:$line: $what" 'substr ($0, 10) == mutant { print $1; exit }' "$results")
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
  printf '%-8s %s:%d: %s\n' "$result" "$file" "$line" "$what" | tee -a "$results"
  # Not with its old time: ninja must see a change.
  cat "$folder/original" >"$copy/$file"
done

echo
((${#survivors[@]} == 0)) || printf 'survived %s\n' "${survivors[@]}"
valid=$((killed + ${#survivors[@]}))
printf 'seed %d: %d of %d killed (%d %%), %d compile to the same, %d do not compile\n' "$seed" "$killed" \
  "$valid" $((valid ? 100 * killed / valid : 100)) "$equal" "$invalid"
