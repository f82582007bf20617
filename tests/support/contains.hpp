// A search in a text, for checks of messages.

#pragma once

#include <string>

namespace mini::test {

/// Returns whether `text` contains `part`.
inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace mini::test
