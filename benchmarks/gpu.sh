#!/usr/bin/env bash
# Speeds and first epochs on one NVIDIA GPU, with JAX and without TensorFlow.
#
#     bash benchmarks/gpu.sh OUTPUT            # at most 40 minutes
#     MINUTES=9 bash benchmarks/gpu.sh OUTPUT  # what fits into 9 of them
#     bash benchmarks/gpu.sh OUTPUT --small    # toy sizes, on any machine
#
# Each step writes OUTPUT/STEP.md, under a temporary name until it is whole, and
# OUTPUT/STEP.log. A step whose result exists is skipped: after an interruption,
# call the same command again. A step that fails or takes too long does not stop
# the others; the script then exits with 1. OUTPUT/summary.md joins the results.
#
# PYTHON names the interpreter (python3, from 3.11), which needs Keras 3, JAX for
# CUDA, the base dependencies of the package and, for its columns, PyTorch for
# CUDA. The repository need not be installed. KERASRNN_DATA is the folder with
# the Penn Treebank. Without it, a text of the same size is generated: its
# speeds are meaningful, its perplexities are not.
set -uo pipefail
if [ $# -lt 1 ] || [ $# -gt 2 ] || [ "${2:---small}" != --small ]; then
    echo "usage: bash benchmarks/gpu.sh OUTPUT [--small]" >&2
    exit 2
fi
output=$1
small=("${@:2}")
here=$(cd "$(dirname "$0")" && pwd) || exit
python=${PYTHON:-python3}
minutes=${MINUTES:-40}
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

# Seconds that are left of the minutes.
left() {
    echo $((60 * minutes - SECONDS))
}

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
    if [ "$limit" -gt "$(left)" ]; then
        echo "$name: no time, $(left) of $limit s are left"
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

# cells NAME DTYPE LAYER SECONDS: beside PyTorch, also compiled if there is time.
cells() {
    local options=()
    [ "$4" -gt 200 ] && options=(--compile)
    [ ${#small[@]} -gt 0 ] && options=(--repeats 2 --threads 1)
    step "cells-$1-$2" "$4" "$python" "$here/cells.py" --backend jax \
        --layers "$3" --dtypes "$2" "${options[@]}" \
        "${small[@]}"
}

few=()
[ ${#small[@]} -gt 0 ] && few=(--repeats 1 --layers FastLSTM MinGRU)

step device 60 "$python" "$here/devices.py" "${small[@]}"
if [ ! -e "$output/device.md" ]; then
    cat "$output/device.log" >&2
    exit 1
fi

step steps 240 "$python" "$here/steps.py" --backend jax "${few[@]}"
step long_sequences 120 "$python" "$here/long_sequences.py" --backend jax \
    "${few[@]}"
step crf 60 "$python" "$here/crf.py" --backend jax
train 5m-lstm 90 --row lstm
cells rhn float32 RHN 80
cells gam-rhn float32 GAMRHN 80
# The rows of recipes/studies/ptb_table.py, as on a CPU.
train 5m-rhn 180 --row rhn
train 5m-gam-rhn 180 --row gam-rhn
for dtype in float32 bfloat16; do
    cells rhn-compiled "$dtype" RHN 210
    cells gam-rhn-compiled "$dtype" GAMRHN 210
    cells attention "$dtype" "SelfAttention(GAMRHN)" 210
done
# As many epochs of the best model as there is time for.
if [ "$(left)" -gt 120 ]; then
    train best $(($(left) > 600 ? 600 : $(left) - 5)) --preset best
fi

for result in "${results[@]}"; do
    [ -e "$result" ] && cat "$result"
done > "$output/summary.md.partial"
mv "$output/summary.md.partial" "$output/summary.md"
if [ ${#failed[@]} -gt 0 ]; then
    echo "Failed: ${failed[*]}"
    exit 1
fi
