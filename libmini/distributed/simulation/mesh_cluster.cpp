#include "libmini/distributed/simulation/mesh_cluster.hpp"

#include <algorithm>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/core/log.hpp"
#include "libmini/distributed/simulation/simulated_channel.hpp"
#include "libmini/distributed/transport/mesh_transport.hpp"

namespace mini::dist {
namespace {

// Turns the log off: in a simulation of faults, warnings about waits are expected.
class QuietLog {
  public:
    QuietLog() { logging::set_level(logging::Level::kOff); }
    ~QuietLog() { logging::set_level(before_); }
    QuietLog(const QuietLog&) = delete;
    QuietLog& operator=(const QuietLog&) = delete;

  private:
    const logging::Level before_ = logging::level();
};

}  // namespace

MeshCluster::MeshCluster(int world_size, Links links, uint64_t seed)
    : world_size_(world_size),
      links_(std::move(links)),
      scheduler_(seed),
      network_(scheduler_, links_, world_size, /*has_payload=*/true),
      time_(scheduler_),
      guard_(time_),
      ends_(index(world_size)),
      paused_until_(index(world_size)),
      delay_(index(world_size)),
      delayed_until_(index(world_size)) {
    scheduler_.set_before_resume([this](int rank) { return before_step(rank); });
}

MeshCluster::~MeshCluster() = default;

std::vector<RankEnd> MeshCluster::run(const std::function<void(GroupTransport&)>& body) {
    const QuietLog quiet;
    for (int rank = 0; rank < world_size_; ++rank)
        scheduler_.add([this, rank, &body] { run_rank(rank, body); });
    scheduler_.run();
    return ends_;
}

void MeshCluster::run_rank(int rank, const std::function<void(GroupTransport&)>& body) {
    std::vector<MessageStream> streams(index(world_size_));
    for (int peer = 0; peer < world_size_; ++peer)
        if (peer != rank)
            streams[index(peer)] = MessageStream(
                std::make_unique<SimulatedChannel>(time_, network_, rank, peer));
    MeshTransport transport(rank, std::move(streams));
    RankEnd end;
    try {
        body(transport);
        end.how = RankEnd::How::kReturned;
    } catch (const Error&) {
        end.how = RankEnd::How::kThrew;
        end.failure = current_failure();
        transport.leave(*end.failure);
    }
    end.time = now();
    ends_[index(rank)] = end;
}

// Plays the faults of this step. Returns whether the rank may run.
bool MeshCluster::before_step(int rank) {
    if (on_step_) on_step_(steps_++);
    std::optional<VirtualTime>& delayed_until = delayed_until_[index(rank)];
    if (!delayed_until) delayed_until = now() + delay_[index(rank)];
    const VirtualTime start = std::max(paused_until_[index(rank)], *delayed_until);
    if (start <= now()) {
        delayed_until.reset();
        return true;
    }
    scheduler_.wake_at(start, rank);
    return false;
}

void MeshCluster::kill(int rank, bool loses_bytes) {
    RankEnd& end = ends_[index(rank)];
    if (end.how != RankEnd::How::kStuck) return;
    end.how = RankEnd::How::kKilled;
    end.time = now();
    network_.kill(rank, loses_bytes);
    scheduler_.kill(rank);
}

void MeshCluster::pause(int rank, VirtualTime time) {
    paused_until_[index(rank)] = now() + time;
}

}  // namespace mini::dist
