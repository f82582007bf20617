// What the TCP store's client and server say to each other, after both have said Hello:
//
//     request   id (4)  command (4)  key size (4)  value size (4)  | key | value
//     reply     id (4)  status (4)   value size (4)                | value
//
// A get or wait whose key is missing is answered when the key comes. A client that has
// stopped waiting for the answer recognises it later by its id and skips it.

#pragma once

#include <cstddef>
#include <cstdint>

namespace mini::dist::protocol {

constexpr size_t kMaxKeyBytes = 64 << 10;
constexpr size_t kMaxValueBytes = 16 << 20;

enum class Command : uint32_t { kSet = 1, kGet, kAdd, kWait, kCheck };
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

}  // namespace mini::dist::protocol
