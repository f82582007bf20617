// Reads the orientation from EXIF data, which are a TIFF file:
//
//     "II" or "MM"   42    offset    ..   count   tag    type   count   value   ..
//     byte order     (2)   (4)            (2)     (2)    (2)    (4)     (4)     more ..
//     at 0                                at the offset
//
// They follow the text "Exif", 0, 0 in a JPEG, and the chunk type "eXIf" in a PNG. The
// orientation has tag 0x0112 and the values 1 to 8.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "libmini/datasets/image_check.hpp"

namespace mini::data {
namespace {

// Returns the TIFF file in a picture; empty if there is none.
std::string_view exif_of(std::string_view picture) {
    using namespace std::string_view_literals;
    for (const std::string_view name : {"Exif\0\0"sv, "eXIf"sv})
        if (const size_t at = picture.find(name); at != std::string_view::npos)
            return picture.substr(at + name.size());
    return {};
}

// Returns a number in the byte order of the TIFF file; 0 beyond its end.
size_t number(std::string_view tiff, size_t offset, size_t bytes) {
    if (offset > tiff.size() || bytes > tiff.size() - offset) return 0;
    const bool is_big_endian = tiff[0] == 'M';
    size_t result = 0;
    for (size_t i = 0; i < bytes; ++i)
        result = result << 8 |
                 static_cast<uint8_t>(tiff[offset + (is_big_endian ? i : bytes - 1 - i)]);
    return result;
}

}  // namespace

int exif_orientation(std::span<const uint8_t> picture) {
    constexpr size_t kEntryBytes = 12, kOrientation = 0x0112;
    const std::string_view tiff =
        exif_of({reinterpret_cast<const char*>(picture.data()), picture.size()});
    const size_t directory = number(tiff, 4, 4);
    const size_t entries = number(tiff, directory, 2);
    for (size_t entry = directory + 2; entry < directory + 2 + entries * kEntryBytes;
         entry += kEntryBytes) {
        const size_t value = number(tiff, entry + 8, 2);
        if (number(tiff, entry, 2) == kOrientation && value >= 1 && value <= 8)
            return static_cast<int>(value);
    }
    return 1;
}

}  // namespace mini::data
