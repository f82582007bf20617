#include "libmini/distributed/store/hash_store.hpp"

#include <string>
#include <utility>

#include "libmini/distributed/net/wait_on.hpp"

namespace mini::dist {

std::string HashStore::ask(protocol::Request request, Deadline deadline) {
    std::unique_lock lock(mutex_);
    if (request.may_wait()) {
        const auto is_set = [&] { return table_.find(request.key) != nullptr; };
        if (!wait_on(changed_, lock, deadline, is_set))
            throw_missing(place(), {request.key}, {request.key});
        return *table_.find(request.key);
    }
    std::string answer = carry_out(std::move(request), table_);
    notify_all(changed_);
    return answer;
}

}  // namespace mini::dist
