// The TCP store's protocol after both sides have sent a Hello; (4) means 4 bytes.
//
//     request   id (4)  command (4)  sizes (4 each) of  | key | value | expected
//     reply     id (4)  status (4)   value size (4)     | value
//
//     command       value             expected        value of the reply
//     set           the value         -               -
//     get, wait     -                 -               the value, -
//     add           a decimal number  -               the sum
//     compare_set   the new value     the old value   the value afterwards
//     check, erase  -                 -               "1" or "0"
//     num_keys      -                 -               a decimal number
//
// The heads are sent as they are in memory, in the machine's byte order.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "libmini/distributed/store/store.hpp"

namespace mini::dist::protocol {

/// How many bytes client and server read at most in one call.
constexpr size_t kReadBytes = 64 << 10;

enum class Status : uint32_t { kDone = 0, kRefused = 1 };

struct RequestHead {
    uint32_t id = 0;
    Command command = Command::kSet;
    uint32_t key_bytes = 0;
    uint32_t value_bytes = 0;
    uint32_t expected_bytes = 0;
};

struct ReplyHead {
    uint32_t id = 0;
    Status status = Status::kDone;
    uint32_t value_bytes = 0;
};

struct Reply {
    uint32_t id = 0;
    Status status = Status::kDone;
    std::string value;
};

/// Return the bytes of a message.
std::string to_bytes(const Request& request);
std::string to_bytes(const Reply& reply);

/// Remove the message at the start of `bytes` and return it. Return std::nullopt, with
/// `bytes` unchanged, while the message is incomplete. Throw Error, as soon as the head
/// is complete, for an invalid command or status, a key over kMaxKeyBytes, or a value
/// over kMaxValueBytes.
std::optional<Request> take_request(std::string& bytes);
std::optional<Reply> take_reply(std::string& bytes);

}  // namespace mini::dist::protocol
