// safetensors_copy IN OUT: loads the file IN and saves its contents as OUT.
//
// interop_test.py writes IN and reads OUT with Python's safetensors.

#include <cstdio>
#include <exception>

#include "libmini/io/safetensors.hpp"

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: safetensors_copy IN OUT\n");
        return 2;
    }
    try {
        const mini::io::Safetensors file = mini::io::load_safetensors(argv[1]);
        mini::io::save_safetensors(argv[2], file.tensors, file.metadata);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "safetensors_copy: %s\n", error.what());
        return 1;
    }
}
