#include "libmini/extras/backends/gloo.hpp"

#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libmini/distributed/backends/registry.hpp"
#include "libmini/distributed/backends/subgroup_mesh.hpp"
#include "libmini/distributed/collectives/dissemination_barrier.hpp"
#include "libmini/distributed/group/subgroup.hpp"
#include "libmini/distributed/transport/mesh_transport.hpp"
#include "libmini/extras/backends/gloo_collectives.hpp"
#include "libmini/extras/backends/start_group.hpp"
#include "libmini/extras/backends/verify.hpp"
#include "libmini/extras/backends/worker.hpp"

namespace mini::dist {
namespace {

using std::chrono::milliseconds;
using ContextHandle = std::shared_ptr<gloo::Context>;

// Adapts our store to Gloo's interface.
class StoreForGloo : public gloo::rendezvous::Store {
  public:
    StoreForGloo(mini::dist::Store& store, Deadline deadline)
        : store_(store), deadline_(deadline) {}

    void set(const std::string& key, const std::vector<char>& value) override {
        store_.set(own(key), std::string(value.begin(), value.end()));
    }
    std::vector<char> get(const std::string& key) override {
        const std::string value = store_.get(own(key), deadline_);
        return {value.begin(), value.end()};
    }
    void wait(const std::vector<std::string>& keys) override {
        for (const std::string& key : keys) store_.wait({own(key)}, deadline_);
    }
    void wait(const std::vector<std::string>& keys, const milliseconds&) override {
        wait(keys);
    }

  private:
    static std::string own(const std::string& key) { return concat("gloo/", key); }

    mini::dist::Store& store_;
    const Deadline deadline_;
};

// The Gloo version of 2022 takes the store by reference, later versions take a
// shared_ptr. A template, so that the overload missing from this version is discarded.
template <typename Context, typename Device>
void connect_all(Context& context, StoreForGloo& store, Device& device) {
    if constexpr (requires { context.connectFullMesh(store, device); }) {
        context.connectFullMesh(store, device);
    } else {
        const std::shared_ptr<StoreForGloo> shared(&store, [](StoreForGloo*) {});
        context.connectFullMesh(shared, device);
    }
}

// Gloo writes to connections without MSG_NOSIGNAL: when a dead rank has closed its
// connection, SIGPIPE would end this process too.
void ignore_broken_pipes() {
    struct sigaction now = {};
    ::sigaction(SIGPIPE, nullptr, &now);
    if (now.sa_handler == SIG_DFL) ::signal(SIGPIPE, SIG_IGN);
}

// Gloo's timeout for one attempt to connect is kConnectTime, or less if kConnectTries
// attempts would not fit before the deadline. All ranks have joined the rendezvous
// before, so an attempt normally takes only a moment.
constexpr int kConnectTries = 8;
constexpr milliseconds kConnectTime(5000);

// Returns a context that is connected to all other ranks. Every rank must call this
// function; blocks until this rank is connected, at most until the deadline. Throws Gloo's
// exceptions. `local_host`: an address of this host that the other ranks can reach.
ContextHandle connect_gloo(int rank, int world_size, Store& store,
                           const std::string& local_host, Deadline deadline) {
    ignore_broken_pipes();
    if (is_any(local_address(listen_for(local_host))))
        throw UsageError(concat("backend gloo: MINI_ADVERTISE_ADDR is ", local_host,
                                ", which is not an address of this machine; use backend "
                                "ring, or an address of this machine"));

    // Use the address that the other ranks can reach: the host name may resolve to
    // 127.0.1.1.
    std::shared_ptr<gloo::transport::Device> device = gloo::transport::tcp::CreateDevice(
        gloo::transport::tcp::attr(local_host.c_str()));
    auto context = std::make_shared<gloo::rendezvous::Context>(rank, world_size);
    context->setTimeout(
        std::clamp(milliseconds(milliseconds_left(deadline)) / kConnectTries,
                   milliseconds(1), kConnectTime));
    StoreForGloo store_for_gloo(store, deadline);
    connect_all(*context, store_for_gloo, device);
    return context;
}

// How long a failed collective may take to end on the worker thread.
constexpr milliseconds kEndTime(300);

class GlooBackend : public VerifyingBackend {
  public:
    /// `cookie` and `local_host` are for the rendezvous of subgroups.
    GlooBackend(std::unique_ptr<GroupTransport> side, bool verify, const Cookie& cookie,
                std::string local_host)
        : VerifyingBackend(std::move(side), verify),
          cookie_(cookie),
          local_host_(std::move(local_host)) {}
    ~GlooBackend() override { abandon(); }

    /// Calls `make` to connect Gloo's context. Throws PeerLost or Timeout naming the rank
    /// that is not connected.
    void connect(const std::function<ContextHandle()>& make, milliseconds timeout);

