#include "libmini/distributed/store/hash_store.hpp"
#include "libmini/distributed/net/wait_on.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace mini::dist {

void HashStore::set(const std::string& key, const std::string& value) {
    check_sizes(key, value);
    const std::lock_guard lock(mutex_);
    table_.set(key, value);
    notify_all(changed_);
}

std::string HashStore::get(const std::string& key, Deadline deadline) {
    std::unique_lock lock(mutex_);
    wait_locked(lock, {key}, deadline);
    return *table_.find(key);
}

int64_t HashStore::add(const std::string& key, int64_t amount) {
    check_sizes(key, "");
    const std::lock_guard lock(mutex_);
    const int64_t sum = table_.add(key, amount);
    notify_all(changed_);
    return sum;
}

std::string HashStore::compare_set(const std::string& key, const std::string& expected,
                                   const std::string& desired) {
    check_sizes(key, desired);
    const std::lock_guard lock(mutex_);
    std::string value = table_.compare_set(key, expected, desired);
    notify_all(changed_);
    return value;
}

void HashStore::wait(const std::vector<std::string>& keys, Deadline deadline) {
    std::unique_lock lock(mutex_);
    wait_locked(lock, keys, deadline);
}

bool HashStore::check(const std::vector<std::string>& keys) {
    const std::lock_guard lock(mutex_);
    return table_.missing(keys).empty();
}

bool HashStore::delete_key(const std::string& key) {
    const std::lock_guard lock(mutex_);
    return table_.erase(key);
}

int64_t HashStore::num_keys() {
    const std::lock_guard lock(mutex_);
    return static_cast<int64_t>(table_.size());
}

void HashStore::wait_locked(std::unique_lock<std::mutex>& lock,
                            const std::vector<std::string>& keys, Deadline deadline) {
    // [lab10.2] Wait until no key is missing; at the deadline throw with the missing keys.
    const auto all_there = [&] { return table_.missing(keys).empty(); };
    if (!wait_on(changed_, lock, deadline, all_there))
        throw_missing("the store of this process", keys, table_.missing(keys));
    // [lab10.2]
}

}  // namespace mini::dist
