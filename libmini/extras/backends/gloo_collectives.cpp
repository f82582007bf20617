#include "libmini/extras/backends/gloo_collectives.hpp"

#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
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
    throw Error(concat("gloo: no elements of ", item_size(dtype), " bytes"));
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

// Runs one of Gloo's collectives on elements of type T.
template <typename T>
class Collectives {
  public:
    Collectives(const ContextHandle& context, const Call& call, milliseconds timeout)
        : context_(context), call_(call), timeout_(timeout) {}

    void all_reduce(std::byte* data, size_t count, DType dtype) {
        const Elements elements({data, count * sizeof(T)}, dtype);
        prepare_reduce(elements, context_->size, call_.reduce_op);
        gloo::AllreduceOptions options(context_);
        options.setOutput(as_elements(data), count);
        options.setReduceFunction(reduction(dtype, call_.reduce_op));
        options.setTimeout(timeout_);
        gloo::allreduce(options);
        finish_reduce(elements, context_->size, call_.reduce_op);
    }

    void all_reduce() {
        const Tensor& data = call_.outputs.front();
        all_reduce(data.raw_data(), count_of(data), data.dtype());
    }

    void reduce_scatter() {
        auto packed = pack(call_.inputs);
        const Tensor& mine = call_.outputs.front();
        all_reduce(packed.data(), packed.size() / sizeof(T), mine.dtype());
        std::memcpy(mine.raw_data(),
                    packed.data() + static_cast<size_t>(context_->rank) * mine.bytes(),
                    mine.bytes());
    }

    void broadcast() {
        gloo::BroadcastOptions options(context_);
        options.setOutput(data_of(call_.outputs.front()),
                          count_of(call_.outputs.front()));
        options.setRoot(call_.root);
        options.setTimeout(timeout_);
        gloo::broadcast(options);
    }

    void reduce() {
        const Tensor& data = call_.outputs.front();
        prepare_reduce(Elements(data), context_->size, call_.reduce_op);
        gloo::ReduceOptions options(context_);
        options.setOutput(data_of(data), count_of(data));
        options.setReduceFunction(reduction(data.dtype(), call_.reduce_op));
        options.setRoot(call_.root);
        options.setTimeout(timeout_);
        gloo::reduce(options);
        if (context_->rank == call_.root)
            finish_reduce(Elements(data), context_->size, call_.reduce_op);
    }

    void all_gather() { collect<gloo::AllgatherOptions>(gloo::allgather); }

    void gather() {
        collect<gloo::GatherOptions>([this](gloo::GatherOptions& options) {
            options.setRoot(call_.root);
            gloo::gather(options);
        });
    }

    void scatter() {
        gloo::ScatterOptions options(context_);
        std::vector<T*> inputs;
        for (const Tensor& input : call_.inputs) inputs.push_back(data_of(input));
        const size_t count = count_of(call_.outputs.front());
        if (!inputs.empty()) options.setInputs(inputs, count);
        options.setOutput(data_of(call_.outputs.front()), count);
        options.setRoot(call_.root);
        options.setTimeout(timeout_);
        gloo::scatter(options);
    }

    void all_to_all() {
        auto in = pack(call_.inputs), out = room_for(call_.outputs);
        gloo::AlltoallOptions options(context_);
        options.setInput(as_elements(in.data()), in.size() / sizeof(T));
        options.setOutput(as_elements(out.data()), out.size() / sizeof(T));
        options.setTimeout(timeout_);
        gloo::alltoall(options);
        unpack(out, call_.outputs);
    }

  private:
    static T* as_elements(std::byte* bytes) { return reinterpret_cast<T*>(bytes); }
    static T* data_of(const Tensor& tensor) { return as_elements(tensor.raw_data()); }
    static size_t count_of(const Tensor& tensor) { return tensor.bytes() / sizeof(T); }

    // Runs a collective that has one input. If this rank has outputs, Gloo writes them to
    // one buffer, which is then copied to the output tensors.
    template <typename Options, typename Run>
    void collect(const Run& run) {
        auto out = room_for(call_.outputs);
        Options options(context_);
        options.setInput(data_of(call_.inputs.front()), count_of(call_.inputs.front()));
        if (!out.empty())
            options.setOutput(as_elements(out.data()), out.size() / sizeof(T));
        options.setTimeout(timeout_);
        run(options);
        unpack(out, call_.outputs);
    }

    const ContextHandle& context_;
    const Call& call_;
    const milliseconds timeout_;
};

template <typename T>
void run_collective(Collectives<T> collectives, Operation operation) {
    switch (operation) {
        case Operation::kAllReduce: return collectives.all_reduce();
        case Operation::kBroadcast: return collectives.broadcast();
        case Operation::kReduce: return collectives.reduce();
        case Operation::kAllGather: return collectives.all_gather();
        case Operation::kGather: return collectives.gather();
        case Operation::kScatter: return collectives.scatter();
        case Operation::kReduceScatter: return collectives.reduce_scatter();
        case Operation::kAllToAll: return collectives.all_to_all();
        case Operation::kBarrier:
        case Operation::kSend:
        case Operation::kRecv: break;
    }
    throw Error(concat(operation_name(operation), " is not a collective with a tensor"));
}

}  // namespace

void run_gloo(const ContextHandle& context, const Call& call, milliseconds timeout) {
    if (call.operation == Operation::kBarrier) {
        gloo::BarrierOptions options(context);
        options.setTimeout(timeout);
        return gloo::barrier(options);
    }
    const Tensor& any = call.any_tensor();
    with_element_type(any.dtype(), [&](auto element) {
        run_collective(Collectives<decltype(element)>(context, call, timeout),
                       call.operation);
    });
}

}  // namespace mini::dist
