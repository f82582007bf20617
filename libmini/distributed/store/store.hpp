// Store: a small key-value store that all ranks share while they set up their
// connections.
//
//     rank 0:  set("mesh/0", "127.0.0.1:41873")
//     rank 1:  get("mesh/0")                         waits for the key
//     all:     add("joined", 1) == world_size        is true on the last rank only
//
//     HashStore     in this process, for ranks that are threads
//     TcpStore      in the process with the TcpStoreServer, to which all ranks connect
//     FileStore     in a file (libmini/extras/launchers)
//
// Values are bytes that the store does not interpret, except that add() stores decimal
// numbers.

#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libmini/distributed/net/clock.hpp"

namespace mini::dist {

/// The longest key and the longest value that a store accepts.
constexpr size_t kMaxKeyBytes = 64 << 10;
constexpr size_t kMaxValueBytes = 16 << 20;

namespace protocol {

/// Which of a store's calls a Request is.
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

/// A call of a store, as a TcpStore sends it to its server (store_protocol.hpp).
struct Request {
    uint32_t id = 0;
    Command command = Command::kSet;
    std::string key = {};
    std::string value = {};     // of set and compare_set; of add, the amount
    std::string expected = {};  // of compare_set

    /// Returns whether the reply may have to wait until another rank sets the key.
    bool may_wait() const {
        return command == Command::kGet || command == Command::kWait;
    }
};

}  // namespace protocol

/// The interface of all stores (`torch.distributed.Store`). get() and wait() throw
/// Timeout naming the missing keys if the deadline passes. All functions throw
/// PeerLost(0) if the process that serves the store is gone. set(), add() and
/// compare_set() throw Error for a key or a value that is too long.
class Store {
  public:
    virtual ~Store() = default;

    /// Sets the value of a key; overwrites an old value.
    virtual void set(const std::string& key, const std::string& value);

    /// Returns the value of a key; blocks until a rank has set the key. Without a
    /// deadline, waits up to timeout().
    virtual std::string get(const std::string& key, Deadline deadline);
    std::string get(const std::string& key) { return get(key, default_deadline()); }

    /// Adds `amount` to the number that is the value of `key` (0 if the key is missing)
    /// and returns the sum; atomic. Throws Error naming key and value, and leaves the
    /// value unchanged, if the value is not a decimal number or the sum is too large.
    virtual int64_t add(const std::string& key, int64_t amount);

    /// Sets the key to `desired` if its value is `expected`, or if the key is missing and
    /// `expected` is empty; atomic. Returns the value after the call, or `expected` if
    /// the key is still missing (`torch.distributed.Store.compare_set`).
    std::string compare_set(const std::string& key, const std::string& expected,
                            const std::string& desired);

    /// Blocks until all keys exist. Without a deadline, waits up to timeout().
    virtual void wait(const std::vector<std::string>& keys, Deadline deadline);
    void wait(const std::vector<std::string>& keys) { wait(keys, default_deadline()); }

    /// Returns whether all `keys` exist now; does not wait for them.
    bool check(const std::vector<std::string>& keys);
    bool check(const std::string& key) { return check(std::vector<std::string>{key}); }

    /// Deletes a key. Returns whether the key existed.
    bool delete_key(const std::string& key);

    /// Returns the number of keys.
    int64_t num_keys();

    /// Returns how long get() and wait() without a deadline wait; 300 s by default, as in
    /// PyTorch. Calls that do not wait for another rank (set, add, check, ...) block for
    /// at most 30 s.
    std::chrono::milliseconds timeout() const { return timeout_; }
    void set_timeout(std::chrono::milliseconds timeout) { timeout_ = timeout; }

  protected:
    /// Carries out one call and returns the value of its reply, as carry_out() does; for
    /// a get the key's value, for a wait "". Throws Timeout if the call may wait and the
    /// key is not set before the deadline; other calls ignore the deadline.
    virtual std::string ask(protocol::Request request, Deadline deadline) = 0;

    /// Returns the name of the store in error messages.
    virtual std::string place() const = 0;

  private:
    std::string ask(protocol::Request request) { return ask(std::move(request), kNever); }
    int64_t ask_number(protocol::Request request);
    Deadline default_deadline() const { return deadline_after(timeout_); }

    std::chrono::milliseconds timeout_ = std::chrono::seconds(300);
};

/// The dictionary inside every store. Its functions carry out the calls of Store on the
/// dictionary, without locks, waits or sockets.
class StoreTable {
  public:
    /// As in Store; these functions never wait.
    void set(const std::string& key, std::string value);
    int64_t add(const std::string& key, int64_t amount);
    std::string compare_set(const std::string& key, const std::string& expected,
                            const std::string& desired);
    bool erase(const std::string& key);

    /// Returns the value of a key; null if it is missing.
    const std::string* find(const std::string& key) const;

    size_t size() const { return values_.size(); }

  private:
    std::map<std::string, std::string> values_;
};

/// Carries out a request that does not wait. Returns the value of the reply: of add the
/// sum, of compare_set the value afterwards, of check and erase "1" or "0", of num_keys
/// the number. Throws Error, and changes nothing, if this is not possible.
std::string carry_out(protocol::Request request, StoreTable& table);

/// Parses a decimal number. Returns std::nullopt for any other text.
std::optional<int64_t> parse_number(const std::string& text);

/// Throws Error if a key or a value is longer than a store accepts.
void check_sizes(const std::string& key, const std::string& value);

/// Throws Timeout: of `keys`, `missing` were not set in time. `place` names the store.
[[noreturn]] void throw_missing(const std::string& place,
                                const std::vector<std::string>& keys,
                                const std::vector<std::string>& missing);

}  // namespace mini::dist
