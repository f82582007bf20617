#!/bin/sh
# Compiles one file of the CUDA code with nvcc, warnings as errors; a kernel that uses local
# memory is a warning. A file that uses __CUDA_ARCH__ is compiled for each architecture that
# libmini supports; other files only for the oldest, because their code is the same for all.
#
#     tests/gpu/compile.sh NVCC FILE OBJECT INCLUDE...
#
# Exit codes: 0 the file compiles; 1 it does not; 77 nvcc or the header of an optional library
# is missing.
set -eu
nvcc=$1
file=$2
object=$3
shift 3
if [ ! -x "$nvcc" ]; then
    echo "skipped: this machine has no nvcc; set MINI_NVCC to the path of one"
    exit 77
fi
cuda_include=$(dirname "$(dirname "$(readlink -f "$nvcc")")")/include
for header in cublas_v2.h nccl.h; do
    if grep -q "#include <$header>" "$file" && [ ! -f "$cuda_include/$header" ]; then
        echo "skipped: $cuda_include has no $header"
        exit 77
    fi
done
options=
for folder in "$@"; do options="$options -isystem $folder"; done

architectures='-gencode arch=compute_75,code=sm_75'
if grep -q __CUDA_ARCH__ "$file"; then
    architectures="$architectures -gencode arch=compute_80,code=sm_80 \
        -gencode arch=compute_90,code=[sm_90,compute_90]"
fi

# The objects are not run, so optimization is not needed.
# shellcheck disable=SC2086
exec "$nvcc" -std=c++20 --extended-lambda --expt-relaxed-constexpr -I. $options -isystem "$cuda_include" -c "$file" \
    -o "$object" \
    $architectures -Xptxas -O1,-warn-spills,-warn-lmem-usage \
    -Werror all-warnings -Xcompiler -Wall,-Wextra,-Werror
