// Whether a text holds another: what most checks of messages ask.

#pragma once

#include <string>

namespace mini::test {

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace mini::test
