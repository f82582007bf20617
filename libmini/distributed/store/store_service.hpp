// The store server's logic, independent of sockets: it keeps the table, replies to
// requests, and delays the reply to a get or wait until the key is set.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libmini/distributed/store/store_protocol.hpp"
#include "libmini/distributed/store/store_requests.hpp"

namespace mini::dist {

/// The service's part of a client; the server's connection derives from it.
struct StoreClient {
    // A get or wait whose key is not set yet.
    struct Question {
        uint32_t id;
        protocol::Command command;
        std::string key;
    };
    /// At most one: a client that sends another request has stopped waiting.
    std::optional<Question> question;
};

/// Not thread-safe.
class StoreService {
  public:
    /// Sends a reply to a client. Does not throw.
    using Reply = std::function<void(StoreClient& client, uint32_t id,
                                     protocol::Status status, const std::string& value)>;

    StoreService(const StoreLimits& limits, Reply reply)
        : limits_(limits), reply_(std::move(reply)) {}

    /// Carries out a request of `client`, and replies to it and to the clients that
    /// waited for the key. Throws bad_alloc if there is not enough memory.
    void handle(StoreClient& client, protocol::Request request);

    /// Forgets the get or wait of `client`: it has sent another request, or is
    /// disconnected. No pointer to it remains in the queues, and no empty queue remains. Does
    /// nothing if the client does not wait. REQUIRES: a client that is forgotten while a reply is
    /// sent lives until handle() returns.
    void forget(StoreClient& client);

    /// Returns the number of keys that clients wait for, which is that of the queues.
    size_t awaited_keys() const { return waiters_.size(); }

  private:
    /// Replies kDone if the key exists: with its value to a get, with "" to a wait. Else
    /// stores the question in the client, and the client at the end of its key's queue.
    void ask(StoreClient& client, StoreClient::Question question);

    /// Replies to the clients that wait for `key`, in the order of their questions; without
    /// effect if the key does not exist. Takes the queue out of waiters_ first, since reply_
    /// may drop any client with forget(), which changes the queues that are in waiters_.
    /// While a reply is sent its client has no question. A client that is dropped before its
    /// reply has no question either, and gets no reply.
    void answer_waiters(const std::string& key);

    const StoreLimits limits_;
    const Reply reply_;
    StoreTable table_;
    std::map<std::string, std::vector<StoreClient*>>
        waiters_;  // by key; no queue is empty
};

}  // namespace mini::dist