    std::string name() const override { return "gloo"; }
    const char* last_algorithm() const override { return last_algorithm_; }
    std::unique_ptr<Backend> split(const std::vector<int>& ranks,
                                   ProcessGroup& parent) override;

  protected:
    void transfer(const Call& call, Deadline deadline) override;
    void abandon() noexcept override;

  private:
    void choose_algorithm(const Call& call);
    void end_job();
    void break_context() noexcept;

    const Cookie cookie_;
    const std::string local_host_;
    ContextHandle context_;
    Worker worker_;  // runs collectives
    const char* last_algorithm_ = "";
};

// Gloo's exception names a port that did not reply; the side channel finds the rank.
void GlooBackend::connect(const std::function<ContextHandle()>& make,
                          milliseconds timeout) {
    connect_or_leave([&] {
        try {
            context_ = make();
        } catch (const std::exception& error) {
            throw_silence(timeout, concat("for gloo's connections (", error.what(), ")"));
        }
    });
}

std::unique_ptr<Backend> GlooBackend::split(const std::vector<int>& ranks,
                                            ProcessGroup& parent) {
    auto mesh = connect_members(ranks, parent, cookie_, local_host_);
    if (!mesh) return nullptr;
    const int index = index_among(ranks, parent);
    auto backend = std::make_unique<GlooBackend>(
        std::make_unique<MeshTransport>(index, std::move(mesh->streams)), verifies(),
        cookie_, local_host_);
    MembersStore store(ranks, parent);
    const Deadline deadline = deadline_after(parent.timeout());
    const auto connect = [&] {
        return connect_gloo(index, backend->world_size(), store, local_host_, deadline);
    };
    backend->connect(connect, parent.timeout());
    return backend;
}

void GlooBackend::transfer(const Call& call, Deadline deadline) {
    choose_algorithm(call);
    const milliseconds left(milliseconds_left(deadline) + 1000);  // after our deadline
    worker_.start([context = context_, call, left] { run_gloo(context, call, left); });
    try {
        while (!worker_.is_done_within(milliseconds(1))) poll_once(deadline);
    } catch (...) {
        end_job();
        throw;
    }
    worker_.rethrow();
}

// Makes the worker's job fail and waits for its end, because the job still uses the
// caller's tensors. Gloo sometimes does not end a send in flight to a lost rank; the
// worker thread is then detached, and ends after Gloo's timeout. The job owns everything
// that it uses.
void GlooBackend::end_job() {
    break_context();
    const Deadline patience = deadline_after(kEndTime);
    while (!worker_.is_done_within(milliseconds(1))) {
        if (has_passed(patience)) return worker_.detach();
        answer_roll_call();
    }
}

void GlooBackend::choose_algorithm(const Call& call) {
    last_algorithm_ = "";
    if (call.operation != Operation::kAllReduce) return;
    if (call.algorithm != Algorithm::kAuto && call.algorithm != Algorithm::kRing &&
        call.algorithm != Algorithm::kHalvingDoubling)
        throw UsageError(concat("all_reduce: backend gloo has no algorithm \"",
                                algorithm_name(call.algorithm),
                                "\"; it has ring and halving-doubling (its bcube)"));
    last_algorithm_ = call.algorithm == Algorithm::kHalvingDoubling ? "bcube" : "ring";
}

// Makes all of Gloo's waits in the context fail: in Gloo, only a wait that times out ends
// the other waits.
void GlooBackend::break_context() noexcept {
    try {
        char byte = 0;
        context_->createUnboundBuffer(&byte, 1)->waitRecv(milliseconds(1));
    } catch (const std::exception&) {  // the expected timeout
    }
}

void GlooBackend::abandon() noexcept {
    if (!context_) return;
    try {
        context_->closeConnections();
        context_.reset();
    } catch (const std::exception&) {  // the context is closed already
    }
}

std::shared_ptr<ProcessGroup> make_gloo_group(const InitOptions& options) {
    const RendezvousConfig config =
        rendezvous_config(options.init_method, options.rank, options.world_size);
    const Deadline deadline = deadline_after(options.timeout);
    const auto make = [&](const Rendezvous& rendezvous) {
        Store& store = *rendezvous.store;
        const std::string& host = rendezvous.local_host;
        Mesh mesh = connect_mesh(config, store, host, Medium::kAuto, deadline);
        auto side = std::make_unique<MeshTransport>(config.rank, std::move(mesh.streams));
        await_all_ranks(*side, deadline);
        auto backend = std::make_unique<GlooBackend>(
            std::move(side), options.verify.value_or(true), config.cookie, host);
        const auto connect = [&] {
            return connect_gloo(config.rank, config.world_size, store, host, deadline);
        };
        backend->connect(connect, options.timeout);
        return backend;
    };
    return start_group(join_rendezvous(config, deadline), deadline, options.timeout,
                       make);
}

}  // namespace

void use_gloo() { register_backend("gloo", &make_gloo_group); }

}  // namespace mini::dist
