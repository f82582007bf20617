#include "libmini/distributed/store/tcp_store.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <string>
#include <utility>

namespace mini::dist {
namespace {

// The server has timeout() to reply to a call that does not wait for another rank, but at
// least the first and at most the second of these times.
constexpr std::chrono::milliseconds kLeastAnswerTime(1000), kMostAnswerTime(30'000);

// How long the server may take to send its Hello; another program may never send one.
constexpr std::chrono::seconds kHelloTime(5);

}  // namespace

TcpStore::TcpStore(const Address& server, const Cookie& cookie, Deadline deadline)
    : TcpStore(connect_to(server, deadline), server, cookie, deadline) {}

TcpStore::TcpStore(Socket connection, const Address& server, const Cookie& cookie,
                   Deadline deadline)
    : server_(server), connection_{std::move(connection)} {
    const Deadline hello_deadline = std::min(deadline, deadline_after(kHelloTime));
    const Hello mine = make_hello(Hello::Role::kStoreClient, cookie, -1, 0);
    Hello theirs;
    std::string fault;
    try {
        send_all(connection_.socket, std::as_bytes(std::span(&mine, 1)), hello_deadline);
        recv_all(connection_.socket, std::as_writable_bytes(std::span(&theirs, 1)),
                 hello_deadline);
        fault = hello_error(theirs, mine);
    } catch (const ConnectionClosed&) {
        fault =
            "it closed the connection: it is full, or belongs to another run "
            "(MINI_STORE_COOKIE must be the same on all ranks), or is not a store of "
            "libmini";
    } catch (const Timeout&) {
        if (has_passed(deadline)) throw;  // the server or this rank started late
        fault = "it accepted the connection but sent no Hello";
    }
    MINI_CHECK(fault.empty(), "cannot use the store at ", to_text(server), ": ", fault);
}

std::string TcpStore::ask(protocol::Request request, Deadline deadline) {
    check_sizes(request.key, "");
    if (!request.may_wait())
        deadline =
            deadline_after(std::clamp(timeout(), kLeastAnswerTime, kMostAnswerTime));
    const std::lock_guard lock(mutex_);
    if (!connection_.socket.is_open()) throw_failure(closed_by_);
    protocol::Reply reply;
    try {
        reply = ask_server(connection_, std::move(request), deadline);
    } catch (const Timeout& timeout) {
        fail({Failure::Kind::kTimeout, -1,
              concat(place(), " is silent: is rank 0, which keeps it, stopped? (",
                     timeout.what(), ")")});
    } catch (const ConnectionClosed& closed) {
        fail({Failure::Kind::kPeerLost, 0,
              concat(place(), " is gone: rank 0, which keeps it, ended (", closed.what(),
                     ")")});
    } catch (const Error& error) {
        fail({Failure::Kind::kOther, -1, concat(place(), " sent ", error.what())});
    }
    MINI_CHECK(reply.status == protocol::Status::kDone, place(), ": ", reply.value);
    return reply.value;
}

void TcpStore::fail(const Failure& failure) {
    closed_by_ = failure;
    closed_by_.message =
        concat("the connection to ", place(),
               " was closed when an earlier call failed: ", failure.message);
    throw_failure(failure);
}

}  // namespace mini::dist
