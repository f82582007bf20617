#include "libmini/extras/backends/gloo.hpp"

#include <gloo/transport/unbound_buffer.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libmini/distributed/backends/registry.hpp"
#include "libmini/distributed/backends/subgroup_mesh.hpp"
#include "libmini/distributed/collectives/dissemination_barrier.hpp"
#include "libmini/distributed/group/subgroup.hpp"
#include "libmini/distributed/transport/mesh_transport.hpp"
#include "libmini/extras/backends/gloo_collectives.hpp"
#include "libmini/extras/backends/gloo_meeting.hpp"
#include "libmini/extras/backends/verify.hpp"
#include "libmini/extras/backends/worker.hpp"

namespace mini::dist {
namespace {

using std::chrono::milliseconds;

// ---- the backend

// How long a failed collective may take to end on the worker thread.
constexpr milliseconds kEndTime(300);

// Sent over the side channel before the receiver calls Gloo's recv.
struct Envelope {
    uint64_t slot = 0, bytes = 0;
};

// A point-to-point message in flight:
//
//     sender      gloo send, envelope ----------------------.          .--> receipt: done
//     receiver                         envelope fits: gloo recv, receipt
struct GlooTransfer {
    PointMessage* message = nullptr;
    std::shared_ptr<gloo::transport::UnboundBuffer> buffer;
    Envelope envelope;
    bool has_payload = false;     // of a receive
    PointMessage first, receipt;  // over the side channel; `first` is the envelope
    bool sends = false;
};

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
    std::optional<uint64_t> largest_tag() const override { return kReservedTags - 1; }
    void post_to_library(PointMessage& message) override;
    size_t move_points() override;
    void abandon() noexcept override;

  private:
    [[noreturn]] void throw_missing_rank(milliseconds timeout, const char* reason);
    void choose_algorithm(const Call& call);
    void end_job(Worker& worker);
    void break_context() noexcept;
    bool finish_send(GlooTransfer& transfer);
    bool finish_receive(GlooTransfer& transfer);
    void begin_payload(GlooTransfer& transfer, int source);
    bool receive_payload(GlooTransfer& transfer);

    const Cookie cookie_;
    const std::string local_host_;
    ContextHandle context_;
    Worker worker_;    // runs collectives
    Worker receiver_;  // waits for the payload of one receive after another
    const GlooTransfer* receiving_ = nullptr;  // for which receiver_ waits
    std::list<GlooTransfer> points_;
    uint64_t next_slot_ = 0;
    const char* last_algorithm_ = "";
};

// Gloo's exception names a port that did not reply; the side channel finds the rank.
void GlooBackend::connect(const std::function<ContextHandle()>& make,
                          milliseconds timeout) {
    try {
        context_ = make();
    } catch (const std::exception& error) {
        throw_missing_rank(timeout, error.what());
    }
}

void GlooBackend::throw_missing_rank(milliseconds timeout, const char* reason) {
    try {
        throw_silence(timeout, concat("for gloo's connections (", reason, ")"));
    } catch (const Error&) {  // notify the ranks that wait for this one
        leave(current_failure());
        throw;
    }
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
        end_job(worker_);
        throw;
    }
    worker_.rethrow();
}

// Makes the worker's job fail and waits for its end, because the job still uses the
// caller's tensors. Gloo sometimes does not end a send in flight to a lost rank; the
// worker thread is then detached, and ends after Gloo's timeout. The job owns everything
// that it uses.
void GlooBackend::end_job(Worker& worker) {
    break_context();
    const Deadline patience = deadline_after(kEndTime);
    while (!worker.is_done_within(milliseconds(1))) {
        if (has_passed(patience)) return worker.detach();
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
        if (std::exchange(receiving_, nullptr) != nullptr) end_job(receiver_);
        points_.clear();
        context_->closeConnections();
        context_.reset();
    } catch (const std::exception&) {  // the context is closed already
    }
}

// ---- point to point

void GlooBackend::post_to_library(PointMessage& message) {
    GlooTransfer& transfer = points_.emplace_back();
    transfer.message = &message;
    transfer.sends = message.direction == PointMessage::Direction::kSend;
    transfer.first.data = std::as_writable_bytes(std::span(&transfer.envelope, 1));
    transfer.buffer =
        context_->createUnboundBuffer(message.data.data(), message.data.size());
    if (!transfer.sends) {
        post_note(transfer.first, PointMessage::Direction::kRecv, message.peer,
                  message.tag);
        return;
    }
    transfer.envelope = {next_slot_++, message.data.size()};
    post_note(transfer.receipt, PointMessage::Direction::kRecv, message.peer,
              receipt_tag(transfer.envelope.slot));
    if (!message.data.empty())
        transfer.buffer->send(message.peer, transfer.envelope.slot);
    post_note(transfer.first, PointMessage::Direction::kSend, message.peer, message.tag);
}

