// Helpers of the tests of data and datasets: temporary folders, IDX files, small
// datasets.

#pragma once

#include <zlib.h>

#include <cstdint>
#include <exception>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libmini/core/world.hpp"
#include "libmini/data/dataset.hpp"
#include "libmini/random/random.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/written.hpp"

using mini::test::contains;
using mini::test::Folder;
using mini::test::message_of;
using mini::test::written_to_stderr;

using Bytes = std::vector<uint8_t>;

inline Bytes operator+(Bytes a, const Bytes& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

/// Returns the first `count` bytes.
inline Bytes first(const Bytes& bytes, size_t count) {
    return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count)};
}

/// Returns the header of an IDX file of bytes.
inline Bytes idx_header(const std::vector<uint32_t>& sizes) {
    Bytes header = {0, 0, 8, static_cast<uint8_t>(sizes.size())};
    for (const uint32_t size : sizes)
        for (int shift = 24; shift >= 0; shift -= 8)
            header.push_back(static_cast<uint8_t>(size >> shift));
    return header;
}

/// Returns `count` bytes 0, 1, ..., limit-1, 0, 1, ...
inline Bytes ramp(size_t count, size_t limit) {
    Bytes bytes(count);
    for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<uint8_t>(i % limit);
    return bytes;
}

inline Bytes gzipped(const Bytes& bytes) {
    z_stream stream{};
    const int gzip_window = 15 + 16;
    deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, gzip_window, 8, Z_DEFAULT_STRATEGY);
    Bytes packed(deflateBound(&stream, bytes.size()) + 32);
    stream.next_in = const_cast<uint8_t*>(bytes.data());
    stream.avail_in = static_cast<unsigned>(bytes.size());
    stream.next_out = packed.data();
    stream.avail_out = static_cast<unsigned>(packed.size());
    deflate(&stream, Z_FINISH);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    return packed;
}

inline void write_file(const std::string& path, const Bytes& bytes) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
}

/// Writes a small MNIST of `train` and `test` images; pixels and labels count up.
inline void write_mnist(const std::string& folder, uint32_t train, uint32_t test) {
    for (const auto& [part, count] :
         {std::pair("/train", train), std::pair("/t10k", test)}) {
        write_file(folder + part + "-images-idx3-ubyte",
                   idx_header({count, 28, 28}) + ramp(count * 784, 251));
        write_file(folder + part + "-labels-idx1-ubyte",
                   idx_header({count}) + ramp(count, 10));
    }
}

/// Sample i is the tensor {i, 2 i}, with target 3 i.
class Numbers : public mini::data::Dataset {
  public:
    explicit Numbers(int64_t size) : size_(size) {}
    int64_t size() const override { return size_; }
    mini::data::Example get(int64_t i) const override {
        const float x = static_cast<float>(i);
        return {mini::Tensor::from(std::vector<float>{x, 2 * x}), 3 * i};
    }

  private:
    int64_t size_;
};

inline std::shared_ptr<Numbers> numbers(int64_t n) {
    return std::make_shared<Numbers>(n);
}

inline std::shared_ptr<mini::Generator> seeded(uint64_t seed) {
    return std::make_shared<mini::Generator>(seed);
}

/// Sets this thread's world; the destructor clears it.
struct InWorld {
    explicit InWorld(mini::World world) { mini::set_current_world(world); }
    ~InWorld() { mini::set_current_world(std::nullopt); }
};

/// Returns a small image of bytes: byte k of (C, H, W) is (31 k + 7) mod 256, as in
/// golden/make_transforms.py.
inline mini::Tensor byte_image(const mini::Shape& shape) {
    Bytes bytes(static_cast<size_t>(mini::element_count(shape)));
    for (size_t k = 0; k < bytes.size(); ++k)
        bytes[k] = static_cast<uint8_t>((31 * k + 7) % 256);
    return mini::Tensor::from(bytes, shape);
}

/// Returns the messages of the exception that `body` throws and of the exceptions nested
/// in it, outermost first.
template <typename Body>
std::vector<std::string> messages_of(const Body& body) {
    std::vector<std::string> messages;
    const auto collect = [&](const std::exception& error, const auto& self) -> void {
        messages.push_back(error.what());
        try {
            std::rethrow_if_nested(error);
        } catch (const std::exception& cause) {
            self(cause, self);
        }
    };
    try {
        body();
    } catch (const std::exception& error) {
        collect(error, collect);
    }
    return messages;
}
