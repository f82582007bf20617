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

namespace mini::dist {

/// The state of a client that the service uses. The server's Client derives from this
/// class.
struct StoreClient {
    // A get or wait whose key is not set yet.
    struct Question {
        uint32_t id;
        protocol::Command command;
        std::string key;
    };
    /// At most one per client: a client that sends another request has stopped waiting.
    std::optional<Question> question;
};

/// Not thread-safe.
class StoreService {
  public:
    /// The function that sends a reply to a client; it must not throw.
    using Reply = std::function<void(StoreClient& client, uint32_t id,
                                     protocol::Status status, const std::string& value)>;

    explicit StoreService(Reply reply) : reply_(std::move(reply)) {}

    /// Carries out a request of `client`. If the request sets a key, replies first to the
    /// clients that wait for this key, then to `client`. A get or wait for a missing key
    /// gets its reply when the key is set.
    void handle(StoreClient& client, protocol::Request request);

    /// Removes the question of `client`, because the client has sent another request or
    /// is disconnected. Leaves no pointer to `client` in the queues of waiters_, and no
    /// empty queue. Does nothing if `client` has no question. REQUIRES: if reply_ calls
    /// forget() while it sends a reply, `client` lives until handle() returns.
    void forget(StoreClient& client);

    /// Returns the number of keys that clients wait for, which is the number of queues.
    size_t awaited_keys() const { return waiters_.size(); }

  private:
    /// Replies kDone if the key of `question` exists: to a get with the key's value, to a
    /// wait with "". Otherwise stores the question in `client`, and appends `client` to
    /// the queue of the key.
    void ask(StoreClient& client, StoreClient::Question question);

    /// Replies to the clients that wait for `key`, in the order of their questions. Does
    /// nothing if the key does not exist. First takes the queue out of waiters_, because
    /// reply_ may call forget() for any client, and forget() changes the queues in
    /// waiters_. Removes a client's question before it sends the reply. Sends no reply to
    /// a client without a question: forget() was called for this client in the meantime.
    void answer_waiters(const std::string& key);

    const Reply reply_;
    StoreTable table_;
    std::map<std::string, std::vector<StoreClient*>>
        waiters_;  // by key; no queue is empty
};

}  // namespace mini::dist
