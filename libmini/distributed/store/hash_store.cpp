#include "libmini/distributed/store/hash_store.hpp"

#include <string>
#include <utility>
#include <vector>

#include "libmini/distributed/net/wait_on.hpp"

namespace mini::dist {

std::string HashStore::ask(protocol::Request request, Deadline deadline) {
    std::unique_lock lock(mutex_);
    if (request.may_wait()) {
        wait_locked(lock, {request.key}, deadline);
        return *table_.find(request.key);
    }
    std::string answer = carry_out(std::move(request), table_);
    notify_all(changed_);
    return answer;
}

void HashStore::wait(const std::vector<std::string>& keys, Deadline deadline) {
    std::unique_lock lock(mutex_);
    wait_locked(lock, keys, deadline);
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