size_t GlooBackend::move_points() {
    return finish_done(points_, [this](GlooTransfer& transfer) {
        return transfer.sends ? finish_send(transfer) : finish_receive(transfer);
    });
}

bool GlooBackend::finish_send(GlooTransfer& transfer) {
    if (!transfer.first.done || !transfer.receipt.done) return false;
    const PointMessage& message = *transfer.message;
    const milliseconds left(milliseconds_left(message.deadline) + 1);
    return message.data.empty() || transfer.buffer->waitSend(left);
}

bool GlooBackend::finish_receive(GlooTransfer& transfer) {
    if (!transfer.first.done) return false;
    const int source = transfer.first.source;
    if (transfer.message->source == kAnySource) begin_payload(transfer, source);
    if (!transfer.has_payload) {
        if (!receive_payload(transfer)) return false;
        transfer.has_payload = true;
        post_note(transfer.receipt, PointMessage::Direction::kSend, source,
                  receipt_tag(transfer.envelope.slot));
    }
    return transfer.receipt.done;
}

// Checks the size, now that the envelope has arrived, and lets Gloo receive the payload.
void GlooBackend::begin_payload(GlooTransfer& transfer, int source) {
    PointMessage& message = *transfer.message;
    if (transfer.envelope.bytes != message.data.size())
        throw MismatchedCollective(concat("mismatched messages: rank ", source, " sent ",
                                          transfer.envelope.bytes, " bytes where rank ",
                                          rank(), " expects ", message.data.size(),
                                          " in ", describe(message)));
    message.source = source;
    if (!message.data.empty()) transfer.buffer->recv(source, transfer.envelope.slot);
}

// Returns whether the payload has arrived. Gloo can only block for it, and in Gloo a
// timeout breaks the context, so a worker waits.
bool GlooBackend::receive_payload(GlooTransfer& transfer) {
    if (transfer.message->data.empty()) return true;
    if (receiving_ == nullptr) {
        // Longer than the deadline, at which this rank finds out which rank is silent.
        const milliseconds left(milliseconds_left(transfer.message->deadline) + 1000);
        receiver_.start([buffer = transfer.buffer, left] { buffer->waitRecv(left); });
        receiving_ = &transfer;
    }
    if (receiving_ != &transfer || !receiver_.is_done_within(milliseconds(1)))
        return false;
    receiving_ = nullptr;
    receiver_.rethrow();
    return true;
}

}  // namespace

void use_gloo() {
    register_backend("gloo", [](const InitOptions& options) {
        return std::shared_ptr<ProcessGroup>(make_gloo_group(
            rendezvous_config(options.init_method, options.rank, options.world_size),
            options.verify.value_or(true), options.timeout));
    });
}

std::shared_ptr<QueuedGroup> make_gloo_group(const RendezvousConfig& config, bool verify,
                                             milliseconds timeout) {
    const Deadline deadline = deadline_after(timeout);
    Rendezvous rendezvous = join_rendezvous(config, deadline);
    std::unique_ptr<GlooBackend> backend;
    try {
        Store& store = *rendezvous.store;
        const std::string& host = rendezvous.local_host;
        Mesh mesh = connect_mesh(config, store, host, Medium::kAuto, deadline);
        auto side = std::make_unique<MeshTransport>(config.rank, std::move(mesh.streams));
        await_all_ranks(*side, deadline);
        backend =
            std::make_unique<GlooBackend>(std::move(side), verify, config.cookie, host);
        const auto connect = [&] {
            return connect_gloo(config.rank, config.world_size, store, host, deadline);
        };
        backend->connect(connect, timeout);
    } catch (const Error&) {
        part_after_failure(std::move(rendezvous));
        throw;
    }
    auto group = std::make_shared<QueuedGroup>(std::move(backend), timeout);

    // Close the store. No rank returns before rank 0 has closed its server, so that the
    // ranks can meet again at the same address.
    part(std::move(rendezvous), deadline);
    group->barrier_until(deadline);
    return group;
}

}  // namespace mini::dist
