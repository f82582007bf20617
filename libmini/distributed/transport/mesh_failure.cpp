#include "libmini/distributed/transport/mesh_failure.hpp"

#include <poll.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <sstream>
#include <string>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/distributed/net/poll_until.hpp"
#include "libmini/distributed/transport/mesh_transport.hpp"

namespace mini::dist {
namespace {

const char* const kFailure = "mesh/failure";

// How long the store may take to return a failure that is there, and how long after its
// first closed connection a failing rank may report its failure.
constexpr std::chrono::milliseconds kReadTime(2000), kReportTime(250);

void report_failure(Store& store, int rank, const Failure& failure) {
    try {
        const auto kind = static_cast<int>(failure.kind);
        store.compare_set(kFailure, "",
                          concat(rank, " ", kind, " ", failure.rank, " ",
                                 failure.message.substr(0, kMaxFailureBytes)));
    } catch (const Error&) {  // the store is gone: the other ranks detect this themselves
    }
}

// Throws the failure that is in the store, if it is there within `time`.
void throw_reported_failure(Store& store, std::chrono::milliseconds time) {
    std::string text;
    try {
        text = store.get(kFailure, deadline_after(time));
    } catch (const Error&) {  // there is none, or the store is gone
    }
    std::istringstream in(text);
    int reporter = -1, kind = -1;
    Failure failure;
    if (!(in >> reporter >> kind >> failure.rank)) return;
    failure.kind = static_cast<Failure::Kind>(kind);
    std::getline(in.ignore(), failure.message);
    throw_failure(reported(failure, reporter));
}

}  // namespace

void leave_mesh(Store& store, std::vector<MessageStream> streams, int rank,
                const Failure& failure) noexcept {
    try {
        report_failure(store, rank, failure);
        MeshTransport(rank, std::move(streams)).leave(failure);
    } catch (const std::exception&) {  // no descriptor or memory: keep the first error
    }
}

void check_still_there(std::vector<MessageStream>& streams, Store& store, int rank) {
    for (size_t peer = 0; peer < streams.size(); ++peer) {
        if (!streams[peer].is_open()) continue;
        pollfd entry{streams[peer].channel().poll_fd(), POLLRDHUP, 0};
        if (poll_until({&entry, 1}, Clock::now()) <= 0) continue;
        bool closed = false;
        const int lost = static_cast<int>(peer);
        const auto report =
            streams[peer].final_message(deadline_after(kFinalMessageTime), closed);
        if (report) throw_failure(reported(*report, lost));
        await_reported_failure(store);
        throw PeerLost(lost, concat("rank ", lost, " is gone: its connection to rank ",
                                    rank, " closed during start-up"));
    }
}

void check_reported_failure(Store& store) {
    bool is_there = false;
    try {
        is_there = store.check(kFailure);
    } catch (const Error&) {  // the store is gone
    }
    if (is_there) throw_reported_failure(store, kReadTime);
}

void await_reported_failure(Store& store) { throw_reported_failure(store, kReportTime); }

std::string get_unless_failed(Store& store, const std::string& key, Deadline deadline) {
    // Look ever more rarely, because each look leaves a request at the store.
    for (auto pause = kFailureLook;; pause *= 2) {
        try {
            return store.get(key, std::min(deadline, deadline_after(pause)));
        } catch (const Timeout&) {
            check_reported_failure(store);
            if (has_passed(deadline)) throw;
        }
    }
}

}  // namespace mini::dist
