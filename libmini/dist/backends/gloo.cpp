#include "libmini/dist/backends/gloo.hpp"

#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>
#include <signal.h>

#include <list>
#include <utility>

#include "libmini/dist/backends/gloo_collectives.hpp"
#include "libmini/dist/backends/verify.hpp"
#include "libmini/dist/backends/worker.hpp"
#include "libmini/dist/mesh_transport.hpp"

namespace mini::dist {
namespace {

using std::chrono::milliseconds;
using ContextHandle = std::shared_ptr<gloo::Context>;

// ---- meeting

// Our store as gloo wants to see one.
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

// Gloo of 2022 takes the store by reference, later ones share it. A template, because only
// there a call that this version lacks is no error.
template <typename Context, typename Device>
void connect_all(Context& context, StoreForGloo& store, Device& device) {
    if constexpr (requires { context.connectFullMesh(store, device); }) {
        context.connectFullMesh(store, device);
    } else {
        const std::shared_ptr<StoreForGloo> shared(&store, [](StoreForGloo*) {});
        context.connectFullMesh(shared, device);
    }
}

// Gloo writes to connections that a dead rank has closed without asking to be spared the
// signal, which would end this process too.
void ignore_broken_pipes() {
    struct sigaction now = {};
    ::sigaction(SIGPIPE, nullptr, &now);
    if (now.sa_handler == SIG_DFL) ::signal(SIGPIPE, SIG_IGN);
}

ContextHandle connect_gloo(const Meeting& meeting, Store& store,
                           const std::string& local_host, Deadline deadline) {
    ignore_broken_pipes();

    // The address that leads to the store, never the host's name: that may be 127.0.1.1.
    std::shared_ptr<gloo::transport::Device> device = gloo::transport::tcp::CreateDevice(
        gloo::transport::tcp::attr(local_host.c_str()));
    auto context =
        std::make_shared<gloo::rendezvous::Context>(meeting.rank, meeting.world_size);
    context->setTimeout(milliseconds(std::max(1, milliseconds_left(deadline))));
    StoreForGloo store_for_gloo(store, deadline);
    connect_all(*context, store_for_gloo, device);
    return context;
}

// ---- the backend

// What the receiver of a message must know before gloo may bring it.
struct Envelope {
    uint64_t slot = 0, bytes = 0;
};

// A message from point to point under way:
//
//     sender      gloo send, envelope ----------------------.          .--> receipt: done
//     receiver                         envelope fits: gloo recv, receipt
struct PointTransfer {
    PointMessage* message = nullptr;
    std::unique_ptr<gloo::transport::UnboundBuffer> buffer;
    Envelope envelope;
    PointMessage first, receipt;  // over the side channel
    bool sends = false;
};

class GlooBackend : public VerifyingBackend {
  public:
    GlooBackend(ContextHandle context, std::unique_ptr<Transport> side, bool verify)
        : VerifyingBackend(std::move(side), verify), context_(std::move(context)) {}
    ~GlooBackend() override { abandon(); }

    std::string name() const override { return "gloo"; }
    const char* last_algorithm() const override { return last_algorithm_; }
    void post(PointMessage& message) override;

  protected:
    void transfer(const Call& call, Deadline deadline) override;
    size_t move_points() override;
    void abandon() noexcept override;

  private:
    void choose_algorithm(const Call& call);
    void break_context() noexcept;
    bool move_on(PointTransfer& transfer);
    bool finish_send(PointTransfer& transfer);
    bool finish_receive(PointTransfer& transfer);
    void check_deadline(const PointMessage& message);
    void start_note(PointMessage& note, PointMessage::Direction direction, int peer,
                    uint64_t tag);

