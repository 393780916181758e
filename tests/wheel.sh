#!/usr/bin/env bash
# Builds the Python package's wheel, installs it into an empty environment without NumPy, and uses it there.
#
#   PYTHON=COMMAND tests/wheel.sh [--isolated]   --isolated: let pip fetch what the build needs
#
# Without it, the Python needs meson-python. By hand, and before a release. Exit status 77: skipped.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
python=${PYTHON:-python3}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

isolation=--no-build-isolation
[[ ${1-} != --isolated ]] || isolation=--quiet
if [[ $isolation == --no-build-isolation ]] && ! "$python" -c 'import mesonpy, pip' 2>/dev/null; then
  echo "skipped: no meson-python for $python"
  exit 77
fi
"$python" -m pip wheel --quiet --no-deps "$isolation" --wheel-dir "$folder" -Csetup-args=-Dcuda=disabled "$root"
wheels=("$folder"/cudaccl-*-abi3-*.whl)
[[ -e ${wheels[0]} ]] || {
  echo "no wheel for the stable ABI: $(ls "$folder")"
  exit 1
}
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-index "${wheels[0]}"
cd "$folder"
venv/bin/python - <<'END'
import cudaccl

mask = memoryview(bytes([0, 1, 0, 1])).cast("B", (2, 2))
labels, components = cudaccl.analyze(mask, 4)
assert labels.tolist() == [[0, 1], [0, 1]] and components[0].area == 2, (labels.tolist(), components)
print(f"cudaccl {cudaccl.__version__}: the wheel works")
END
