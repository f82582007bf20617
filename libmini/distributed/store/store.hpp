// Store: a small dictionary that all ranks share while they look for one another.
//
//     rank 0:  set("mesh/0", "127.0.0.1:41873")
//     rank 1:  get("mesh/0")                         waits for it
//     all:     add("joined", 1) == world_size        is true for the last one only
//
//     HashStore     in this process, ranks are threads
//     FileStore     in a file that all ranks can open
//     TcpStore      in one process, TcpStoreServer; the others connect to it
//     PrefixStore   a part of another store: all its keys begin alike
//
// Values are bytes without a meaning to the store, except that add keeps decimal numbers.

#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libmini/distributed/net/deadline.hpp"

namespace mini::dist {

/// The longest key and value that a store takes.
constexpr size_t kMaxKeyBytes = 64 << 10;
constexpr size_t kMaxValueBytes = 16 << 20;

/// What ranks meet at (`torch.distributed.Store`). Every wait throws Timeout naming the
/// keys that were missing, and PeerLost(0) when the process that keeps the store is gone.
/// All functions throw Error for a key or a value that is too long.
class Store {
  public:
    virtual ~Store() = default;

    /// Sets a key, new or not.
    virtual void set(const std::string& key, const std::string& value) = 0;

    /// The value of a key; blocks until a rank has set it. Without a deadline it waits
    /// for as long as timeout() says.
    virtual std::string get(const std::string& key, Deadline deadline) = 0;
    std::string get(const std::string& key) { return get(key, default_deadline()); }

    /// Adds to a number that starts at 0 and returns the sum; no two calls get in
    /// between. Throws Error naming key and value, which stays, when the value is not the
    /// decimal digits of a number, or the sum is too large. (PyTorch's stores take a
    /// value that begins with a number, as strtoll does; its TCPStore closes the
    /// connection of a client that adds to any other value.)
    virtual int64_t add(const std::string& key, int64_t amount) = 0;

    /// Sets the key to `desired` if its value is `expected`, or if the key is missing and
    /// `expected` is empty; no two calls get in between. Returns the value afterwards;
    /// for a key that stays missing, `expected`
    /// (`torch.distributed.Store.compare_set`).
    virtual std::string compare_set(const std::string& key, const std::string& expected,
                                    const std::string& desired) = 0;

    /// Blocks until all keys exist; without a deadline, for as long as timeout() says.
    virtual void wait(const std::vector<std::string>& keys, Deadline deadline) = 0;
    void wait(const std::vector<std::string>& keys) { wait(keys, default_deadline()); }

    /// Whether all these keys exist now.
    virtual bool check(const std::vector<std::string>& keys) = 0;
    bool check(const std::string& key) { return check(std::vector<std::string>{key}); }

    /// Forgets a key; whether there was one.
    virtual bool delete_key(const std::string& key) = 0;

    /// How many keys there are; of a PrefixStore, in the store below.
    virtual int64_t num_keys() = 0;

    /// How long calls without a deadline wait; 300 s at first, as in PyTorch. Those that
    /// wait for no other rank (set, add, check, ...) wait 30 s at most.
    std::chrono::milliseconds timeout() const { return timeout_; }
    void set_timeout(std::chrono::milliseconds timeout) { timeout_ = timeout; }

  protected:
    Deadline default_deadline() const { return deadline_after(timeout_); }

  private:
    std::chrono::milliseconds timeout_ = std::chrono::seconds(300);
};

/// The rules that all stores share, without locks, waits and wires: what each call does
/// to the dictionary.
class StoreTable {
  public:
    /// What Store's functions of these names do, at once.
    void set(const std::string& key, std::string value);
    int64_t add(const std::string& key, int64_t amount);
    std::string compare_set(const std::string& key, const std::string& expected,
                            const std::string& desired);
    bool erase(const std::string& key);
    void clear();

    /// The value of a key; null when it is missing.
    const std::string* find(const std::string& key) const;

    /// The keys of these that are missing.
    std::vector<std::string> missing(const std::vector<std::string>& keys) const;

    size_t size() const { return values_.size(); }

    /// The memory that keys and values take, with what a map needs for each.
    size_t bytes() const { return bytes_; }

  private:
    std::map<std::string, std::string> values_;
    size_t bytes_ = 0;
};

/// The number whose decimal digits `text` is; nothing for anything else.
std::optional<int64_t> parse_number(const std::string& text);

/// Throws Error when a key or a value is longer than stores take.
void check_sizes(const std::string& key, const std::string& value);

/// The Timeout of a wait for `keys` in `place`, of which `missing` did not come.
[[noreturn]] void throw_missing(const std::string& place,
                                const std::vector<std::string>& keys,
                                const std::vector<std::string>& missing);

}  // namespace mini::dist
