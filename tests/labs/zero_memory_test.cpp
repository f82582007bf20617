// zero_memory under minirun counts what lab 19 teaches: each stage divides more bytes.

#include <cstdint>
#include <string>
#include <vector>

#include "tests/labs/program_job.hpp"

using namespace mini::test;

namespace {

using Bytes = std::vector<int64_t>;  // by rank

struct Counted {
    Bytes parameters, gradients, state, peak;
};

Counted count(int ranks, int stage) {
    const ProcessResult ended =
        run_ranks(ranks, "zero_memory",
                  {"--stage", std::to_string(stage), "--model", "resnet10", "--steps",
                   "3", "--batch-size", "2"});
    const auto json = parse_output(ended);
    return {json.at("parameters").get<Bytes>(), json.at("gradients").get<Bytes>(),
            json.at("state").get<Bytes>(), json.at("peak").get<Bytes>()};
}

// The bytes of ResNet-10's buffers, which have no gradients, and of its 21 storages'
// rounding, are less than one per cent of its parameters.
bool is_about(int64_t bytes, int64_t expected) {
    return bytes > expected - expected / 100 && bytes < expected + expected / 100;
}

}  // namespace

TEST_CASE("with DDP each rank holds all gradients, also where ranks share memory") {
    const int ranks = GENERATE(1, 2, 3);
    CAPTURE(ranks);
    const Counted ddp = count(ranks, 0);
    for (size_t rank = 0; rank < static_cast<size_t>(ranks); ++rank) {
        CHECK(is_about(ddp.gradients[rank], ddp.parameters[rank]));
        CHECK(is_about(ddp.state[rank], 2 * ddp.parameters[rank]));
        CHECK(ddp.peak[rank] >= 4 * ddp.gradients[rank]);
    }
}

TEST_CASE("stage 1 divides the state and stage 2 also the gradients") {
    const Counted ddp = count(2, 0), first = count(2, 1), second = count(2, 2);
    for (size_t rank = 0; rank < 2; ++rank) {
        CHECK(first.gradients[rank] == ddp.gradients[rank]);
        CHECK(is_about(first.state[rank], ddp.state[rank] / 2));
        CHECK(is_about(second.gradients[rank], ddp.gradients[rank] / 2));
        CHECK(is_about(second.state[rank], ddp.state[rank] / 2));
        CHECK(first.peak[rank] < ddp.peak[rank]);
        CHECK(second.peak[rank] < first.peak[rank]);
    }
}
