// A file that grows by whole records, and that other programs read while it grows.
//
// Each record is one write(2) at the end, without a buffer in this process. So a
// record is in the file once append() has returned, even if the process is killed in the
// next instruction. (After a power failure the last records may be missing: nothing waits
// for the disk, unlike AtomicFile in file.hpp.)

#pragma once

#include <fstream>
#include <string>
#include <string_view>

namespace mini::report {

/// A file of records, each written by one call of write(2).
class AppendFile {
  public:
    /// Opens the file, or creates it. Throws BadFile, naming the path, if that fails, or
    /// if it is not a regular file: writing to a pipe could block.
    explicit AppendFile(const std::string& path);

    /// Appends one record. Throws BadFile if not all bytes could be written.
    void append(std::string_view record);

    /// In a file of lines, ends a last line that has no end, since its writer was killed while
    /// writing, so that the next line starts at the left margin.
    void end_line();

  private:
    std::string path_;
    std::ofstream file_;
};

}  // namespace mini::report
