// Whether a text contains another text, for checks of messages.

#pragma once

#include <string>

namespace mini::test {

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace mini::test
