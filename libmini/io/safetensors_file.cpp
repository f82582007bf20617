#include "libmini/io/safetensors_file.hpp"

#include <cstddef>
#include <optional>
#include <span>

#include "libmini/core/error.hpp"

namespace mini::io {
namespace {

constexpr uint64_t kLengthBytes = 8;
constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the reference reader's limit

// Returns the text of the header. Checks the header's length before allocating memory.
std::string read_header_text(const InputFile& file) {
    const auto check = [&](bool condition, const auto&... parts) {
        if (!condition) throw BadFile(concat(file.path(), ": ", parts...));
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

SafetensorsFile::SafetensorsFile(const std::string& path) : file_(path) {
    const std::string text = read_header_text(file_);
    data_begin_ = kLengthBytes + text.size();
    try {
        header_ = parse_header(text, file_.size() - data_begin_);
    } catch (const BadFile& error) {
        throw BadFile(concat(path, ": ", error.what()));
    }
}

DType SafetensorsFile::dtype_of(const SafetensorsEntry& entry) const {
    if (const std::optional<DType> dtype = find_dtype(entry.type)) return *dtype;
    throw BadFile(concat(file_.path(), ": tensor ", quoted_name(entry.name),
                         ": the dtype is ", quoted_name(entry.type),
                         "; F32, F16, BF16, I64 and U8 can be read"));
}

Tensor SafetensorsFile::read(const SafetensorsEntry& entry) const {
    const Tensor tensor = Tensor::empty(entry.shape, dtype_of(entry), Device::cpu());
    file_.read(data_begin_ + entry.begin, {tensor.raw_data(), tensor.bytes()});
    return tensor;
}

}  // namespace mini::io
