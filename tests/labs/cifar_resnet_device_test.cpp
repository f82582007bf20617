// cifar_resnet --device cuda: a step on GPUs, or on the simulator's devices.

#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "libmini/io/safetensors.hpp"
#include "libmini/tensor/ops.hpp"
#include "tests/labs/program_job.hpp"

using namespace mini;
using namespace mini::test;

namespace {

using nlohmann::json;

// The results of one step of the smallest network on eight images, and the saved model.
struct Trained {
    json results;
    io::Safetensors saved;
};

Trained train(int ranks, const std::string& device) {
    const Folder folder;
    const std::string path = folder / "model.safetensors";
    const Words options{"--model", "resnet10", "--samples", "8",      "--batch-size",
                        "8",       "--epochs", "1",         "--json", "--device",
                        device,    "--save",   path};
    return {last_json(run_ranks(ranks, "cifar_resnet", options)),
            io::load_safetensors(path)};
}

float apart(const Tensor& a, const Tensor& b) {
    const auto left = ops::to(a, DType::kFloat32).to_vector<float>();
    const auto right = ops::to(b, DType::kFloat32).to_vector<float>();
    REQUIRE(left.size() == right.size());
    float most = 0.0f;
    for (size_t i = 0; i < left.size(); ++i)
        if (!(std::abs(left[i] - right[i]) <= most)) most = std::abs(left[i] - right[i]);
    return most;
}

}  // namespace

TEST_CASE("cifar_resnet on CUDA devices gives the same results as on the CPU", "[cuda]") {
    const Trained cpu = train(1, "cpu"), cuda = train(1, "cuda");
    CHECK(cpu.results.at("devices") == json({"cpu"}));
    CHECK(cuda.results.at("devices") == json({"cuda:0"}));
    CHECK(distance(cuda.results.at("train_loss"), cpu.results.at("train_loss")) < 1e-5);
    CHECK(cuda.saved.at("bn1.num_batches_tracked").item() == 1);
    REQUIRE(cuda.saved.tensors.size() == cpu.saved.tensors.size());
    for (const auto& [name, tensor] : cpu.saved.tensors) {
        CAPTURE(name);
        CHECK(apart(cuda.saved.at(name), tensor) < 1e-5f);
    }
}

TEST_CASE(
    "ranks of cifar_resnet use the CUDA devices in turn and their replicas stay equal",
    "[cuda]") {
    const json results = train(2, "cuda").results;
    const int second = 1 % cuda_device_count();
    CHECK(results.at("devices") == json({"cuda:0", concat("cuda:", second)}));
    CHECK(results.at("state_sha256")[0] == results.at("state_sha256")[1]);
}
