// Reads the orientation from EXIF data, which are a TIFF file:
//
//     "II" or "MM"   42    offset    ..   count   tag    type   count   value   ..
//     byte order     (2)   (4)            (2)     (2)    (2)    (4)     (4)     more ..
//     at offset 0                         at the offset
//
// The orientation has tag 0x0112, type 3 (a number of 2 bytes) and the values 1 to 8.

#include <cstdint>
#include <span>
#include <string_view>

#include "libmini/datasets/image_check.hpp"

namespace mini::data {
namespace {

using Span = std::span<const uint8_t>;

constexpr size_t kEntryBytes = 12;

// Reads numbers in the byte order of the data; a number beyond the end is 0.
class ExifReader {
  public:
    explicit ExifReader(Span data)
        : data_(data), is_big_endian_(!data.empty() && data[0] == 'M') {}

    uint32_t number(size_t offset, size_t bytes) const {
        if (offset > data_.size() || bytes > data_.size() - offset) return 0;
        uint32_t number = 0;
        for (size_t i = 0; i < bytes; ++i)
            number = number << 8 | data_[offset + (is_big_endian_ ? i : bytes - 1 - i)];
        return number;
    }

  private:
    Span data_;
    bool is_big_endian_;
};

}  // namespace

int exif_orientation(Span data) {
    constexpr std::string_view kPrefix("Exif\0\0", 6);
    const std::string_view text(reinterpret_cast<const char*>(data.data()), data.size());
    if (text.starts_with(kPrefix)) data = data.subspan(kPrefix.size());
    const ExifReader reader(data);
    const size_t directory = reader.number(4, 4);
    const size_t entries = reader.number(directory, 2);
    for (size_t i = 0; i < entries; ++i) {
        const size_t entry = directory + 2 + i * kEntryBytes;
        if (reader.number(entry, 2) != 0x0112) continue;
        const uint32_t value = reader.number(entry + 8, 2);
        return reader.number(entry + 2, 2) == 3 && value >= 1 && value <= 8
                   ? static_cast<int>(value)
                   : 1;
    }
    return 1;
}

}  // namespace mini::data
