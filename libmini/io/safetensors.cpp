#include "libmini/io/safetensors.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/io/file.hpp"
#include "libmini/io/safetensors_header.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini::io {
namespace {

static_assert(std::endian::native == std::endian::little,
              "elements are copied without conversion of the byte order");

constexpr size_t kAlignment = 8;
constexpr uint64_t kLengthBytes = 8;
constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the reference reader's limit

std::span<std::byte> bytes_of(const Tensor& tensor) {
    return {tensor.raw_data(), tensor.bytes()};
}

void check_tensors(const NamedTensors& tensors) {
    std::set<std::string> names = {"__metadata__"};
    for (const auto& [name, tensor] : tensors) {
        if (!names.insert(name).second)
            throw UsageError("save_safetensors: the name \"", name,
                             "\" occurs twice, or is reserved for metadata");
        if (!tensor.defined())
            throw UsageError("save_safetensors: \"", name,
                             "\" is not a tensor: it is undefined");
    }
}

// Returns contiguous CPU tensors in the order of the reference writer: large elements
// first, so that each tensor is aligned to its element size; bfloat16 before float16;
// then by name.
NamedTensors in_file_order(const NamedTensors& tensors) {
    NamedTensors sorted;
    for (const auto& [name, tensor] : tensors)
        sorted.emplace_back(name, ops::contiguous(tensor).to(Device::cpu()));
    std::ranges::sort(sorted, [](const auto& a, const auto& b) {
        const size_t a_size = item_size(a.second.dtype());
        const size_t b_size = item_size(b.second.dtype());
        return std::tuple(b_size, b.second.dtype(), a.first) <
               std::tuple(a_size, a.second.dtype(), b.first);
    });
    return sorted;
}

std::string header_text(const NamedTensors& tensors,
                        const std::map<std::string, std::string>& metadata) {
    SafetensorsHeader header{.entries = {}, .metadata = metadata};
    uint64_t begin = 0;
    for (const auto& [name, tensor] : tensors) {
        const uint64_t end = begin + tensor.bytes();
        header.entries.push_back(
            {name, type_name(tensor.dtype()), tensor.shape(), begin, end});
        begin = end;
    }
    std::string text = format_header(header);
    text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
    return text;
}

// Returns the text of the header. Checks the header's length before allocating memory.
std::string read_header_text(const InputFile& file) {
    const auto check = [&](bool condition, const auto&... parts) {
        if (!condition) throw BadFile(file.path(), ": ", parts...);
    };
    check(file.size() >= kLengthBytes, file.size(),
          " bytes are too few for a safetensors file");
    uint64_t length = 0;
    file.read(0, std::as_writable_bytes(std::span(&length, 1)));

    const uint64_t rest = file.size() - kLengthBytes;
    check(length <= kMaxHeaderBytes, "the header has ", length, " bytes, more than the ",
          kMaxHeaderBytes, " allowed; is this a safetensors file?");
    check(length <= rest, "the header has ", length, " bytes, but only ", rest,
          " follow");
    std::string text(length, '\0');
    file.read(kLengthBytes, std::as_writable_bytes(std::span(text)));
    return text;
}

}  // namespace

const Tensor& Safetensors::at(const std::string& name) const {
    std::vector<std::string> names;
    for (const auto& [each, tensor] : tensors) {
        if (each == name) return tensor;
        names.push_back(each);
    }
    throw Error("safetensors: no tensor \"", name, "\" among ", names);
}

void save_safetensors(const std::string& path, const NamedTensors& tensors,
                      const std::map<std::string, std::string>& metadata) {
    check_tensors(tensors);
    const NamedTensors sorted = in_file_order(tensors);
    const std::string text = header_text(sorted, metadata);
    const uint64_t length = text.size();

    AtomicFile file(path);
    file.write(std::as_bytes(std::span(&length, 1)));
    file.write(std::as_bytes(std::span(text)));
    for (const auto& [name, tensor] : sorted) file.write(bytes_of(tensor));
    file.commit();
}

SafetensorsFile::SafetensorsFile(const std::string& path) : file_(path) {
    const std::string text = read_header_text(file_);
    data_begin_ = kLengthBytes + text.size();
    try {
        header_ = parse_header(text, file_.size() - data_begin_);
    } catch (const BadFile& error) {
        throw BadFile(path, ": ", error.what());
    }
}

DType SafetensorsFile::dtype_of(const SafetensorsEntry& entry) const {
    if (const std::optional<DType> dtype = find_dtype(entry.type)) return *dtype;
    throw BadFile(file_.path(), ": tensor ", quoted_name(entry.name), ": the dtype is ",
                  quoted_name(entry.type), "; F32, F16, BF16, I64 and U8 can be read");
}

Tensor SafetensorsFile::read(const SafetensorsEntry& entry) const {
    const Tensor tensor = Tensor::empty(entry.shape, dtype_of(entry), Device::cpu());
    file_.read(data_begin_ + entry.begin, {tensor.raw_data(), tensor.bytes()});
    return tensor;
}

Safetensors load_safetensors(const std::string& path) {
    const SafetensorsFile file(path);
    for (const SafetensorsEntry& entry : file.entries()) file.dtype_of(entry);
    Safetensors result{.tensors = {}, .metadata = file.metadata()};
    for (const SafetensorsEntry& entry : file.entries())
        result.tensors.emplace_back(entry.name, file.read(entry));
    return result;
}

}  // namespace mini::io
