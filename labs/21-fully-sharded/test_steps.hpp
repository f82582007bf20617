// Helpers for the checks of tasks 21.4 and 21.5: what a pass did, in which order, and how
// many bytes it took.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "labs/21-fully-sharded/test_support.hpp"
#include "libmini/tensor/buffer_cache.hpp"

namespace mini::lab21 {

// What a rank's last pass of several did: the lines of its group and of its layers.
struct Pass {
    Journal forward, backward;
    int freed_after_forward = 0, freed_after_backward = 0;  // of 8 parameters
};

// Returns the last of `passes` passes of each of two ranks; `orders` has the order of the
// layers' calls in each pass, or only one for all.
inline std::vector<Pass> last_pass(const std::vector<std::vector<size_t>>& orders,
                                   const Names& units, bool prefetch) {
    return on_ranks(2, [&](dist::ProcessGroup& group) {
        const auto watched = std::make_shared<WatchedGroup>(group);
        Net net;
        FullyShardedDataParallel fsdp(net, units,
                                      {.process_group = watched, .prefetch = prefetch});
        net.note_in(watched->journal);
        Pass pass;
        for (size_t i = 0; i < orders.size(); ++i) {
            net.order = orders[i];
            watched->journal.clear();
            const Tensor loss =
                loss_of(fsdp(net_batch(group.rank(), static_cast<int>(i))));
            pass.forward = watched->journal;
            pass.freed_after_forward = count_freed(net);
            watched->journal.clear();
            loss.backward();
            pass.backward = watched->journal;
            pass.freed_after_backward = count_freed(net);
        }
        return pass;
    });
}

// The bytes of the shards of the layers on two ranks, which name their collectives.
inline const std::vector<int64_t> kBytes{40, 84, 32, 12};

inline std::string gather_of(size_t layer) {
    return concat("all_gather ", kBytes[layer]);
}
inline std::string reduce_of(size_t layer) {
    return concat("reduce_scatter ", kBytes[layer]);
}

// Checks that these lines are in the journal, in this order.
inline void check_order(const Journal& journal, const Journal& lines) {
    for (size_t i = 0; i < lines.size(); ++i) {
        INFO("in: " << in_words(journal));
        INFO("a line begins with \""
             << lines[i] << '"'
             << (i > 0 ? concat(", after \"", lines[i - 1], '"') : std::string()));
        REQUIRE(place_of(journal, lines[i]) >= 0);
        if (i > 0) REQUIRE(place_of(journal, lines[i - 1]) < place_of(journal, lines[i]));
    }
}

// Twelve layers of 40,400 bytes, so that a unit's memory is much more than its result's.
class Deep : public nn::Module {
  public:
    Deep() {
        for (int i = 0; i < 12; ++i)
            layers.push_back(&make_module<nn::Linear>(concat("fc", i), 100, 100));
    }
    Tensor forward(const Tensor& x) override {
        Tensor y = x;
        for (nn::Linear* const layer : layers) y = tanh((*layer)(y));
        return y;
    }
    std::vector<nn::Linear*> layers;
};

constexpr int64_t kLayer = 40'400;

// Bytes on rank 0 of 5 with Deep: after the constructor, and at the peaks of the passes.
struct Bytes {
    int64_t shards = 0, forward = 0, backward = 0, after = 0;
};

inline Bytes count_bytes(bool prefetch) {
    Bytes bytes;
    labs::run_ranks(1, [&](dist::ProcessGroup& alone) {
        const auto base = static_cast<int64_t>(allocated_bytes());
        const auto now = [&](size_t count) { return static_cast<int64_t>(count) - base; };
        Deep deep;
        Names units;
        for (int i = 0; i < 12; ++i) units.push_back(concat("fc", i));
        FullyShardedDataParallel fsdp(
            deep, units,
            {.process_group = std::make_shared<FiveInOne>(alone), .prefetch = prefetch});
        bytes.shards = now(allocated_bytes());
        const Tensor x = Tensor::ones({1, 100});
        for (int step = 0; step < 2; ++step) {
            for (const Tensor& shard : fsdp.shards()) Tensor(shard).set_grad({});
            reset_peak_bytes();
            Tensor loss = loss_of(fsdp(x));
            bytes.forward = now(max_allocated_bytes());
            reset_peak_bytes();
            loss.backward();
            bytes.backward = now(max_allocated_bytes());
        }
        bytes.after = now(allocated_bytes());
    });
    return bytes;
}

// Checks the memory with at most `units` units gathered.
inline void check_bytes(bool prefetch, int64_t units) {
    const Bytes bytes = count_bytes(prefetch);
    const int64_t shards = 12 * kLayer / 5;
    INFO(
        "12 units of 40,400 bytes on rank 0 of 5; results and rounding take less than "
        "20,000");
    {
        INFO("after the constructor: the shards, a fifth of 484,800 bytes; found "
             << bytes.shards);
        CHECK(bytes.shards < shards + 20'000);
    }
    {
        INFO("in the forward pass at most " << units << " units more; found "
                                            << bytes.forward);
        CHECK(bytes.forward < shards + units * kLayer + 20'000);
    }
    {
        INFO("in the backward pass at most "
             << units << " units, two flat gradients, the gradient that a layer has "
             << "just computed, and those of the shards; found " << bytes.backward);
        CHECK(bytes.backward < 2 * shards + (units + 3) * kLayer + 20'000);
    }
    INFO("between the steps the shards and their gradients; found " << bytes.after);
    CHECK(bytes.after < 2 * shards + 20'000);
}

}  // namespace mini::lab21
