// The backend that is ours from top to bottom: the algorithms of algorithms/ over a
// Transport. Backends "threads" and "ring" are this one over different channels.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "libmini/distributed/group/backend.hpp"

namespace mini::dist {

/// The all_reduce algorithm that kAuto stands for: by bytes, ranks, and on which hosts
/// these are.
Algorithm choose_algorithm(size_t bytes, int world_size, const std::vector<int>& hosts);

/// Runs a collective on the host's memory by the algorithms of this room, after
/// transport.begin(). `hosts` as in choose_algorithm. Returns the algorithm of an all_reduce,
/// else "".
const char* run_over(Transport& transport, const Call& call,
                     const std::vector<int>& hosts);

/// Makes the backend among `ranks` of `parent`, in their order; null on ranks that are not
/// among them. Every rank of `parent` calls it; blocks until all have.
using Splitter = std::function<std::unique_ptr<Backend>(const std::vector<int>& ranks,
                                                        ProcessGroup& parent)>;

class TransportBackend : public Backend {
  public:
    /// `hosts`: for each rank a number, the same for ranks on one host; empty when all
    /// are on one. `splitter` makes subgroups; without one there are none.
    TransportBackend(std::string name, std::unique_ptr<GroupTransport> transport,
                     std::vector<int> hosts = {}, Splitter splitter = nullptr);

    std::string name() const override { return name_; }
    int rank() const override { return transport_->rank(); }
    int world_size() const override { return transport_->world_size(); }
    void run(const Call& call, const Collective& collective,
             std::chrono::milliseconds timeout) override;
    void post(PointMessage& message) override { transport_->post(message); }
    void progress() override { transport_->progress(); }
    void wake() noexcept override { transport_->wake(); }
    void set_on_wake(std::function<void()> on_wake) override {
        transport_->set_on_wake(std::move(on_wake));
    }
    uint64_t bytes_sent() const override { return transport_->bytes_sent(); }
    uint64_t messages_sent() const override { return transport_->messages_sent(); }
    const char* last_algorithm() const override { return last_algorithm_; }
    std::unique_ptr<Backend> split(const std::vector<int>& ranks,
                                   ProcessGroup& parent) override {
        return splitter_ ? splitter_(ranks, parent) : Backend::split(ranks, parent);
    }
    void leave(const Failure& reason) noexcept override { transport_->leave(reason); }
    void interrupt() noexcept override { transport_->interrupt(); }

  private:
    const std::string name_;
    const std::unique_ptr<GroupTransport> transport_;
    std::vector<int> hosts_;
    const Splitter splitter_;
    const char* last_algorithm_ = "";
};

}  // namespace mini::dist
