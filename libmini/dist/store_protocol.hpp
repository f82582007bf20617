// What the TCP store's client and server say to each other, after both have said Hello:
//
//     request   id (4)  command (4)  key size (4)  value size (4)  | key | value
//     reply     id (4)  status (4)   value size (4)                | value
//
//     command       value                                    answer
//     set           the value                                -
//     get, wait     -                                        the value, -
//     add           a decimal number                         the sum
//     compare_set   size of expected (4), expected, desired  the value afterwards
//     check, erase  -                                        "1" or "0"
//     num_keys      -                                        a decimal number
//
// A get or wait whose key is missing is answered when the key comes, unless the client
// asks for something else before: it has stopped waiting then. An answer that was under
// way at that moment is recognised by its id and skipped.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "libmini/dist/store.hpp"

namespace mini::dist::protocol {

/// The longest value that travels: two values of a compare_set.
constexpr size_t kMaxBodyBytes = 2 * kMaxValueBytes + sizeof(uint32_t);

enum class Command : uint32_t {
    kSet = 1,
    kGet,
    kAdd,
    kWait,
    kCheck,
    kCompareSet,
    kErase,
    kNumKeys
};
enum class Status : uint32_t { kDone = 0, kRefused = 1 };

struct Request {
    uint32_t id = 0;
    Command command = Command::kSet;
    uint32_t key_bytes = 0;
    uint32_t value_bytes = 0;
};

struct Reply {
    uint32_t id = 0;
    Status status = Status::kDone;
    uint32_t value_bytes = 0;
};

/// The value of a compare_set request.
inline std::string pack_pair(const std::string& expected, const std::string& desired) {
    const auto size = static_cast<uint32_t>(expected.size());
    std::string text(sizeof size, '\0');
    std::memcpy(text.data(), &size, sizeof size);
    return text + expected + desired;
}

/// And back; false when it is no such value.
inline bool unpack_pair(const std::string& text, std::string& expected,
                        std::string& desired) {
    uint32_t size = 0;
    if (text.size() < sizeof size) return false;
    std::memcpy(&size, text.data(), sizeof size);
    if (text.size() - sizeof size < size) return false;
    expected = text.substr(sizeof size, size);
    desired = text.substr(sizeof size + size);
    return true;
}

}  // namespace mini::dist::protocol
