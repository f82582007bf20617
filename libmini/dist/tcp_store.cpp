#include "libmini/dist/tcp_store.hpp"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace mini::dist {
namespace {

using protocol::Command;
using protocol::Reply;
using protocol::Request;
using protocol::Status;

// Calls that wait for nobody but the server are answered within this time, or it is in
// trouble.
constexpr std::chrono::seconds kAnswerTime(30);

// How long a stranger at the store's address may take to say Hello before it is called
// one.
constexpr std::chrono::seconds kHelloTime(5);

}  // namespace

TcpStore::TcpStore(const Address& server, const Cookie& cookie, Deadline deadline)
    : server_(server), socket_(connect_to(server, deadline)) {
    const Deadline patience = std::min(deadline, deadline_after(kHelloTime));
    const Hello mine = make_hello(Hello::Role::kStoreClient, cookie, -1, 0);
    Hello theirs;
    std::string fault;
    try {
        send_all(socket_, std::as_bytes(std::span(&mine, 1)), patience);
        recv_all(socket_, std::as_writable_bytes(std::span(&theirs, 1)), patience);
        fault = fault_of(theirs, mine);
    } catch (const ConnectionClosed&) {
        fault =
            "it closed the connection at once: it is no store of libmini's, or it is "
            "full, "
            "or another run's (MINI_STORE_COOKIE must be the same on all ranks)";
    } catch (const Timeout&) {
        if (has_passed(deadline)) throw;  // it, or this rank, was late
        fault = "it accepted the connection and said nothing";
    }
    MINI_CHECK(fault.empty(), "who answers at ", to_text(server),
               " is not this run's store: ", fault);
}

void TcpStore::set(const std::string& key, const std::string& value) {
    check_sizes(key, value);
    ask(Command::kSet, key, value, deadline_after(kAnswerTime));
}

std::string TcpStore::get(const std::string& key, Deadline deadline) {
    try {
        return ask(Command::kGet, key, "", deadline);
    } catch (const Timeout&) {
        // The key may be there, and only the answer late.
        if (check(key)) return ask(Command::kGet, key, "", deadline_after(kAnswerTime));
        throw_missing(concat("the store at ", to_text(server_)), {key}, {key});
    }
}

int64_t TcpStore::add(const std::string& key, int64_t amount) {
    const Deadline deadline = deadline_after(kAnswerTime);
    return std::stoll(ask(Command::kAdd, key, std::to_string(amount), deadline));
}

std::string TcpStore::compare_set(const std::string& key, const std::string& expected,
                                  const std::string& desired) {
    check_sizes(key, expected);
    check_sizes(key, desired);
    return ask(Command::kCompareSet, key, protocol::pack_pair(expected, desired),
               deadline_after(kAnswerTime));
}

void TcpStore::wait(const std::vector<std::string>& keys, Deadline deadline) {
    for (size_t i = 0; i < keys.size(); ++i) {
        try {
            ask(Command::kWait, keys[i], "", deadline);
        } catch (const Timeout&) {
            // The ones before this have come; see which of the others are still missing.
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
        if (ask(Command::kCheck, key, "", deadline_after(kAnswerTime)) != "1")
            return false;
    return true;
}

bool TcpStore::delete_key(const std::string& key) {
    return ask(Command::kErase, key, "", deadline_after(kAnswerTime)) == "1";
}

int64_t TcpStore::num_keys() {
    return std::stoll(ask(Command::kNumKeys, "", "", deadline_after(kAnswerTime)));
}

std::string TcpStore::ask(Command command, const std::string& key,
                          const std::string& value, Deadline deadline) {
    check_sizes(key, "");
    const std::lock_guard lock(mutex_);
    const uint32_t id = next_id_++;
    try {
        send_request(id, command, key, value);
        return receive_reply(id, deadline);
    } catch (const ConnectionClosed& closed) {
        throw PeerLost(
            0, concat("the store at ", to_text(server_),
                      " is gone: rank 0, which keeps it, ended (", closed.what(), ")"));
    }
}

void TcpStore::send_request(uint32_t id, Command command, const std::string& key,
                            const std::string& value) {
    const Request head{id, command, static_cast<uint32_t>(key.size()),
                       static_cast<uint32_t>(value.size())};
    std::string message(sizeof head, '\0');
    std::memcpy(message.data(), &head, sizeof head);
    message += key + value;
    send_all(socket_, std::as_bytes(std::span(message)), deadline_after(kAnswerTime));
}

std::string TcpStore::receive_reply(uint32_t id, Deadline deadline) {
    while (true) {
        // Read up to the end of one reply, starting from what an earlier deadline left
        // over.
        Reply head;
        const auto read_up_to = [&](size_t size) {
            while (partial_.size() < size) {
                const size_t old = partial_.size();
                std::string part(size - old, '\0');
                const size_t n =
                    recv_some(socket_, std::as_writable_bytes(std::span(part)));
                partial_.append(part, 0, n);
                if (n == 0 && !wait_for(socket_, POLLIN, deadline))
                    throw Timeout(
                        concat("the store at ", to_text(server_), " is silent"));
            }
        };
        read_up_to(sizeof head);
        std::memcpy(&head, partial_.data(), sizeof head);
        MINI_CHECK(head.value_bytes <= kMaxValueBytes, "the store at ", to_text(server_),
                   " sent nonsense");
        read_up_to(sizeof head + head.value_bytes);
        const std::string value = partial_.substr(sizeof head);
        partial_.clear();

        // Skip answers to questions that nobody waits for any more.
        if (head.id != id) continue;
        MINI_CHECK(head.status == Status::kDone, "the store at ", to_text(server_), ": ",
                   value);
        return value;
    }
}

}  // namespace mini::dist
