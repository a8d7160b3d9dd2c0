#!/usr/bin/env bash
# Speeds and first epochs on one NVIDIA GPU, with JAX and without TensorFlow.
#
#     bash benchmarks/gpu.sh OUTPUT            # at most 40 minutes
#     bash benchmarks/gpu.sh OUTPUT --small    # toy sizes, on any machine
#
# Each step writes OUTPUT/STEP.md, under a temporary name until it is whole, and
# OUTPUT/STEP.log. A step whose result exists is skipped: after an interruption,
# call the same command again. A step that fails or takes too long does not stop
# the others; the script then exits with 1. OUTPUT/summary.md joins the results.
#
# PYTHON names the interpreter (python3), KERASRNN_DATA the folder with the Penn
# Treebank. README.md says what has to be installed.
set -uo pipefail
if [ $# -lt 1 ] || [ $# -gt 2 ] || [ "${2:---small}" != --small ]; then
    echo "usage: bash benchmarks/gpu.sh OUTPUT [--small]" >&2
    exit 2
fi
output=$1
small=("${@:2}")
here=$(cd "$(dirname "$0")" && pwd) || exit
python=${PYTHON:-python3}
minutes=40
mkdir -p "$output" || exit

export KERAS_BACKEND=jax
export PYTHONPATH="$here/..${PYTHONPATH:+:$PYTHONPATH}"
# JAX would take three quarters of the memory, which PyTorch needs, too.
export XLA_PYTHON_CLIENT_PREALLOCATE=false
if [ ${#small[@]} -gt 0 ] && ! command -v nvidia-smi > /dev/null; then
    # At toy sizes on a CPU, compiling takes nearly all the time.
    export JAX_DISABLE_MOST_OPTIMIZATIONS=1
fi

results=() failed=()

# step NAME SECONDS COMMAND...: writes what the command prints to NAME.md.
step() {
    local name=$1 limit=$2 start=$SECONDS
    local result=$output/$name.md
    shift 2
    results+=("$result")
    if [ -e "$result" ]; then
        echo "$name: done before"
        return
    fi
    if timeout --kill-after=10 "$limit" "$@" \
        > "$result.partial" 2> "$output/$name.log"; then
        mv "$result.partial" "$result"
        echo "$name: $((SECONDS - start)) s"
    else
        echo "$name: FAILED with status $? (124: its $limit s were over)" \
            "after $((SECONDS - start)) s, see $output/$name.log"
        failed+=("$name")
    fi
}

# A minute of the limit is for compiling, validation and the end.
train() {
    local name=$1 limit=$2
    shift 2
    step "$name" "$limit" "$python" "$here/language_models.py" "$@" \
        "${small[@]}" --seconds $((limit - 60)) --card "$output/$name.json"
}

cells() {
    local options=(--compile)
    [ ${#small[@]} -gt 0 ] && options=(--repeats 2 --threads 1)
    step "cells-$1-$2" 210 "$python" "$here/cells.py" --backend jax \
        --tables layers --layers "$3" --dtypes "$2" "${options[@]}" \
        "${small[@]}"
}

step device 60 "$python" "$here/devices.py" "${small[@]}"
if [ ! -e "$output/device.md" ]; then
    cat "$output/device.log" >&2
    exit 1
fi

# The first epochs of the published models; all epochs take hours.
train rhn 240 --preset rhn --run-epochs 1
cells rhn float32 RHN
# The rows of recipes/studies/ptb_table.py, as on a CPU.
train 5m-rhn 180 --row rhn
train gam-rhn-char 240 --preset gam-rhn-char --run-epochs 1
cells rhn bfloat16 RHN
train 5m-gam-rhn 180 --row gam-rhn
train 5m-lstm 180 --row lstm
for dtype in float32 bfloat16; do
    cells gam-rhn "$dtype" GAMRHN
    cells attention "$dtype" "SelfAttention(GAMRHN)"
done
# As many epochs of the best model as there is time for.
left=$((60 * minutes - SECONDS))
if [ "$left" -gt 120 ]; then
    [ "$left" -gt 600 ] && left=600
    train best "$left" --preset best
fi

for result in "${results[@]}"; do
    [ -e "$result" ] && cat "$result"
done > "$output/summary.md.partial"
mv "$output/summary.md.partial" "$output/summary.md"
if [ ${#failed[@]} -gt 0 ]; then
    echo "Failed: ${failed[*]}"
    exit 1
fi
