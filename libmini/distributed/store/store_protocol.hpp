// The protocol between the TCP store's client and server, after both have sent a Hello:
//
//     request   id (4)  command (4)  key size (4)  value size (4)  | key | value
//     reply     id (4)  status (4)   value size (4)                | value
//
//     command       value                                    value of the reply
//     set           the value                                -
//     get, wait     -                                        the value, -
//     add           a decimal number                         the sum
//     compare_set   size of expected (4), expected, desired  the value afterwards
//     check, erase  -                                        "1" or "0"
//     num_keys      -                                        a decimal number
//
// The reply to a get or wait of a missing key is sent when the key is set. If the client
// sends another request first, it has stopped waiting and the server sends no reply to
// the get or wait. The client skips a reply that was already in flight at that moment:
// its id is old.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "libmini/distributed/store/store.hpp"

namespace mini::dist::protocol {

/// The longest value of a message: the two values of a compare_set.
constexpr size_t kMaxBodyBytes = 2 * kMaxValueBytes + sizeof(uint32_t);

/// How many bytes client and server read in one call.
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

/// Return the bytes of a message.
std::string to_bytes(const Request& request);
std::string to_bytes(const Reply& reply);

/// Remove the message at the start of `bytes` and return it; std::nullopt, with `bytes`
/// unchanged, while it is incomplete. Throw Error, as soon as the head is complete, for an
/// invalid command or status, a key over kMaxKeyBytes, or a value over kMaxValueBytes (over
/// kMaxBodyBytes in a compare_set).
std::optional<Request> take_request(std::string& bytes);
std::optional<Reply> take_reply(std::string& bytes);

/// Packs the two values of a compare_set request into one.
std::string pack_pair(const std::string& expected, const std::string& desired);

/// Unpacks them. Returns false if `text` is not such a pair.
bool unpack_pair(const std::string& text, std::string& expected, std::string& desired);

}  // namespace mini::dist::protocol
