#include "libmini/extras/report/tensorboard.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <bit>
#include <chrono>

#include "libmini/core/machine.hpp"
#include "libmini/io/file.hpp"

namespace mini::report {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;  // of Castagnoli, lowest power first
constexpr uint32_t kMaskDelta = 0xa282ead8;

// Returns the remainders of the 256 bytes.
constexpr std::array<uint32_t, 256> make_table() {
    std::array<uint32_t, 256> table{};
    for (uint32_t byte = 0; byte < table.size(); ++byte) {
        uint32_t remainder = byte;
        for (int bit = 0; bit < 8; ++bit)
            remainder = (remainder >> 1) ^ ((remainder & 1) != 0 ? kPolynomial : 0);
        table[byte] = remainder;
    }
    return table;
}

constexpr std::array<uint32_t, 256> kTable = make_table();

constexpr uint64_t kVarint = 0, kEightBytes = 1, kLengthAndBytes = 2, kFourBytes = 5;

// Returns the bytes of an unsigned integer, lowest first.
template <typename Unsigned>
std::string little_endian(Unsigned value) {
    std::string bytes;
    for (size_t i = 0; i < sizeof(Unsigned); ++i)
        bytes += static_cast<char>((value >> (8 * i)) & 0xff);
    return bytes;
}

std::string varint(uint64_t value) {
    std::string bytes;
    for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7f) | 0x80);
    return bytes + static_cast<char>(value);
}

std::string key(uint64_t number, uint64_t wire_type) {
    return varint(number << 3 | wire_type);
}

std::string field(uint64_t number, int64_t value) {
    return key(number, kVarint) + varint(static_cast<uint64_t>(value));
}

std::string field(uint64_t number, double value) {
    return key(number, kEightBytes) + little_endian(std::bit_cast<uint64_t>(value));
}

std::string field(uint64_t number, float value) {
    return key(number, kFourBytes) + little_endian(std::bit_cast<uint32_t>(value));
}

std::string field(uint64_t number, const std::string& bytes) {
    return key(number, kLengthAndBytes) + varint(bytes.size()) + bytes;
}

double seconds_since_1970() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
}

// Returns events.out.tfevents.SECONDS.HOST.PROCESS.NUMBER in the folder; no other writer has
// this path. TensorBoard reads every file with "tfevents" in its name, in the order of the
// names; microseconds order the files of a process that fails and of the one that resumes in
// the same second.
std::string new_path(const std::string& folder) {
    static std::atomic<int> number = 0;
    io::create_folder(folder);
    return fmt::format("{}/events.out.tfevents.{:.6f}.{}.{}.{}", folder,
                       seconds_since_1970(), host_name(), ::getpid(), number++);
}

}  // namespace

uint32_t crc32c(std::string_view bytes) {
    uint32_t crc = ~uint32_t{0};
    for (const char byte : bytes)
        crc = (crc >> 8) ^ kTable[(crc ^ static_cast<uint8_t>(byte)) & 0xff];
    return ~crc;
}

uint32_t masked_crc32c(std::string_view bytes) {
    return std::rotr(crc32c(bytes), 15) + kMaskDelta;
}

std::string record_of(std::string_view data) {
    const std::string length = little_endian(uint64_t{data.size()});
    std::string record = length + little_endian(masked_crc32c(length));
    record += data;
    return record + little_endian(masked_crc32c(data));
}

std::string scalar_event(double wall_time, int64_t step, const std::string& tag,
                         float value) {
    const std::string summary = field(1, field(1, tag) + field(2, value));
    return field(1, wall_time) + field(2, step) + field(5, summary);
}

std::string version_event(double wall_time) {
    return field(1, wall_time) + field(3, std::string("brain.Event:2"));
}

std::string session_start_event(double wall_time, int64_t step) {
    constexpr int64_t kStart = 1;
    return field(1, wall_time) + field(2, step) + field(7, field(1, kStart));
}

SummaryWriter::SummaryWriter(const std::string& folder, std::optional<int64_t> purge_step)
    : file_(new_path(folder)) {
    file_.append(record_of(version_event(seconds_since_1970())));
    if (purge_step)
        file_.append(record_of(session_start_event(seconds_since_1970(), *purge_step)));
}

void SummaryWriter::add_scalar(const std::string& tag, double value, int64_t step) {
    file_.append(record_of(
        scalar_event(seconds_since_1970(), step, tag, static_cast<float>(value))));
}

}  // namespace mini::report
