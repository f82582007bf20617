#include "libmini/distributed/store/tcp_store.hpp"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace mini::dist {
namespace {

using protocol::Reply;
using protocol::Status;

// The server has timeout() to reply to a call that does not wait for another rank, but at
// least the first and at most the second of these times.
constexpr std::chrono::milliseconds kLeastAnswerTime(1000), kMostAnswerTime(30'000);

// How long the server may take to send its Hello. A slower peer is assumed to be another
// program.
constexpr std::chrono::seconds kHelloTime(5);

}  // namespace

TcpStore::TcpStore(const Address& server, const Cookie& cookie, Deadline deadline)
    : TcpStore(connect_to(server, deadline), server, cookie, deadline) {}

TcpStore::TcpStore(Socket connection, const Address& server, const Cookie& cookie,
                   Deadline deadline)
    : server_(server), socket_(std::move(connection)) {
    const Deadline hello_deadline = std::min(deadline, deadline_after(kHelloTime));
    const Hello mine = make_hello(Hello::Role::kStoreClient, cookie, -1, 0);
    Hello theirs;
    std::string fault;
    try {
        send_all(socket_, std::as_bytes(std::span(&mine, 1)), hello_deadline);
        recv_all(socket_, std::as_writable_bytes(std::span(&theirs, 1)), hello_deadline);
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
    if (!socket_.is_open()) throw_failure(closed_by_);
    request.id = next_id_;
    const std::string bytes = protocol::to_bytes(request);
    bool is_sent = false;
    Reply reply;
    try {
        send_all(socket_, std::as_bytes(std::span(bytes)), deadline);
        is_sent = true;
        reply = receive_reply(next_id_++, deadline);
    } catch (const Timeout& timeout) {
        // After a get or a wait, keep the connection: a later call skips the late reply.
        // After a partly sent request, close the connection, because the server would
        // read the next request as the rest of this one. After any other call, close it
        // too: a server that does not reply to a call without a wait is stuck.
        if (!is_sent || !request.may_wait())
            close({Failure::Kind::kTimeout, -1, timeout.what()});
        throw;
    } catch (const ConnectionClosed& closed) {
        const std::string text = concat(
            place(), " is gone: rank 0, which keeps it, ended (", closed.what(), ")");
        close({Failure::Kind::kPeerLost, 0, text});
        throw PeerLost(0, text);
    } catch (const Error& error) {
        const std::string text = concat(place(), " sent ", error.what());
        close({Failure::Kind::kOther, -1, text});
        throw Error(text);
    }
    MINI_CHECK(reply.status == Status::kDone, place(), ": ", reply.value);
    return reply.value;
}

Reply TcpStore::receive_reply(uint32_t id, Deadline deadline) {
    // [lab10.4] Read until the inbox holds the reply with this id; skip older replies.
    while (true) {
        while (auto reply = protocol::take_reply(inbox_))
            if (reply->id == id) return *std::move(reply);

        const size_t old = inbox_.size();
        inbox_.resize(old + protocol::kReadBytes);
        const size_t n =
            recv_some(socket_, std::as_writable_bytes(std::span(inbox_).subspan(old)));
        inbox_.resize(old + n);
        if (n == 0 && !wait_for(socket_, POLLIN, deadline)) throw_silent();
    }
    // [lab10.4]
}

void TcpStore::throw_silent() const {
    throw Timeout(concat(place(), " is silent: is rank 0, which keeps it, stopped?"));
}

void TcpStore::close(const Failure& failure) {
    socket_.close();
    closed_by_ = failure;
    closed_by_.message =
        concat("the connection to ", place(),
               " was closed when an earlier call failed: ", failure.message);
}

}  // namespace mini::dist
