// TensorBoard's event files: scalars that `tensorboard --logdir FOLDER` draws as curves.
//
//     file      record record record ...       the first one only states the version
//     record    length          8 bytes, little endian
//               checksum        4 bytes, of the length   (CRC-32C, masked)
//               Event           `length` bytes
//               checksum        4 bytes, of the Event
//     Event     wall_time = 1 (double), step = 2 (int64), file_version = 3 (string),
//               summary = 5 (Summary: value = 1 (Value: tag = 1, simple_value = 2)),
//               session_log = 7 (SessionLog: status = 1, which is 1 for START)
//
// An Event is a protocol buffer: each field is its key, number * 8 + wire type, and its
// value. Wire type 0 is a varint (seven bits a byte, lowest first, the top bit says that
// more follow), 1 is eight bytes, 2 is a length and as many bytes, 5 is four bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "libmini/extras/report/append_file.hpp"

namespace mini::report {

/// Returns the CRC-32C of `bytes`: 0xe3069283 for "123456789" (RFC 3720).
uint32_t crc32c(std::string_view bytes);

/// Returns the checksum as record files store it: rotated, and with a constant added.
/// Otherwise the checksum of data that contains its own checksum would be a constant.
uint32_t masked_crc32c(std::string_view bytes);

/// Returns the record of `data`: framed by its length and two checksums.
std::string record_of(std::string_view data);

/// Returns the Event of a scalar, as a protocol buffer.
std::string scalar_event(double wall_time, int64_t step, const std::string& tag,
                         float value);

/// Returns the Event that begins a file, as a protocol buffer.
std::string version_event(double wall_time);

/// Returns the Event at which a session starts, as a protocol buffer: TensorBoard drops
/// the events of earlier sessions from `step` on.
std::string session_start_event(double wall_time, int64_t step);

/// Writes scalars to a new event file in a folder (`SummaryWriter`). TensorBoard merges
/// all event files of a folder, so a resumed run adds a file.
class SummaryWriter {
  public:
    /// Creates the file, whose name no other writer has, and the folder if it does not
    /// exist. With `purge_step`, voids the scalars of earlier files from this step on.
    /// Throws BadFile if the file cannot be created.
    explicit SummaryWriter(const std::string& folder,
                           std::optional<int64_t> purge_step = std::nullopt);

    /// Appends a scalar with the current time (`add_scalar`). Tags with a common part
    /// before a slash, as in "time/forward", are drawn in one group.
    void add_scalar(const std::string& tag, double value, int64_t step);

  private:
    AppendFile file_;
};

}  // namespace mini::report
