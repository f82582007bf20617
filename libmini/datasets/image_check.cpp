#include "libmini/datasets/image_check.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

#include "libmini/core/error.hpp"
#include "libmini/io/file.hpp"

namespace mini::data {
namespace {

using io::bad_file;
using Span = std::span<const uint8_t>;

std::string_view text_of(Span bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool is_png(Span bytes) { return text_of(bytes).starts_with("\x89PNG\r\n\x1a\n"); }
bool is_jpeg(Span bytes) { return text_of(bytes).starts_with("\xff\xd8\xff"); }

// Describes a file that is neither a PNG nor a JPEG, by its first bytes.
std::string describe(Span bytes) {
    struct Format {
        std::string_view begin, name;
    };
    constexpr Format kFormats[] = {{"GIF8", "a GIF"},
                                   {"BM", "a BMP"},
                                   {"RIFF", "a WebP or other RIFF"},
                                   {"II*", "a TIFF"},
                                   {"MM\0*", "a TIFF"},
                                   {"8BPS", "a Photoshop file"},
                                   {"%PDF", "a PDF"},
                                   {"<svg", "an SVG"},
                                   {"<?xml", "XML"},
                                   {"\x89PNG", "a PNG with a damaged signature"}};
    for (const Format& format : kFormats)
        if (text_of(bytes).starts_with(format.begin)) return std::string(format.name);
    if (bytes.empty()) return "an empty file";
    std::string begin;
    for (const uint8_t byte : bytes.first(std::min<size_t>(bytes.size(), 4)))
        begin += concat(begin.empty() ? "" : " ", int{byte});
    return "a file that begins with the bytes " + begin;
}

int64_t big_endian(Span bytes) {
    int64_t number = 0;
    for (const uint8_t byte : bytes) number = number << 8 | byte;
    return number;
}

// Checks a picture's size. `max_pixels` is how many pixels a byte of the file can give.
void check_size(int64_t width, int64_t height, Span file, int64_t max_pixels,
                const std::string& name) {
    if (width < 1 || height < 1 || width > kMaxImageSide || height > kMaxImageSide ||
        width * height > kMaxImagePixels)
        bad_file(name,
                 concat("a picture of 1 to ", kMaxImageSide,
                        " pixels per side and at most ", kMaxImagePixels, " in all"),
                 concat(width, " x ", height),
                 width > 0 && height > 0 ? kShrinkImage : kReplaceImage);
    if (width * height / max_pixels > std::ssize(file))
        bad_file(name, concat("at least one byte for ", max_pixels, " pixels"),
                 concat(file.size(), " bytes for ", width, " x ", height), kReplaceImage);
}

// A PNG begins with its signature (8 bytes), then the chunk IHDR: length (4), type (4),
// width (4), height (4), ...
void check_png(Span bytes, const std::string& name) {
    // deflate unpacks a byte to at most 1032 bytes, and a byte has at most 8 pixels.
    constexpr int64_t kMaxPixelsPerByte = 1032 * 8;
    if (bytes.size() < 24 || text_of(bytes.subspan(12, 4)) != "IHDR")
        bad_file(name, "the PNG chunk IHDR first", "another chunk", kReplaceImage);
    check_size(big_endian(bytes.subspan(16, 4)), big_endian(bytes.subspan(20, 4)), bytes,
               kMaxPixelsPerByte, name);
    if (text_of(bytes).find("IEND") == std::string_view::npos)
        bad_file(name, "the PNG chunk IEND", "the end of the file", kReplaceImage);
}

// Walks over the segments of a JPEG:
//
//     FF D8 | segment | segment | ... | scan | pixels | ... | FF D9
//
//     a segment     FF, marker, length (2, itself included), data
//     DHT  FF C4    Huffman tables                  SOF  FF C0..CF   size and components
//     DQT  FF DB    quantization tables             SOS  FF DA       begins a scan
//     APP14 FF EE   Adobe's colours
//
// In the pixel data, FF 00 is the byte FF, and FF D0 to FF D7 are restart markers; any
// other marker ends the data.
class JpegWalk {
  public:
    JpegWalk(Span bytes, const std::string& name) : bytes_(bytes), name_(name) {}

    /// Checks the JPEG, and returns its bytes up to the end marker.
    Span run() {
        constexpr int kEndOfImage = 0xd9;
        for (int marker = next_marker(); marker != kEndOfImage; marker = next_marker()) {
            const Span data = next_segment();
            const bool is_frame = marker >= 0xc0 && marker <= 0xcf && marker != 0xc4;
            require(!is_frame || marker <= 0xc2, "a baseline or progressive JPEG",
                    "another kind", kConvertImage);
            if (is_frame) read_frame(data);
            if (marker == 0xc4) check_huffman_tables(data);
            if (marker == 0xdb) has_quantization_ = true;
            if (marker == 0xee) read_adobe(data);
            if (marker == 0xda) skip_scan();
        }
        require(scans_ > 0, "a scan before the end marker", "none");
        require(!is_cmyk_ || has_adobe_colours_, "Adobe's marker in a picture in CMYK",
                "none", kConvertImage);
        return bytes_.first(position_);
    }

  private:
    void require(bool condition, const char* expected, const char* found,
                 const char* next_step = kReplaceImage) const {
        if (!condition)
            bad_file(name_, expected,
                     concat(found, " (JPEG, before byte ", position_, ")"), next_step);
    }

    int next_marker() {
        require(position_ == bytes_.size() || bytes_[position_] == 0xff, "a marker FF",
                "another byte");
        while (position_ < bytes_.size() && bytes_[position_] == 0xff)
            ++position_;  // FF FF .. is padding
        require(position_ < bytes_.size(), "the end marker FF D9", "the end of the file");
        return bytes_[position_++];
    }

    Span next_segment() {
        const Span rest = bytes_.subspan(position_);
        const auto length =
            static_cast<size_t>(rest.size() < 2 ? 0 : big_endian(rest.first(2)));
        require(length >= 2 && length <= rest.size(), "a segment inside the file",
                "another length");
        position_ += length;
        return rest.subspan(2, length - 2);
    }

    void read_frame(Span data) {
        // The first scan has at least one bit for each block of 8 x 8 samples. Where two
        // components are subsampled by 4, one in each direction, that is a byte for 1024
        // pixels.
        constexpr int64_t kMaxPixelsPerByte = 1024;
        require(data.size() >= 6, "a frame header", "a shorter one");
        check_size(big_endian(data.subspan(3, 2)), big_endian(data.subspan(1, 2)), bytes_,
                   kMaxPixelsPerByte, name_);
        is_cmyk_ = data[5] == 4;
    }

    // A table has a header of one byte, sixteen counts, the numbers of codes of 1 to 16
    // bits, and then one value per code.
    void check_huffman_tables(Span data) {
        has_huffman_ = true;
        while (!data.empty()) {
            require(data.size() >= 17, "a Huffman table with 16 counts", "fewer");
            const Span counts = data.subspan(1, 16);
            const size_t values =
                std::accumulate(counts.begin(), counts.end(), size_t{0});
            require(values <= 256 && 17 + values <= data.size(),
                    "a Huffman table of at most 256 values inside its segment", "more");
            data = data.subspan(17 + values);
        }
    }

    // Two numbers of Adobe's marker are for four components: 0 is CMYK, 2 is YCCK.
    void read_adobe(Span data) {
        constexpr std::string_view kAdobe("Adobe\0", 6);
        if (data.size() >= 12 && text_of(data).starts_with(kAdobe))
            has_adobe_colours_ = data[11] == 0 || data[11] == 2;
    }

    void skip_scan() {
        constexpr int kMaxScans = 100;
        require(has_huffman_ && has_quantization_, "tables before the first scan",
                "none");
        require(++scans_ <= kMaxScans, "at most 100 scans", "more");
        for (; position_ + 1 < bytes_.size(); ++position_) {
            const int next = bytes_[position_ + 1];
            const bool stays =
                next == 0 || next == 0xff || (next >= 0xd0 && next <= 0xd7);
            if (bytes_[position_] == 0xff && !stays) return;
        }
        position_ = bytes_.size();
    }

    Span bytes_;
    const std::string& name_;
    size_t position_ = 2;  // after FF D8
    int scans_ = 0;
    bool has_huffman_ = false, has_quantization_ = false;
    bool is_cmyk_ = false, has_adobe_colours_ = false;
};

}  // namespace

void check_image_format(Span begin, const std::string& name) {
    if (!is_png(begin) && !is_jpeg(begin))
        bad_file(name, "a PNG or JPEG", describe(begin), kConvertImage);
}

Span checked_image(Span bytes, const std::string& name) {
    if (std::ssize(bytes) > kMaxImageFileBytes)
        bad_file(name, concat("at most ", kMaxImageFileBytes, " bytes"),
                 concat(bytes.size()), kShrinkImage);
    check_image_format(bytes, name);
    if (is_jpeg(bytes)) return JpegWalk(bytes, name).run();
    check_png(bytes, name);
    return bytes;
}

}  // namespace mini::data
