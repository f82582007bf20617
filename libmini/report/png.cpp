#include "libmini/report/png.hpp"

#include <zlib.h>

#include "libmini/core/error.hpp"

namespace mini::report {
namespace {

std::string big_endian(uint32_t value) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8)
        bytes += static_cast<char>((value >> shift) & 0xff);
    return bytes;
}

const Bytef* as_bytes(const std::string& text) {
    return reinterpret_cast<const Bytef*>(text.data());
}

std::string chunk(const std::string& name, const std::string& data) {
    const std::string body = name + data;
    const auto crc = crc32(0, as_bytes(body), static_cast<uInt>(body.size()));
    return big_endian(static_cast<uint32_t>(data.size())) + body +
           big_endian(static_cast<uint32_t>(crc));
}

std::string compressed(const std::string& data) {
    uLongf size = compressBound(data.size());
    std::string result(size, '\0');
    const int code = compress2(reinterpret_cast<Bytef*>(result.data()), &size,
                               as_bytes(data), data.size(), Z_BEST_COMPRESSION);
    MINI_CHECK(code == Z_OK, "png: zlib failed with code ", code);
    result.resize(size);
    return result;
}

}  // namespace

std::string png_of(const PngSize& size, std::span<const uint8_t> bytes) {
    const int64_t row = size.width * size.channels;
    if ((size.channels != 1 && size.channels != 3) || size.width < 1 ||
        static_cast<int64_t>(bytes.size()) != row * size.height)
        throw ShapeError(concat("png: ", bytes.size(), " bytes are not an image of ",
                                size.height, " x ", size.width, " x ", size.channels));
    std::string rows;
    for (size_t begin = 0; begin < bytes.size(); begin += static_cast<size_t>(row)) {
        const auto each = bytes.subspan(begin, static_cast<size_t>(row));
        rows += '\0';
        rows.append(each.begin(), each.end());
    }
    std::string header = big_endian(static_cast<uint32_t>(size.width)) +
                         big_endian(static_cast<uint32_t>(size.height));
    header += {'\x08', size.channels == 3 ? '\x02' : '\0', '\0', '\0', '\0'};
    return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + chunk("IDAT", compressed(rows)) +
           chunk("IEND", "");
}

std::string data_url(const std::string& png) {
    constexpr const char* kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text = "data:image/png;base64,";
    for (size_t i = 0; i < png.size(); i += 3) {
        // Three bytes are four digits of six bits; "=" stands for a missing byte.
        uint32_t bits = 0;
        for (size_t k = 0; k < 3; ++k)
            bits =
                bits << 8 | (i + k < png.size() ? static_cast<uint8_t>(png[i + k]) : 0);
        for (size_t k = 0; k < 4; ++k)
            text += i + k <= png.size() ? kDigits[(bits >> (18 - 6 * k)) & 63] : '=';
    }
    return text;
}

}  // namespace mini::report
