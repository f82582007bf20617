#include "libmini/distributed/store/tcp_store.hpp"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace mini::dist {
namespace {

using protocol::Command;
using protocol::Reply;
using protocol::Status;

constexpr size_t kShownBytes = 40;  // of an invalid reply, in the error message

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

void TcpStore::set(const std::string& key, const std::string& value) {
    check_sizes(key, value);
    ask(Command::kSet, key, value, answer_deadline());
}

std::string TcpStore::get(const std::string& key, Deadline deadline) {
    try {
        return ask(Command::kGet, key, "", deadline);
    } catch (const Timeout&) {
        // The key may be set, and only the reply may be late.
        if (check(key)) return ask(Command::kGet, key, "", answer_deadline());
        throw_missing(concat("the store at ", to_text(server_)), {key}, {key});
    }
}

int64_t TcpStore::add(const std::string& key, int64_t amount) {
    return ask_number(Command::kAdd, key, std::to_string(amount));
}

std::string TcpStore::compare_set(const std::string& key, const std::string& expected,
                                  const std::string& desired) {
    check_sizes(key, expected);
    check_sizes(key, desired);
    return ask(Command::kCompareSet, key, protocol::pack_pair(expected, desired),
               answer_deadline());
}

void TcpStore::wait(const std::vector<std::string>& keys, Deadline deadline) {
    for (size_t i = 0; i < keys.size(); ++i) {
        try {
            ask(Command::kWait, keys[i], "", deadline);
        } catch (const Timeout&) {
            // The keys before keys[i] exist; find the missing keys among the others.
            std::vector<std::string> missing;
            for (size_t j = i; j < keys.size(); ++j)
                if (!check(keys[j])) missing.push_back(keys[j]);
            if (missing.empty()) return;
            throw_missing(concat("the store at ", to_text(server_)), keys, missing);
        }
    }
}

bool TcpStore::check(const std::vector<std::string>& keys) {
    for (const std::string& key : keys)
        if (ask(Command::kCheck, key, "", answer_deadline()) != "1") return false;
    return true;
}

bool TcpStore::delete_key(const std::string& key) {
    return ask(Command::kErase, key, "", answer_deadline()) == "1";
}

int64_t TcpStore::num_keys() { return ask_number(Command::kNumKeys, "", ""); }

Deadline TcpStore::answer_deadline() const {
    return deadline_after(std::clamp(timeout(), kLeastAnswerTime, kMostAnswerTime));
}

std::string TcpStore::ask(Command command, const std::string& key,
                          const std::string& value, Deadline deadline) {
    check_sizes(key, "");
    const std::lock_guard lock(mutex_);
    if (!socket_.is_open()) throw_failure(closed_by_);
    const std::string place = to_text(server_);
    const std::string request = protocol::to_bytes({next_id_, command, key, value});
    bool is_sent = false;
    Reply reply;
    try {
        send_all(socket_, std::as_bytes(std::span(request)), deadline);
        is_sent = true;
        reply = receive_reply(next_id_++, deadline);
    } catch (const Timeout& timeout) {
        // After a get or a wait, keep the connection: a later call skips the late reply.
        // After a partly sent request, close the connection, because the server would
        // read the next request as the rest of this one. After any other call, close it
        // too: a server that does not reply to a call without a wait is stuck.
        const bool may_wait = command == Command::kGet || command == Command::kWait;
        if (!is_sent || !may_wait) close({Failure::Kind::kTimeout, -1, timeout.what()});
        throw;
    } catch (const ConnectionClosed& closed) {
        const std::string text =
            concat("the store at ", place, " is gone: rank 0, which keeps it, ended (",
                   closed.what(), ")");
        close({Failure::Kind::kPeerLost, 0, text});
        throw PeerLost(0, text);
    } catch (const Error& error) {
        const std::string text = concat("the store at ", place, " sent ", error.what());
        close({Failure::Kind::kOther, -1, text});
        throw Error(text);
    }
    MINI_CHECK(reply.status == Status::kDone, "the store at ", place, ": ", reply.value);
    return reply.value;
}

int64_t TcpStore::ask_number(Command command, const std::string& key,
                             const std::string& value) {
    const std::string answer = ask(command, key, value, answer_deadline());
    const auto number = parse_number(answer);
    MINI_CHECK(number.has_value(), "the store at ", to_text(server_), " answered \"",
               answer.substr(0, kShownBytes), "\" where a number was expected (key \"",
               key, "\")");
    return *number;
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
    throw Timeout(concat("the store at ", to_text(server_),
                         " is silent: is rank 0, which keeps it, stopped?"));
}

void TcpStore::close(const Failure& failure) {
    socket_.close();
    closed_by_ = failure;
    closed_by_.message =
        concat("the connection to the store at ", to_text(server_),
               " was closed when an earlier call failed: ", failure.message);
}

}  // namespace mini::dist
