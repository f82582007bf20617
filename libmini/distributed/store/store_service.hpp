// The store server's logic, independent of sockets: it keeps the table, replies to
// requests, and delays the reply to a get or wait until the key is set.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "libmini/distributed/store/store_protocol.hpp"

namespace mini::dist {

/// A client, which the service knows by its address. The server's Client derives from it.
struct StoreClient {};

/// Not thread-safe.
class StoreService {
  public:
    /// The function that sends a reply to a client. It may call forget() for any client,
    /// but not handle(), and does not throw.
    using Reply = std::function<void(StoreClient& client, uint32_t id,
                                     protocol::Status status, const std::string& value)>;

    explicit StoreService(Reply reply);
    ~StoreService();

    /// Handles a request of `client`, after dropping the client's get or wait that has no
    /// reply yet: a client that sends another request has stopped waiting.
    ///
    /// - get, wait: replies kDone, with the value or with "", as soon as the key exists:
    ///   now, or while a later request is handled.
    /// - Others: carry_out(). First replies to the clients that wait for the key, if it
    ///   exists now, in the order of their requests; then to `client`: kDone and what
    ///   carry_out() returned, or kRefused and the text of the Error that it threw.
    void handle(StoreClient& client, protocol::Request request);

    /// Drops the get or wait of `client`, if any: it has disconnected and gets no reply.
    /// REQUIRES: if Reply calls forget(), `client` lives until handle() returns.
    void forget(StoreClient& client);

    /// Returns the number of keys for which clients wait; nothing is stored of others.
    size_t awaited_keys() const;

  private:
    struct Impl;  // what a service consists of: store_service.cpp defines it
    std::unique_ptr<Impl> impl_;
};

}  // namespace mini::dist
