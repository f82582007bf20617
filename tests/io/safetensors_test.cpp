#include "libmini/io/safetensors.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/tensor/ops.hpp"
#include "tests/io/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitizers.hpp"

using mini::DType;
using mini::Tensor;
using mini::io::load_safetensors;
using mini::io::NamedTensors;
using mini::io::Safetensors;
using mini::io::save_safetensors;
using Names = std::vector<std::string>;

namespace {

Names names_of(const Safetensors& file) {
    Names names;
    for (const auto& [name, tensor] : file.tensors) names.push_back(name);
    return names;
}

// Returns the header of a file as text, without the padding.
std::string header_of(const std::string& path) {
    const std::string text = read_text(path);
    const auto length =
        static_cast<unsigned char>(text[0]) + 256u * static_cast<unsigned char>(text[1]);
    const std::string header = text.substr(8, length);
    return header.substr(0, header.find_last_not_of(' ') + 1);
}

}  // namespace

TEST_CASE("tensors of every dtype and metadata are loaded as they were saved") {
    const Folder folder;
    const std::string path = folder / "model.safetensors";
    const float infinity = std::numeric_limits<float>::infinity();
    const NamedTensors saved = {
        {"weight",
         Tensor::from<float>({1.5f, -0.0f, 1e-45f, infinity, -3.25f, 7}, {2, 3})},
        {"steps", Tensor::from<int64_t>({-1, std::numeric_limits<int64_t>::max()}, {2})},
        {"pixels", Tensor::from<uint8_t>({0, 127, 255}, {3, 1})},
        {"half",
         mini::ops::to(Tensor::from<float>({0.1f, -2.0f}, {2}), mini::DType::kFloat16)},
        {"brain",
         mini::ops::to(Tensor::from<float>({0.1f, -2.0f}, {2}), mini::DType::kBFloat16)},
        {"scalar", Tensor::scalar(2.5f)},
        {"empty", Tensor::empty({0, 3})}};
    save_safetensors(path, saved, {{"epoch", "3"}, {"note", "ünïcode \n \"quoted\""}});

    const Safetensors loaded = load_safetensors(path);
    REQUIRE(loaded.tensors.size() == saved.size());
    for (const auto& [name, tensor] : saved) {
        CAPTURE(name);
        CHECK(loaded.at(name).shape() == tensor.shape());
        CHECK(mini::ops::equal(loaded.at(name), tensor));
    }
    CHECK(std::signbit(loaded.at("weight").to_vector<float>()[1]));
    CHECK(loaded.metadata.at("epoch") == "3");
    CHECK(loaded.metadata.at("note") == "ünïcode \n \"quoted\"");
}

TEST_CASE("a NaN keeps all its bits") {
    const Folder folder;
    const auto odd_nan = std::bit_cast<float>(0x7fc12345u);
    save_safetensors(folder / "f", {{"x", Tensor::scalar(odd_nan)}});
    const Tensor x = load_safetensors(folder / "f").at("x");
    CHECK(std::bit_cast<uint32_t>(*x.data<float>()) == 0x7fc12345u);
}

TEST_CASE("a file without tensors is valid") {
    const Folder folder;
    save_safetensors(folder / "f", {});
    CHECK(read_text(folder / "f") == std::string("\x08\0\0\0\0\0\0\0{}      ", 16));
    CHECK(load_safetensors(folder / "f").tensors.empty());
}

TEST_CASE(
    "bytes are in the reference writer's order and the header is padded to 8 bytes") {
    const Folder folder;
    save_safetensors(folder / "f", {{"b", Tensor::zeros({2})},
                                    {"c", Tensor::zeros({1}, DType::kUInt8)},
                                    {"a", Tensor::zeros({2, 1})},
                                    {"d", Tensor::zeros({}, DType::kInt64)}});
    CHECK(header_of(folder / "f") ==
          R"({"d":{"dtype":"I64","shape":[],"data_offsets":[0,8]},)"
          R"("a":{"dtype":"F32","shape":[2,1],"data_offsets":[8,16]},)"
          R"("b":{"dtype":"F32","shape":[2],"data_offsets":[16,24]},)"
          R"("c":{"dtype":"U8","shape":[1],"data_offsets":[24,25]}})");
    CHECK((read_text(folder / "f").size() - 25) % 8 == 0);
    CHECK(names_of(load_safetensors(folder / "f")) == Names{"d", "a", "b", "c"});
}

TEST_CASE("a view is saved with its own elements only") {
    const Folder folder;
    const Tensor x = Tensor::from<float>({0, 1, 2, 3, 4, 5}, {2, 3});
    save_safetensors(folder / "f", {{"transposed", mini::ops::transpose(x, 0, 1)},
                                    {"row", mini::ops::select(x, 0, 1)}});
    const Safetensors loaded = load_safetensors(folder / "f");
    CHECK(loaded.at("transposed").shape() == mini::Shape{3, 2});
    CHECK(loaded.at("transposed").to_vector<float>() ==
          std::vector<float>{0, 3, 1, 4, 2, 5});
    CHECK(loaded.at("row").to_vector<float>() == std::vector<float>{3, 4, 5});
}

TEST_CASE("invalid names throw UsageError and no file is created") {
    const Folder folder;
    const Tensor x = Tensor::zeros({1});
    const auto error_message = [&](const NamedTensors& tensors) {
        return message_of<mini::UsageError>(
            [&] { save_safetensors(folder / "f", tensors); });
    };
    CHECK(error_message({{"x", x}, {"x", x}}).find("occurs twice") != std::string::npos);
    CHECK(error_message({{"__metadata__", x}}).find("metadata") != std::string::npos);
    CHECK(error_message({{"x", Tensor()}}).find("not a tensor") != std::string::npos);
    CHECK(error_message({{"\xff", x}}).find("UTF-8") != std::string::npos);
    CHECK(folder.names().empty());
}

TEST_CASE("any UTF-8 text is a valid name") {
    const Folder folder;
    const std::string name = GENERATE(std::string(), std::string("a\0b\n\"\\/../", 10),
                                      std::string("größe"), std::string("dtype"));
    save_safetensors(folder / "f", {{name, Tensor::ones({2})}});
    CHECK(names_of(load_safetensors(folder / "f")) == Names{name});
}

TEST_CASE("the error message for a missing tensor lists the existing names") {
    const Folder folder;
    save_safetensors(folder / "f", {{"a", Tensor::ones({1})}, {"b", Tensor::ones({1})}});
    const Safetensors loaded = load_safetensors(folder / "f");
    CHECK(message_of<mini::Error>([&] { loaded.at("c"); }) ==
          "safetensors: no tensor \"c\" among (a, b)");
}

TEST_CASE("a file with a hundred thousand tensors can be loaded") {
    const Folder folder;
    NamedTensors many;
    const Tensor x = Tensor::ones({1});
    const int count =
        mini::test::kSanitized ? 10'000 : 100'000;  // 100,000 tensors: 15 s if sanitized
    for (int i = 0; i < count; ++i) many.emplace_back(std::to_string(i), x);
    save_safetensors(folder / "f", many);
    CHECK(load_safetensors(folder / "f").tensors.size() == static_cast<size_t>(count));
}
