// TransportBackend: our own algorithms (collectives/) over our own Transport. Backends
// "threads" and "ring" use it with different channels.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "libmini/distributed/group/backend.hpp"

namespace mini::dist {

/// Returns the all_reduce algorithm for kAuto, which depends on the size in bytes, the
/// number of ranks, the host number of each rank, and whether all ranks share memory for
/// the registered all-reduce.
Algorithm choose_algorithm(size_t bytes, int world_size, const std::vector<int>& hosts,
                           bool shares_memory);

/// Runs a collective on host memory with the algorithms of collectives/; blocks until
/// this rank's part is done. `hosts` as in choose_algorithm; `sharing`: the transport if
/// all ranks share memory for the registered all-reduce, else null. Returns the name of
/// the algorithm if the collective is an all_reduce, else "". Throws Error for
/// kSharedMemory without `sharing`. REQUIRES: GroupTransport::begin was called for this
/// collective.
const char* run_over(Transport& transport, const Call& call,
                     const std::vector<int>& hosts, GroupTransport* sharing = nullptr);

/// Creates the backend of a subgroup: `ranks` of `parent`, in the given order. Returns
/// null on other ranks. Every rank of `parent` must call the function; blocks until all
/// have.
using Splitter = std::function<std::unique_ptr<Backend>(const std::vector<int>& ranks,
                                                        ProcessGroup& parent)>;

class TransportBackend : public Backend {
  public:
    /// `hosts`: the host number of each rank, by rank; empty if all ranks are on one
    /// host. `splitter` creates subgroups; if `splitter` is null, split() throws
    /// NotImplemented.
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
    void set_note(const std::string& note) override { transport_->set_note(note); }
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
    const bool shares_memory_;  // with every other rank
    std::vector<int> hosts_;
    const Splitter splitter_;
    const char* last_algorithm_ = "";
};

}  // namespace mini::dist
