#include "libmini/extras/backends/gloo_collectives.hpp"

#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoallv.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/gather.h>
#include <gloo/reduce.h>
#include <gloo/scatter.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "libmini/distributed/collectives/reduce.hpp"
#include "libmini/extras/backends/staging.hpp"

namespace mini::dist {
namespace {

using std::chrono::milliseconds;
using ContextHandle = std::shared_ptr<gloo::Context>;

// Calls `visit` with an unsigned integer that has the size of an element of `dtype`. Gloo
// needs only the size of the type, because the reductions are ours.
template <typename Visit>
void with_element_type(DType dtype, const Visit& visit) {
    switch (item_size(dtype)) {
        case 1: return visit(uint8_t{});
        case 2: return visit(uint16_t{});
        case 4: return visit(uint32_t{});
        case 8: return visit(uint64_t{});
    }
    throw Error("gloo: no elements of ", item_size(dtype), " bytes");
}

gloo::AllreduceOptions::Func reduction(DType dtype, ReduceOp op) {
    return [combine = combine_for(dtype, op)](void* out, const void* a, const void* b,
                                              size_t count) {
        if (out == b) std::swap(a, b);
        if (out != a) std::memcpy(out, a, count * combine.element_bytes);
        combine.apply(static_cast<std::byte*>(out), static_cast<const std::byte*>(b),
                      count);
    };
}

// Runs one of Gloo's collectives. All but the reductions move bytes.
class Collectives {
  public:
    Collectives(const ContextHandle& context, const Call& call, milliseconds timeout)
        : context_(context), call_(call), timeout_(timeout) {}

    void run() {
        switch (call_.operation) {
            case Operation::kAllReduce: return all_reduce();
            case Operation::kBroadcast: return broadcast();
            case Operation::kReduce: return reduce();
            case Operation::kAllGather:
                return collect<gloo::AllgatherOptions>(gloo::allgather);
            case Operation::kGather:
                return collect<gloo::GatherOptions>([this](gloo::GatherOptions& options) {
                    options.setRoot(call_.root);
                    gloo::gather(options);
                });
            case Operation::kScatter: return scatter();
            case Operation::kReduceScatter: return reduce_scatter();
            case Operation::kAllToAll: return all_to_all();
            case Operation::kBarrier: return barrier();
            case Operation::kSend:
            case Operation::kRecv: break;
        }
        throw Error(operation_name(call_.operation), " is not a collective");
    }

  private:
    void all_reduce() { all_reduce(Elements(call_.outputs.front())); }

    void all_reduce(Elements data) {
        prepare_reduce(data, context_->size, call_.reduce_op);
        with_element_type(data.dtype, [&]<typename T>(T) {
            gloo::AllreduceOptions options(context_);
            options.setOutput(reinterpret_cast<T*>(data.bytes.data()), data.size());
            options.setReduceFunction(reduction(data.dtype, call_.reduce_op));
            options.setTimeout(timeout_);
            gloo::allreduce(options);
        });
        finish_reduce(data, context_->size, call_.reduce_op);
    }

    void reduce_scatter() {
        auto packed = pack(call_.inputs);
        const Tensor& mine = call_.outputs.front();
        all_reduce({packed, mine.dtype()});
        std::memcpy(mine.raw_data(),
                    packed.data() + static_cast<size_t>(context_->rank) * mine.bytes(),
                    mine.bytes());
    }

    void reduce() {
        const Elements data(call_.outputs.front());
        prepare_reduce(data, context_->size, call_.reduce_op);
        with_element_type(data.dtype, [&]<typename T>(T) {
            gloo::ReduceOptions options(context_);
            options.setOutput(reinterpret_cast<T*>(data.bytes.data()), data.size());
            options.setReduceFunction(reduction(data.dtype, call_.reduce_op));
            options.setRoot(call_.root);
            options.setTimeout(timeout_);
            gloo::reduce(options);
        });
        if (context_->rank == call_.root)
            finish_reduce(data, context_->size, call_.reduce_op);
    }

    void broadcast() {
        gloo::BroadcastOptions options(context_);
        const Tensor& data = call_.outputs.front();
        options.setOutput(data.raw_data(), data.bytes());
        options.setRoot(call_.root);
        options.setTimeout(timeout_);
        gloo::broadcast(options);
    }

    void scatter() {
        gloo::ScatterOptions options(context_);
        const Tensor& mine = call_.outputs.front();
        std::vector<std::byte*> inputs;
        for (const Tensor& input : call_.inputs) inputs.push_back(input.raw_data());
        if (!inputs.empty()) options.setInputs(inputs, mine.bytes());
        options.setOutput(mine.raw_data(), mine.bytes());
        options.setRoot(call_.root);
        options.setTimeout(timeout_);
        gloo::scatter(options);
    }

    void all_to_all() {
        auto in = pack(call_.inputs), out = room_for(call_.outputs);
        gloo::AlltoallvOptions options(context_);
        options.setInput(in.data(), bytes_of(call_.inputs));
        options.setOutput(out.data(), bytes_of(call_.outputs));
        options.setTimeout(timeout_);
        gloo::alltoallv(options);
        unpack(out, call_.outputs);
    }

    void barrier() {
        gloo::BarrierOptions options(context_);
        options.setTimeout(timeout_);
        gloo::barrier(options);
    }

    // Runs a collective that has one input. If this rank has outputs, Gloo writes them to
    // one buffer, which is then copied to the output tensors.
    template <typename Options, typename Run>
    void collect(const Run& run) {
        auto out = room_for(call_.outputs);
        Options options(context_);
        options.setInput(call_.inputs.front().raw_data(), call_.inputs.front().bytes());
        if (!out.empty()) options.setOutput(out.data(), out.size());
        options.setTimeout(timeout_);
        run(options);
        unpack(out, call_.outputs);
    }

    const ContextHandle& context_;
    const Call& call_;
    const milliseconds timeout_;
};

}  // namespace

void run_gloo(const ContextHandle& context, const Call& call, milliseconds timeout) {
    Collectives(context, call, timeout).run();
}

}  // namespace mini::dist
