#include "libmini/extras/backends/gloo_meeting.hpp"

#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/tcp/device.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace mini::dist {
namespace {

using std::chrono::milliseconds;

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

}  // namespace

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

}  // namespace mini::dist
