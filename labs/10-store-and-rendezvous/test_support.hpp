// Helpers for the checks of lab 10: processes in virtual time, and stores that fail.

#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/distributed/store/hash_store.hpp"
#include "libmini/extras/simulation/process_cluster.hpp"
#include "tests/support/contains.hpp"

namespace mini::labs {

/// Returns "returned", "threw: ..." or "waits forever".
inline std::string end_text(const dist::ProcessEnd& end) {
    if (end.failure) return concat("threw: ", end.failure->message);
    return end.how == dist::ProcessEnd::How::kReturned ? "returned" : "waits forever";
}

/// Returns "returned", "Timeout", "PeerLost", "Error" or "waits forever".
inline std::string how(const dist::ProcessEnd& end) {
    if (!end.failure) return end_text(end);
    switch (end.failure->kind) {
        case dist::Failure::Kind::kTimeout: return "Timeout";
        case dist::Failure::Kind::kPeerLost: return "PeerLost";
        default: return "Error";
    }
}

/// Returns the virtual time at which the process ended, in seconds.
inline double seconds_of(const dist::ProcessEnd& end) {
    return std::chrono::duration<double>(end.time).count();
}

/// A store that throws an error that is not a Timeout when a key is not there yet.
class BrokenStore : public dist::HashStore {
  public:
    static constexpr const char* kText = "the disk of the store is full";

  protected:
    std::string ask(dist::protocol::Request request, dist::Deadline deadline) override {
        if (request.may_wait() && !check(request.key)) throw Error(kText);
        return HashStore::ask(std::move(request), deadline);
    }
};

/// A store that simulates a race: when this process calls set() for `key`, another
/// process has just set that key by compare_set().
class InterruptedStore : public dist::HashStore {
  public:
    InterruptedStore(std::string key, std::string value)
        : key_(std::move(key)), value_(std::move(value)) {}
    void set(const std::string& key, const std::string& value) override {
        if (key == key_) lost += compare_set(key_, "", value_) == value_;
        HashStore::set(key, value);
    }
    int lost = 0;  // values of the other process that were overwritten

  private:
    const std::string key_, value_;
};

/// Runs `body` in every process, and returns how each process ended. Throws
/// NotImplemented if a process called a task that is not started.
inline std::vector<dist::ProcessEnd> run_processes(
    dist::ProcessCluster& cluster, const std::function<void(int process)>& body) {
    const std::vector<dist::ProcessEnd> ends = cluster.run(body);
    for (const dist::ProcessEnd& end : ends)
        if (end.failure && test::contains(end.failure->message, "] not started: "))
            throw NotImplemented(
                end.failure->message.substr(end.failure->message.find("[lab")));
    return ends;
}

}  // namespace mini::labs
