#!/bin/sh
# Copies the headers of libmini's dependencies into a folder. With this folder, libmini can be built
# on a GPU machine that has a compiler, CMake and CUDA, but not these packages:
#
#     tests/gpu/carry.sh carried                      on a machine where libmini builds
#     cmake -S . -B build/gpu -DCMAKE_BUILD_TYPE=Release -DMINI_CUDA=ON \
#           -DMINI_CARRIED=$PWD/carried               on the GPU machine
#
# The shared libraries of zlib and libcrypto exist on any Linux.
set -eu
if [ $# -ne 1 ]; then
    echo "usage: tests/gpu/carry.sh FOLDER" >&2
    exit 2
fi
folder=$1
compiler=${CXX:-c++}
mkdir -p "$folder/include" "$folder/cmake"

# Prints the folder in which the compiler finds a header.
root_of() {
    found=$(printf '#include <%s>\n' "$1" |
        "$compiler" -E -x c++ -std=c++20 -I/usr/include/eigen3 ${STB_INCLUDE_DIR:+-I"$STB_INCLUDE_DIR"} - |
        sed -n "s|^# 1 \"\\(.*\\)/$1\".*|\\1|p" | head -n 1)
    if [ -z "$found" ]; then
        echo "carry.sh: $compiler does not find <$1>: run labs/lab setup" >&2
        exit 1
    fi
    echo "$found"
}

# Libraries that are a folder of headers. -L copies the files behind symbolic links.
for header in Eigen/Core fmt/core.h CLI/CLI.hpp nlohmann/json.hpp catch2/catch.hpp \
    stb/stb_image.h openssl/evp.h; do
    root=$(root_of "$header")
    cp -rL "$root/${header%%/*}" "$folder/include/"
done

# Single headers, and two headers of OpenSSL in the architecture's include folder.
for header in zlib.h zconf.h openssl/configuration.h openssl/opensslconf.h; do
    cp -L "$(root_of "$header")/$header" "$folder/include/$header"
done

# The CMake scripts that register each TEST_CASE with CTest.
for file in Catch.cmake CatchAddTests.cmake; do
    for place in /usr/lib/cmake/Catch2 /usr/lib/*/cmake/Catch2 /usr/share/cmake/Catch2; do
        if [ -f "$place/$file" ]; then cp "$place/$file" "$folder/cmake/"; fi
    done
    if [ ! -f "$folder/cmake/$file" ]; then
        echo "carry.sh: Catch2's $file was not found" >&2
        exit 1
    fi
done
du -sh "$folder"
