#include "libmini/extras/simulation/process_cluster.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/core/log.hpp"
#include "libmini/distributed/transport/mesh_transport.hpp"
#include "libmini/distributed/transport/socket_channel.hpp"

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

ProcessCluster::ProcessCluster(int process_count, Links links, uint64_t seed)
    : ProcessCluster(hosts_of(links, process_count), links, seed) {}

ProcessCluster::ProcessCluster(std::vector<int> hosts, Links links, uint64_t seed)
    : links_(std::move(links)),
      scheduler_(seed),
      network_(scheduler_, links_, static_cast<int>(hosts.size()), /*has_payload=*/true),
      system_(scheduler_, network_, hosts, seed),
      system_guard_(system_),
      ends_(hosts.size()),
      paused_until_(hosts.size()),
      delay_(hosts.size()) {
    scheduler_.set_before_resume([this](int task) { return before_step(task); });
}

ProcessCluster::~ProcessCluster() { scheduler_.abandon(); }

std::vector<ProcessEnd> ProcessCluster::run(
    const std::function<void(int process)>& body) {
    const QuietLog quiet;
    for (int process = 0; process < process_count(); ++process)
        scheduler_.add([this, process, &body] { run_process(process, body); });
    if (!scheduler_.run() && steps_ < kMostSteps) {
        // Kill the stuck processes, so that their code ends.
        const std::vector<ProcessEnd> ends = ends_;
        for (int process = 0; process < process_count(); ++process)
            kill(process, Loss::kAll);
        scheduler_.run();
        return ends;
    }
    return ends_;
}

void ProcessCluster::run_process(int process,
                                 const std::function<void(int process)>& body) {
    ProcessEnd end;
    try {
        body(process);
        end.how = ProcessEnd::How::kReturned;
    } catch (const std::exception&) {
        end.how = ProcessEnd::How::kThrew;
        end.failure = current_failure();
    }
    end.time = now();
    if (ends_[index(process)].how == ProcessEnd::How::kStuck) ends_[index(process)] = end;
}

// Calls on_step_, which may cause faults. Returns whether the task may run now.
bool ProcessCluster::before_step(int task) {
    if (steps_ >= kMostSteps) scheduler_.stop();
    if (on_step_) on_step_(steps_);
    ++steps_;
    const size_t process = index(scheduler_.process_of(task));
    delayed_until_.resize(std::max(delayed_until_.size(), index(task) + 1));
    std::optional<VirtualTime>& delayed_until = delayed_until_[index(task)];
    if (!delayed_until) delayed_until = now() + delay_[process];
    const VirtualTime start = std::max(paused_until_[process], *delayed_until);
    if (start <= now()) {
        delayed_until.reset();
        return true;
    }
    scheduler_.wake_at(start, task);
    return false;
}

void ProcessCluster::kill(int process, Loss loss) {
    ProcessEnd& end = ends_[index(process)];
    if (end.how != ProcessEnd::How::kStuck) return;
    end.how = ProcessEnd::How::kKilled;
    end.time = now();
    system_.kill(process, loss);
    paused_until_[index(process)] = {};
    delay_[index(process)] = {};
    scheduler_.wake_process(process);
}

std::vector<std::vector<MessageStream>> connect_all(ProcessCluster& cluster) {
    const auto P = static_cast<size_t>(cluster.process_count());
    std::vector<std::vector<MessageStream>> streams(P);
    for (auto& of_rank : streams) of_rank.resize(P);
    for (size_t a = 0; a < P; ++a) {
        for (size_t b = a + 1; b < P; ++b) {
            auto [first, second] =
                cluster.system().connect_pair(static_cast<int>(a), static_cast<int>(b));
            streams[a][b] =
                MessageStream(std::make_unique<SocketChannel>(std::move(first)));
            streams[b][a] =
                MessageStream(std::make_unique<SocketChannel>(std::move(second)));
        }
    }
    return streams;
}

std::vector<ProcessEnd> run_mesh(ProcessCluster& cluster,
                                 const std::function<void(GroupTransport&)>& body) {
    auto streams = connect_all(cluster);
    return cluster.run([&](int rank) {
        MeshTransport transport(rank, std::move(streams[static_cast<size_t>(rank)]));
        try {
            body(transport);
        } catch (const std::exception&) {
            transport.leave(current_failure());
            throw;
        }
    });
}

}  // namespace mini::dist
