#include "libmini/distributed/store/store_service.hpp"

#include <map>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"

// [lab10 file]
namespace mini::dist {

using protocol::Status;

struct StoreService::Impl {
    struct Waiter {
        StoreClient* client;
        uint32_t id;
        bool wants_value;  // a get, not a wait
    };

    Reply reply;
    StoreTable table = {};
    std::map<std::string, std::vector<Waiter>> queues = {};  // by key; none is empty
    std::map<StoreClient*, std::string> awaited = {};        // the key of each waiter

    void answer_waiters(const std::string& key);
};

StoreService::StoreService(Reply reply)
    : impl_(std::make_unique<Impl>(Impl{std::move(reply)})) {}

StoreService::~StoreService() = default;

void StoreService::handle(StoreClient& client, protocol::Request request) {
    // [lab10.3] Let the client wait, or carry out the request; reply, to waiters first.
    forget(client);
    const uint32_t id = request.id;
    const std::string key = request.key;
    if (request.may_wait()) {
        const bool wants_value = request.command == protocol::Command::kGet;
        impl_->queues[key].push_back({&client, id, wants_value});
        impl_->awaited[&client] = key;
        return impl_->answer_waiters(key);
    }
    Status status = Status::kDone;
    std::string answer;
    try {
        answer = carry_out(std::move(request), impl_->table);
    } catch (const Error& error) {
        status = Status::kRefused;
        answer = error.what();
    }
    impl_->answer_waiters(key);
    impl_->reply(client, id, status, answer);
    // [lab10.3]
}

void StoreService::forget(StoreClient& client) {
    // [lab10.3] Remove the client from the queue of the key that it waits for.
    const auto key = impl_->awaited.extract(&client);
    if (key.empty()) return;
    const auto queue = impl_->queues.find(key.mapped());
    if (queue == impl_->queues.end()) return;  // answer_waiters has taken it out
    std::erase_if(queue->second,
                  [&](const Impl::Waiter& waiter) { return waiter.client == &client; });
    if (queue->second.empty()) impl_->queues.erase(queue);
    // [lab10.3]
}

size_t StoreService::awaited_keys() const { return impl_->queues.size(); }

void StoreService::Impl::answer_waiters(const std::string& key) {
    // [lab10.3] Take the queue out; reply to each client that still waits.
    const std::string* const value = table.find(key);
    if (value == nullptr) return;
    const auto queue = queues.extract(key);
    if (queue.empty()) return;
    for (const Waiter& waiter : queue.mapped())
        if (awaited.erase(waiter.client) > 0)  // not forgotten during another reply
            reply(*waiter.client, waiter.id, Status::kDone,
                  waiter.wants_value ? *value : "");
    // [lab10.3]
}

}  // namespace mini::dist
// [lab10 file]
