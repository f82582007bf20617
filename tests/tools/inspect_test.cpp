// The output of the built `mini inspect`.

#include <cstdint>
#include <fstream>
#include <limits>
#include <string>

#include "libmini/io/safetensors.hpp"
#include "libmini/tensor/ops.hpp"
#include "tests/support/answer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/folder.hpp"

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

TEST_CASE("mini inspect prints a table with metadata and totals") {
    const Folder folder;
    const Safetensors file = example();
    mini::io::save_safetensors(folder / "f", file.tensors, file.metadata);
    const Answer answer = inspect(folder / "f");
    CAPTURE(answer.text);
    CHECK(answer.code == 0);

    // Statistics are over the finite values; NaN and infinities are counted.
    for (const char* row :
         {"name    dtype      shape    bytes   min    mean   max   NaN   Inf\n",
          "mixed   float32    (2, 3)      24    -2       1     4     1     2\n",
          "bf      bfloat16   (2, 3)      12    -2       1     4     1     2\n",
          "half    float16    (2, 3)      12    -2       1     4     1     2\n",
          "steps   int64      ()           8    -7      -7    -7     0     0\n",
          "bytes   uint8      (2,)         2     0   127.5   255     0     0\n",
          "none    float32    (0, 3)       0     -       -     -     0     0\n"})
        CHECK(contains(answer.text, row));
    CHECK(contains(answer.text, "note = two\\nlines\nstep = 420\n"));
    CHECK(contains(answer.text, "6 tensors, 21 numbers, 58 bytes\n"));
}

TEST_CASE("mini inspect prints the minimum and maximum of integers exactly") {
    const Folder folder;
    constexpr int64_t kOdd = (int64_t{1} << 53) + 1;  // no double
    mini::io::save_safetensors(
        folder / "f",
        {{"x", Tensor::from<int64_t>({kOdd, INT64_MIN, INT64_MAX}, {3})},
         {"y", Tensor::from<int64_t>({kOdd}, {})},
         {"none", Tensor::from<int64_t>({}, {0})}},
        {{"step", "9007199254740993"}});
    const Answer table = inspect(folder / "f");
    CAPTURE(table.text);
    CHECK(contains(table.text, " -9223372036854775808 "));
    CHECK(contains(table.text, " 9223372036854775807 "));
    CHECK(contains(table.text, "   9007199254740993   9.007e+15   "));
    CHECK(contains(table.text, "step = 9007199254740993\n"));
}

TEST_CASE("mini inspect lists tensors of types that libmini does not have") {
    const Folder folder;
    const std::string header =
        R"({"scale":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
        R"("a":{"dtype":"F8_E4M3","shape":[2,3],"data_offsets":[4,10]},)"
        R"("mask":{"dtype":"BOOL","shape":[5],"data_offsets":[10,15]},)"
        R"("new":{"dtype":"X\u001b2","shape":[7],"data_offsets":[15,16]}})";
    std::string length(8, '\0');
    length[0] = static_cast<char>(header.size() % 256);
    length[1] = static_cast<char>(header.size() / 256);
    std::ofstream(folder / "f") << length << header << std::string(16, '\0');
    const Answer table = inspect(folder / "f");
    CAPTURE(table.text);
    CHECK(table.code == 0);
    CHECK(contains(table.text, "scale   float32    (1,)         4     0      0     0"));
    CHECK(contains(table.text, "a       F8_E4M3    (2, 3)       6     -      -     -"));
    CHECK(contains(table.text, "mask    BOOL       (5,)         5     -      -     -"));
    CHECK(contains(table.text, "new     X\\u001b2   (7,)"));
    CHECK(contains(table.text, "4 tensors, 19 numbers, 16 bytes\n"));
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
