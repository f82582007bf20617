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
#include <optional>
#include <string>

#include "libmini/distributed/store/store.hpp"

namespace mini::dist::protocol {

/// The longest value that travels: two values of a compare_set.
constexpr size_t kMaxBodyBytes = 2 * kMaxValueBytes + sizeof(uint32_t);

/// How much client and server read at once.
constexpr size_t kReadBytes = 64 << 10;

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

struct RequestHead {
    uint32_t id = 0;
    Command command = Command::kSet;
    uint32_t key_bytes = 0;
    uint32_t value_bytes = 0;
};

struct ReplyHead {
    uint32_t id = 0;
    Status status = Status::kDone;
    uint32_t value_bytes = 0;
};

struct Request {
    uint32_t id = 0;
    Command command = Command::kSet;
    std::string key;
    std::string value;
};

struct Reply {
    uint32_t id = 0;
    Status status = Status::kDone;
    std::string value;
};

/// What travels.
std::string to_bytes(const Request& request);
std::string to_bytes(const Reply& reply);

/// Takes the message that `bytes` begin with off them; nothing while it is not whole. Throw
/// Error, as soon as the head is there, for a command, a status or a size that no message
/// has.
std::optional<Request> take_request(std::string& bytes);
std::optional<Reply> take_reply(std::string& bytes);

/// The value of a compare_set request, and back; false when it is no such value.
std::string pack_pair(const std::string& expected, const std::string& desired);
bool unpack_pair(const std::string& text, std::string& expected, std::string& desired);

}  // namespace mini::dist::protocol
