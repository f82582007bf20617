// What a store's server does with requests, whatever brings them: it keeps the table, answers,
// and lets a get or wait whose key is missing wait for it.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libmini/distributed/store/store_protocol.hpp"
#include "libmini/distributed/store/store_requests.hpp"

namespace mini::dist {

/// A client as the service sees it; its connection derives from it.
struct StoreClient {
    // A get or wait whose key is not there yet.
    struct Question {
        uint32_t id;
        protocol::Command command;
        std::string key;
    };
    /// At most one: a client that asks again has stopped waiting.
    std::optional<Question> question;
};

/// Not thread-safe.
class StoreService {
  public:
    /// Sends an answer to a client. Does not throw.
    using Reply = std::function<void(StoreClient& client, uint32_t id,
                                     protocol::Status status, const std::string& value)>;

    StoreService(const StoreLimits& limits, Reply reply)
        : limits_(limits), reply_(std::move(reply)) {}

    /// Carries out a request of `client`, and answers it and the clients that waited for
    /// the key. Throws bad_alloc where there is no memory for it.
    void handle(StoreClient& client, protocol::Request request);

    /// Forgets what `client` waits for: it asks again, or leaves.
    void forget(StoreClient& client);

  private:
    void ask(StoreClient& client, StoreClient::Question question);
    void answer_waiters(const std::string& key);

    const StoreLimits limits_;
    const Reply reply_;
    StoreTable table_;
    std::map<std::string, std::vector<StoreClient*>> waiters_;  // by key
};

}  // namespace mini::dist
