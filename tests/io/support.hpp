// What the tests of the io room share.

#pragma once

#include <fstream>
#include <sstream>
#include <string>

#include "tests/support/folder.hpp"
#include "tests/support/message_of.hpp"

using mini::test::Folder;
using mini::test::message_of;

inline void write_text(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
}

inline std::string read_text(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}
