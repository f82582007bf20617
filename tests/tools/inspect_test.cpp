// The statistics of `mini inspect`, and the output of the built program.

#include "libmini/tools/mini/inspect.hpp"

#include <fmt/format.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "libmini/tensor/ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/folder.hpp"
#include "tests/tools/answer.hpp"

using mini::Tensor;
using mini::io::Safetensors;
using mini::test::Answer;
using mini::test::contains;
using mini::test::Folder;
using mini::test::run_mini;

namespace {

Answer inspect(const std::string& arguments) { return run_mini("inspect " + arguments); }

Safetensors example() {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float infinity = std::numeric_limits<float>::infinity();
    const Tensor mixed =
        Tensor::from<float>({1, nan, -infinity, 4, infinity, -2}, {2, 3});
    return {.tensors = {{"mixed", mixed},
                        {"bf", mini::ops::to(mixed, mini::DType::kBFloat16)},
                        {"half", mini::ops::to(mixed, mini::DType::kFloat16)},
                        {"steps", Tensor::from<int64_t>({-7}, {})},
                        {"bytes", Tensor::from<uint8_t>({0, 255}, {2})},
                        {"none", Tensor::zeros({0, 3})}},
            .metadata = {{"step", "420"}, {"note", "two\nlines"}}};
}

}  // namespace

TEST_CASE("statistics are over the finite values and NaN and infinities are counted") {
    const Safetensors file = example();
    for (const char* name : {"mixed", "bf", "half"}) {
        CAPTURE(name);
        const auto summary = mini::tools::summarise(file.at(name));
        CHECK(summary.finite == 3);
        CHECK(summary.nans == 1);
        CHECK(summary.infinities == 2);
        CHECK(summary.min == -2.0);
        CHECK(summary.mean == 1.0);
        CHECK(summary.max == 4.0);
    }
    CHECK(mini::tools::summarise(file.at("steps")).max == -7.0);
    CHECK(mini::tools::summarise(file.at("bytes")).mean == 127.5);
    CHECK(mini::tools::summarise(file.at("none")).finite == 0);
}

TEST_CASE("mini inspect prints a table with metadata and totals") {
    const Folder folder;
    const Safetensors file = example();
    mini::io::save_safetensors(folder / "f", file.tensors, file.metadata);
    const Answer answer = inspect(folder / "f");
    CAPTURE(answer.text);
    CHECK(answer.code == 0);
    CHECK(contains(answer.text, "name    dtype      shape    bytes   min    mean   max"));
    CHECK(contains(answer.text, "mixed   float32    (2, 3)      24    -2       1     4"));
    CHECK(contains(answer.text, "none    float32    (0, 3)       0     -       -     -"));
    CHECK(contains(answer.text, "note = two\\nlines\nstep = 420\n"));
    CHECK(contains(answer.text, "6 tensors, 21 numbers, 58 bytes\n"));
}

TEST_CASE("mini inspect --format json prints the same values in full") {
    const Folder folder;
    const Safetensors file = example();
    mini::io::save_safetensors(folder / "f", file.tensors, file.metadata);
    const Answer answer = inspect((folder / "f") + " --format json");
    REQUIRE(answer.code == 0);
    const auto json = nlohmann::json::parse(answer.text);
    CHECK(json.at("bytes") == 58);
    CHECK(json.at("numbers") == 21);
    CHECK(json.at("metadata").at("note") == "two\nlines");
    CHECK(json.at("tensors").size() == 6);
    const auto& steps = json.at("tensors")[0];
    CHECK(steps.at("name") == "steps");
    CHECK(steps.at("min") == -7);
    for (const auto& tensor : json.at("tensors"))
        if (tensor.at("name") == "none") CHECK(tensor.at("mean").is_null());
}

TEST_CASE("mini inspect rejects a bad file with one line that contains path and reason") {
    const Folder folder;
    std::ofstream(folder / "bad") << "not a model";
    for (const std::string& name : {folder / "bad", folder / "missing", folder.path()}) {
        const Answer answer = inspect(name);
        CAPTURE(answer.text);
        CHECK(answer.code == 1);
        CHECK(contains(answer.text, "mini: " + name + ": "));
        CHECK(answer.text.find('\n') == answer.text.size() - 1);
    }
    CHECK(inspect("").code == 2);
}