    ContextHandle context_;
    Worker worker_;
    std::list<PointTransfer> points_;
    uint64_t next_slot_ = 0;
    const char* last_algorithm_ = "";
};

void GlooBackend::transfer(const Call& call, Deadline deadline) {
    choose_algorithm(call);
    const milliseconds left(milliseconds_left(deadline) + 1000);  // ours comes first
    worker_.start([&] { run_gloo(context_, call, left); });
    try {
        while (!worker_.is_done_within(milliseconds(1))) turn(deadline);
    } catch (...) {
        // The worker still uses the tensors: have it fail before they go.
        break_context();
        while (!worker_.is_done_within(milliseconds(1))) attend();
        throw;
    }
    worker_.rethrow();
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

// A wait that has timed out ends all others of its context, which nothing else does.
void GlooBackend::break_context() noexcept {
    try {
        char nothing = 0;
        context_->createUnboundBuffer(&nothing, 1)->waitRecv(milliseconds(1));
    } catch (const std::exception&) {  // as it should
    }
}

void GlooBackend::abandon() noexcept {
    if (!context_) return;
    try {
        points_.clear();
        context_->closeConnections();
        context_.reset();
    } catch (const std::exception&) {  // it is closed already
    }
}

// ---- point to point

void GlooBackend::start_note(PointMessage& note, PointMessage::Direction direction,
                             int peer, uint64_t tag) {
    note.direction = direction;
    note.peer = peer;
    note.tag = tag;
    note.dtype = DType::kUInt8;
    note.deadline = deadline_after(milliseconds::max());  // the message has one
    side().post(note);
}

void GlooBackend::post(PointMessage& message) {
    MINI_CHECK(message.tag < kInternalTags, describe(message),
               ": with backend gloo tags are below 2^63");
    PointTransfer& transfer = points_.emplace_back();
    transfer.message = &message;
    transfer.sends = message.direction == PointMessage::Direction::kSend;
    transfer.first.data = std::as_writable_bytes(std::span(&transfer.envelope, 1));
    transfer.buffer =
        context_->createUnboundBuffer(message.data.data(), message.data.size());
    if (!transfer.sends) {
        start_note(transfer.first, PointMessage::Direction::kRecv, message.peer,
                   message.tag);
        return;
    }
    transfer.envelope = {next_slot_++, message.data.size()};
    const uint64_t receipt = kInternalTags + (transfer.envelope.slot << 8) + 0xff;
    start_note(transfer.receipt, PointMessage::Direction::kRecv, message.peer, receipt);
    if (!message.data.empty())
        transfer.buffer->send(message.peer, transfer.envelope.slot);
    start_note(transfer.first, PointMessage::Direction::kSend, message.peer, message.tag);
}

size_t GlooBackend::move_points() {
    size_t finished = 0;
    for (auto place = points_.begin(); place != points_.end();) {
        if (!move_on(*place)) {
            check_deadline(*place->message);
            ++place;
            continue;
        }
        PointMessage& message = *place->message;
        place = points_.erase(place);
        ++finished;
        message.done = true;
        // It may hold the message itself: take it out first.
        const auto callback = std::exchange(message.finished, nullptr);
        if (callback) callback();
    }
    return finished;
}

// Whether it is done.
bool GlooBackend::move_on(PointTransfer& transfer) {
    return transfer.sends ? finish_send(transfer) : finish_receive(transfer);
}

bool GlooBackend::finish_send(PointTransfer& transfer) {
    if (!transfer.first.done || !transfer.receipt.done) return false;
    const PointMessage& message = *transfer.message;
    const milliseconds left(milliseconds_left(message.deadline) + 1);
    return message.data.empty() || transfer.buffer->waitSend(left);
}

bool GlooBackend::finish_receive(PointTransfer& transfer) {
    // The envelope is here: look whether the message fits before gloo brings it.
    if (!transfer.first.done) return false;
    PointMessage& message = *transfer.message;
    const int source = transfer.first.source;
    if (message.source == kAnySource) {
        if (transfer.envelope.bytes != message.data.size())
            throw MismatchedCollective(
                concat("mismatched messages: rank ", source, " sent ",
                       transfer.envelope.bytes, " bytes where rank ", rank(), " expects ",
                       message.data.size(), " in ", describe(message)));
        message.source = source;
        if (!message.data.empty()) {
            const milliseconds left(milliseconds_left(message.deadline) + 1);
            transfer.buffer->recv(source, transfer.envelope.slot);
            transfer.buffer->waitRecv(left);
        }
        const uint64_t receipt = kInternalTags + (transfer.envelope.slot << 8) + 0xff;
        start_note(transfer.receipt, PointMessage::Direction::kSend, source, receipt);
    }
    return transfer.receipt.done;
}

void GlooBackend::check_deadline(const PointMessage& message) {
    if (has_passed(message.deadline))
        throw_silence(message.timeout, concat("in ", describe(message)));
}

}  // namespace

std::string why_no_gloo() { return ""; }

std::shared_ptr<QueuedGroup> make_gloo_group(const Meeting& meeting, bool verify,
                                             milliseconds timeout) {
    const Deadline deadline = deadline_after(timeout);
    Rendezvous rendezvous = meet(meeting, deadline);
    Store& store = *rendezvous.store;
    Mesh mesh =
        connect_mesh(meeting, store, rendezvous.local_host, Medium::kAuto, deadline);
    auto side = std::make_unique<MeshTransport>(meeting.rank, std::move(mesh.streams));
    auto group = std::make_shared<QueuedGroup>(
        std::make_unique<GlooBackend>(
            connect_gloo(meeting, store, rendezvous.local_host, deadline),
            std::move(side), verify),
        timeout);

    // Nobody may leave, and close the store, while another still needs it.
    part(std::move(rendezvous), deadline);
    group->barrier();
    return group;
}

}  // namespace mini::dist
