#include "libmini/distributed/store/store_service.hpp"

#include <utility>

#include "libmini/core/error.hpp"

namespace mini::dist {

using protocol::Command;
using protocol::Status;

std::string carry_out(protocol::Request request, StoreTable& table) {
    const std::string& key = request.key;
    switch (request.command) {
        case Command::kCheck: return table.find(key) != nullptr ? "1" : "0";
        case Command::kErase: return table.erase(key) ? "1" : "0";
        case Command::kNumKeys: return std::to_string(table.size());
        case Command::kSet: table.set(key, std::move(request.value)); return "";
        case Command::kAdd: {
            const auto amount = parse_number(request.value);
            MINI_CHECK(amount.has_value(), "add to \"", key,
                       "\": the amount is not a number");
            return std::to_string(table.add(key, *amount));
        }
        case Command::kCompareSet: {
            std::string expected, desired;
            MINI_CHECK(protocol::unpack_pair(request.value, expected, desired) &&
                           desired.size() <= kMaxValueBytes,
                       "compare_set: no two values");
            return table.compare_set(key, expected, desired);
        }
        case Command::kGet:
        case Command::kWait: break;
    }
    throw Error("carry_out: a get or a wait");
}

void StoreService::handle(StoreClient& client, protocol::Request request) {
    forget(client);
    const Command command = request.command;
    if (command == Command::kGet || command == Command::kWait)
        return ask(client, {request.id, command, std::move(request.key)});
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
