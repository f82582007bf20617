// Ranks as threads, for the checks of lab 11, task 11.6: a transport whose messages are in memory.

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "labs/11-collectives/simple_group.hpp"
#include "libmini/core/error.hpp"
#include "libmini/distributed/transport/transport.hpp"

namespace mini::lab11 {

/// The limit of each wait; only a check that fails reaches it.
constexpr std::chrono::seconds kLimit(5);

/// The messages in flight between ranks, which are threads.
class Mail {
  public:
    void put(int from, int to, std::span<const std::byte> out) {
        const std::lock_guard lock(mutex_);
        messages_[{from, to}].emplace_back(out.begin(), out.end());
        changed_.notify_all();
    }

    std::vector<std::byte> take(int from, int to) {
        std::unique_lock lock(mutex_);
        auto& waiting = messages_[{from, to}];
        if (!changed_.wait_for(lock, kLimit, [&] { return !waiting.empty(); }))
            throw Error("rank ", to, " waits for rank ", from, " in vain");
        std::vector<std::byte> first = std::move(waiting.front());
        waiting.pop_front();
        return first;
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::pair<int, int>, std::deque<std::vector<std::byte>>> messages_;
};

class ThreadTransport : public dist::Transport {
  public:
    ThreadTransport(Mail& mail, int rank, int world_size)
        : mail_(mail), rank_(rank), world_size_(world_size) {}

    int rank() const override { return rank_; }
    int world_size() const override { return world_size_; }

    void send(int to, std::span<const std::byte> out) override {
        mail_.put(rank_, to, out);
    }

    void recv(int from, std::span<std::byte> in, const dist::Combine& combine) override {
        const std::vector<std::byte> message = mail_.take(from, rank_);
        MINI_CHECK(message.size() == in.size(), "rank ", from, " sent ", message.size(),
                   " bytes where rank ", rank_, " expects ", in.size());
        if (combine)
            combine.apply(in.data(), message.data(), in.size() / combine.element_bytes);
        else if (!in.empty())
            std::memcpy(in.data(), message.data(), in.size());
    }

    void send_recv(int to, std::span<const std::byte> out, int from,
                   std::span<std::byte> in, const dist::Combine& combine) override {
        send(to, out);
        recv(from, in, combine);
    }

  private:
    Mail& mail_;
    const int rank_, world_size_;
};

/// Runs `body` on one thread per rank; rethrows the error of the first rank that has one.
inline void on_threads(int ranks, const std::function<void(simple::Group&, int)>& body) {
    Mail mail;
    std::vector<std::future<void>> running;
    for (int rank = 0; rank < ranks; ++rank)
        running.push_back(std::async(std::launch::async, [&, rank] {
            ThreadTransport transport(mail, rank, ranks);
            simple::Group group(transport);
            body(group, rank);
        }));
    for (auto& one : running) one.wait();
    for (auto& one : running) one.get();
}

}  // namespace mini::lab11
