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
#include "libmini/extras/backends/blocking_call.hpp"
#include "libmini/extras/backends/gloo_collectives.hpp"
#include "libmini/extras/backends/start_group.hpp"
#include "libmini/extras/backends/verify.hpp"

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
        throw UsageError("backend gloo: MINI_ADVERTISE_ADDR is ", local_host,
                         ", which is not an address of this machine; use backend "
                         "ring, or an address of this machine");

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

// How long a failed collective may take to end on its thread.
constexpr milliseconds kEndTime(300);

class GlooBackend : public VerifyingBackend {
  public:
    using VerifyingBackend::VerifyingBackend;
    ~GlooBackend() override { abandon(); }

    /// Connects Gloo's context to all other ranks, which find each other in the store. Throws
    /// PeerLost or Timeout naming the rank that is not connected.
    void connect(Store& store, milliseconds timeout, Deadline deadline);

    std::string name() const override { return "gloo"; }
    std::unique_ptr<Backend> split(const std::vector<int>& ranks,
                                   ProcessGroup& parent) override;

  protected:
    void transfer(const Call& call, Deadline deadline) override;
    void abandon() noexcept override;

  private:
    void end(BlockingCall& running);
    void break_context() noexcept;

    ContextHandle context_;
};

// Gloo's exception names a port that did not reply; the side channel finds the rank.
void GlooBackend::connect(Store& store, milliseconds timeout, Deadline deadline) {
    connect_or_leave([&] {
        try {
            context_ =
                connect_gloo(rank(), world_size(), store, side().local_host, deadline);
        } catch (const std::exception& error) {
            throw_silence(timeout, concat("for gloo's connections (", error.what(), ")"));
        }
    });
}

std::unique_ptr<Backend> GlooBackend::split(const std::vector<int>& ranks,
                                            ProcessGroup& parent) {
    auto side = side_of(ranks, parent);
    if (!side) return nullptr;
    auto backend = std::make_unique<GlooBackend>(std::move(*side));
    MembersStore store(ranks, parent);
    backend->connect(store, parent.timeout(), deadline_after(parent.timeout()));
    return backend;
}

void GlooBackend::transfer(const Call& call, Deadline deadline) {
    MINI_CHECK(call.algorithm == Algorithm::kAuto,
               "all_reduce: backend gloo chooses its algorithm itself");
    const milliseconds left(milliseconds_left(deadline) + 1000);  // after our deadline
    BlockingCall running(
        [context = context_, call, left] { run_gloo(context, call, left); });
    try {
        while (!running.is_done_within(milliseconds(1))) poll_once(deadline);
    } catch (...) {
        end(running);
        throw;
    }
    running.rethrow();
}

// Makes the call fail and waits for its end, because it still uses the caller's tensors. Gloo
// sometimes does not end a send in flight to a lost rank; the thread is then detached, and
// ends after Gloo's timeout. The call owns everything that it uses.
void GlooBackend::end(BlockingCall& running) {
    break_context();
    const Deadline patience = deadline_after(kEndTime);
    while (!running.is_done_within(milliseconds(1))) {
        if (has_passed(patience)) return running.detach();
        answer_roll_call();
    }
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
    const auto make = [&](SideChannel side, Store& store) {
        auto backend = std::make_unique<GlooBackend>(std::move(side));
        backend->connect(store, options.timeout, deadline);
        return backend;
    };
    return start_group(join_rendezvous(config, deadline), config,
                       options.verify.value_or(true), options.timeout, deadline, make);
}

}  // namespace

void use_gloo() { register_backend("gloo", &make_gloo_group); }

}  // namespace mini::dist
