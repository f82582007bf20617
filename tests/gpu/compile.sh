#!/bin/sh
# Compiles files of the CUDA code as one, with nvcc, for the oldest GPU that libmini supports (the
# code is the same for all); warnings are errors, and so is a kernel that uses local memory. Files
# whose names end in .cpp are parsed by the C++ compiler, as a build with nvcc compiles them.
#
#     tests/gpu/compile.sh NVCC OUTPUT EIGEN FILE...     writes OUTPUT.cu and OUTPUT.o
#
# Exit codes: 0 the files compile; 1 they do not; 77 nvcc or the header of an optional library
# is missing.
set -eu
nvcc=$1
output=$2
eigen=$3
shift 3
if [ ! -x "$nvcc" ]; then
    echo "skipped: this machine has no nvcc; set MINI_NVCC to the path of one"
    exit 77
fi
cuda_include=$(dirname "$(dirname "$(readlink -f "$nvcc")")")/include
for header in cublas_v2.h nccl.h; do
    if grep -q "#include <$header>" "$@" && [ ! -f "$cuda_include/$header" ]; then
        echo "skipped: $cuda_include has no $header"
        exit 77
    fi
done
for file in "$@"; do echo "#include \"$file\""; done >"$output.cu"

case $1 in *.cpp)
    exec "${CXX:-c++}" -std=c++20 -I. -isystem "$eigen" -isystem "$cuda_include" -fsyntax-only \
        -Wall -Wextra -Werror -x c++ "$output.cu" ;;
esac

# The objects are not run, so optimization is not needed.
exec "$nvcc" -std=c++20 --extended-lambda --expt-relaxed-constexpr -I. -isystem "$eigen" \
    -isystem "$cuda_include" -c "$output.cu" -o "$output.o" \
    -gencode arch=compute_75,code=sm_75 -Xptxas -O1,-warn-spills,-warn-lmem-usage \
    -Werror all-warnings -Xcompiler -Wall,-Wextra,-Werror
