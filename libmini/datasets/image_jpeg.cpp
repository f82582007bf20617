// Checks a JPEG.
//
//     FF D8 | segment | segment | ... | scan | pixels | ... | FF D9
//
//     a segment     FF, marker, length (2, itself included), data
//     DQT  FF DB    quantization tables             SOF  FF C0..C2   size and components
//     DHT  FF C4    Huffman tables                  SOS  FF DA       begins a scan
//     APP1 FF E1    EXIF                            APP14 FF EE      Adobe's colours
//
// In the pixel data, FF 00 is the byte FF, and FF D0 to FF D7 are restart markers; any
// other marker ends the data.

#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/datasets/image_check.hpp"
#include "libmini/datasets/regular_file.hpp"

namespace mini::data {
namespace {

using Span = std::span<const uint8_t>;

constexpr int kMaxScans = 100;  // each scan passes over the whole picture
constexpr int kEndOfImage = 0xd9;

// The first scan has at least one bit for each block of 8 x 8 samples. Where two
// components are subsampled by 4, one in each direction, that is a byte for 1024 pixels.
constexpr int64_t kMaxPixelsPerByte = 1024;

// The colours of four components in Adobe's marker. In both, the samples are inverted.
enum class AdobeColours : uint8_t { kCmyk = 0, kYcck = 2 };

std::string hex_byte(int byte) {
    constexpr char kDigits[] = "0123456789abcdef";
    return {kDigits[byte >> 4 & 15], kDigits[byte & 15]};
}

int64_t big_endian_16(Span two) { return int64_t{two[0]} << 8 | two[1]; }

bool is_frame(int marker) {  // C4, C8 and CC are not frames
    return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 &&
           marker != 0xcc;
}

class JpegChecker {
  public:
    JpegChecker(Span bytes, const std::string& name) : bytes_(bytes), name_(name) {}

    /// Checks the JPEG.
    CheckedImage run() {
        for (int marker = next_marker(); marker != kEndOfImage; marker = next_marker()) {
            const Span data = next_segment(marker);
            if (is_frame(marker)) read_frame(marker, data);
            if (marker == 0xc4) read_huffman_tables(data);
            if (marker == 0xdb) read_quantization_tables(data);
            if (marker == 0xe1) read_exif(data);
            if (marker == 0xee) read_adobe(data);
            if (marker == 0xda) {
                if (scans_ == 0) first_scan_ = position_ - data.size() - 4;
                read_scan(data);
                skip_pixels();
            }
        }
        for (const Component& component : components_)
            if (!component.has_scan)
                reject("a scan of every component before the end",
                       "a component without one");
        if (components_.empty()) reject("a picture before the end marker", "none");
        if (image_.width * image_.height / kMaxPixelsPerByte > std::ssize(bytes_))
            reject(
                concat("at least one byte for ", kMaxPixelsPerByte, " pixels"),
                concat(bytes_.size(), " bytes for ", image_.width, " x ", image_.height));
        copy_file();
        return std::move(image_);
    }

  private:
    struct Component {
        int id, quantization;
        bool has_scan = false;
    };

    [[noreturn]] void reject(const std::string& expected, const std::string& found,
                             const char* next_step = kReplaceImage) const {
        bad_file(name_, expected, concat(found, " (JPEG, before byte ", position_, ")"),
                 next_step);
    }
    void require(bool condition, const char* expected, const char* found) const {
        if (!condition) reject(expected, found);
    }

    int next_marker() {
        if (position_ < bytes_.size() && bytes_[position_] != 0xff)
            reject("a marker FF", hex_byte(bytes_[position_]));
        while (position_ < bytes_.size() && bytes_[position_] == 0xff)
            ++position_;  // FF FF .. is padding
        if (position_ >= bytes_.size())
            reject("the end marker FF D9", "the end of the file");
        return bytes_[position_++];
    }

    Span next_segment(int marker) {
        const size_t room = bytes_.size() - position_;
        const int64_t length =
            room >= 2 ? big_endian_16(bytes_.subspan(position_, 2)) : 0;
        if (marker < 0xc0 || (marker >= 0xd0 && marker <= 0xd8) || length < 2 ||
            static_cast<size_t>(length) > room)
            reject(concat("a segment FF ", hex_byte(marker), " of 2 to ", room, " bytes"),
                   concat("a length of ", length));
        const Span data = bytes_.subspan(position_ + 2, static_cast<size_t>(length) - 2);
        position_ += static_cast<size_t>(length);
        return data;
    }

    void read_frame(int marker, Span data) {
        if (marker > 0xc2)
            reject("a baseline or progressive JPEG", "one of kind FF " + hex_byte(marker),
                   kConvertImage);
        require(components_.empty(), "one frame", "a second one");
        const bool whole = data.size() >= 6 && data.size() == 6 + size_t{3} * data[5];
        require(whole && data[5] > 0, "a frame header of the length of its components",
                "another length");
        if (data[0] != 8)
            reject("8 bits per sample", concat(int{data[0]}), kConvertImage);
        image_.width = big_endian_16(data.subspan(3, 2));
        image_.height = big_endian_16(data.subspan(1, 2));
        check_image_size(image_.width, image_.height, name_);
        progressive_ = marker == 0xc2;
        for (Span rest = data.subspan(6); !rest.empty(); rest = rest.subspan(3)) {
            require(rest[2] < 4, "quantization tables 0 to 3", "another number");
            components_.push_back({.id = rest[0], .quantization = rest[2]});
        }
    }

