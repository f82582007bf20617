#include "libmini/distributed/store/store_service.hpp"

#include <utility>

#include "libmini/core/error.hpp"

namespace mini::dist {

using protocol::Command;
using protocol::Status;

void StoreService::handle(StoreClient& client, protocol::Request request) {
    forget(client);
    if (request.may_wait())
        return ask(client, {request.id, request.command, std::move(request.key)});
    const uint32_t id = request.id;
    const std::string key = request.key;
    Status status = Status::kDone;
    std::string answer;
    try {
        answer = carry_out(std::move(request), table_);
    } catch (const Error& error) {
        status = Status::kRefused;
        answer = error.what();
    }
    answer_waiters(key);  // first, because the waiters asked earlier
    reply_(client, id, status, answer);
}

void StoreService::ask(StoreClient& client, StoreClient::Question question) {
    // [lab10.3] Reply to a key that exists; else let the client wait for it.
    const std::string* value = table_.find(question.key);
    if (value != nullptr)
        return reply_(client, question.id, Status::kDone,
                      question.command == Command::kGet ? *value : "");
    client.question = std::move(question);
    waiters_[client.question->key].push_back(&client);
    // [lab10.3]
}

void StoreService::forget(StoreClient& client) {
    // [lab10.3] Remove the question, and the client from the queue of its key.
    if (!client.question) return;
    const auto found = waiters_.find(client.question->key);
    client.question.reset();
    if (found == waiters_.end()) return;  // the reply to this client is being sent
    std::erase(found->second, &client);
    if (found->second.empty()) waiters_.erase(found);
    // [lab10.3]
}

void StoreService::answer_waiters(const std::string& key) {
    // [lab10.3] Empty the queue of the key, and ask the question of each client again.
    if (table_.find(key) == nullptr)
        return;  // after an erase, or a compare_set that did not set the key
    const auto waiting = waiters_.extract(key);
    if (waiting.empty()) return;
    for (StoreClient* client : waiting.mapped()) {
        if (!client->question) continue;
        ask(*client, *std::exchange(client->question, std::nullopt));
    }
    // [lab10.3]
}

}  // namespace mini::dist
