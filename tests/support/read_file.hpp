// Reads a file as a string.

#pragma once

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace mini::test {

/// Returns all bytes of a file. Throws std::runtime_error if it cannot be opened.
inline std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("cannot read " + path);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace mini::test