    // A table has sixteen counts, the numbers of codes of 1 to 16 bits, and then one
    // value per code.
    void read_huffman_tables(Span data) {
        while (!data.empty()) {
            require(data.size() >= 17 && data[0] >> 4 < 2 && (data[0] & 15) < 4,
                    "Huffman tables 0 to 3 with 16 counts", "another header");
            const Span counts = data.subspan(1, 16);
            const size_t values =
                std::accumulate(counts.begin(), counts.end(), size_t{0});
            require(values <= 256 && 17 + values <= data.size(),
                    "a Huffman table of at most 256 values inside its segment", "more");
            auto& tables = data[0] >> 4 == 0 ? has_dc_ : has_ac_;
            tables[data[0] & 15] = true;
            data = data.subspan(17 + values);
        }
    }

    void read_quantization_tables(Span data) {
        while (!data.empty()) {
            const size_t size = data[0] >> 4 == 0 ? 65 : 129;  // of 8 or 16 bits
            require(data[0] >> 4 < 2 && (data[0] & 15) < 4 && data.size() >= size,
                    "quantization tables 0 to 3 of 64 values", "something else");
            has_quantization_[data[0] & 15] = true;
            data = data.subspan(size);
        }
    }

    void read_scan(Span data) {
        require(!components_.empty(), "a frame before the first scan", "none");
        require(!data.empty() && data[0] >= 1 && data[0] <= 4 &&
                    data.size() == 4 + size_t{2} * data[0],
                "a scan of 1 to 4 components", "something else");
        require(++scans_ <= kMaxScans, "at most 100 scans", "more");

        // Find the tables that the scan needs; a progressive scan may need fewer.
        const Span range = data.last(3);  // first and last coefficient, high and low bit
        const bool needs_dc = !progressive_ || (range[0] == 0 && range[2] >> 4 == 0);
        const bool needs_ac = !progressive_ || range[0] > 0;
        for (Span rest = data.subspan(1, size_t{2} * data[0]); !rest.empty();
             rest = rest.subspan(2)) {
            const int dc = rest[1] >> 4, ac = rest[1] & 15;
            Component& component = find_component(rest[0]);
            component.has_scan = true;
            require(dc < 4 && ac < 4 && (!needs_dc || has_dc_[static_cast<size_t>(dc)]) &&
                        (!needs_ac || has_ac_[static_cast<size_t>(ac)]),
                    "Huffman tables that were defined",
                    "a scan that uses an undefined one");
            require(has_quantization_[static_cast<size_t>(component.quantization)],
                    "a quantization table that was defined",
                    "a scan that uses an undefined one");
        }
    }

    void read_exif(Span data) {
        const std::string_view text(reinterpret_cast<const char*>(data.data()),
                                    data.size());
        if (has_exif_ || !text.starts_with("Exif")) return;  // XMP has the marker, too
        has_exif_ = true;
        image_.orientation = exif_orientation(data);
    }

    // Without Adobe's marker four components are CMYK; with an unknown number they are
    // YCCK. libjpeg decides in this way.
    void read_adobe(Span data) {
        const std::string_view text(reinterpret_cast<const char*>(data.data()),
                                    data.size());
        if (data.size() < 12 || !text.starts_with("Adobe")) return;
        colours_ = data[11] == 0 ? AdobeColours::kCmyk : AdobeColours::kYcck;
    }

    // Copies the file. stb takes four components without Adobe's marker for other
    // colours, so writes the marker in front of the first scan.
    void copy_file() {
        const Span file = bytes_.first(position_);
        image_.file.assign(file.begin(), file.end());
        if (components_.size() != 4) return;
        const std::array<uint8_t, 16> marker = {
            0xff, 0xee, 0,   14, 'A', 'd', 'o', 'b',
            'e',  0,    100, 0,  0,   0,   0,   static_cast<uint8_t>(colours_)};
        image_.file.insert(image_.file.begin() + static_cast<std::ptrdiff_t>(first_scan_),
                           marker.begin(), marker.end());
    }

    Component& find_component(int id) {
        for (Component& component : components_)
            if (component.id == id) return component;
        reject("a scan of the frame's components", concat("component ", id));
    }

    void skip_pixels() {
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
    bool progressive_ = false;
    bool has_exif_ = false;
    AdobeColours colours_ = AdobeColours::kCmyk;  // of four components
    size_t first_scan_ = 0;                       // the offset of its marker
    CheckedImage image_;
    std::vector<Component> components_;
    std::array<bool, 4> has_dc_{}, has_ac_{}, has_quantization_{};
};

}  // namespace

bool is_jpeg(Span bytes) {
    return bytes.size() >= 3 && bytes[0] == 0xff && bytes[1] == 0xd8 && bytes[2] == 0xff;
}

CheckedImage checked_jpeg(Span bytes, const std::string& name) {
    return JpegChecker(bytes, name).run();
}

}  // namespace mini::data
