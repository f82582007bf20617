#include "libmini/io/file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "libmini/core/error.hpp"
#include "tests/io/support.hpp"
#include "tests/support/catch.hpp"

using mini::BadFile;
using mini::io::AtomicFile;
using mini::io::InputFile;
using Names = std::vector<std::string>;

namespace {

std::span<const std::byte> bytes(const std::string& text) {
    return std::as_bytes(std::span(text));
}

}  // namespace

TEST_CASE("commit creates the file and write does not") {
    const Folder folder;
    const std::string path = folder / "model";
    AtomicFile file(path);
    file.write(bytes("first "));
    file.write(bytes("second"));
    CHECK_FALSE(std::filesystem::exists(path));
    file.commit();
    CHECK(folder.names() == Names{"model"});
    CHECK(read_text(path) == "first second");
}

TEST_CASE("a full disk throws BadFile with the reason and leaves only the old file") {
    const Folder folder;
    const std::string path = folder / "model";
    write_text(path, "old");
    const std::string message = message_of<BadFile>([&] {
        const FileSizeLimit limit(1000);
        AtomicFile file(path);
        file.write(bytes(std::string(5000, 'x')));
    });
    CHECK(message == path + ": write failed: File too large");
    CHECK(folder.names() == Names{"model"});
    CHECK(read_text(path) == "old");
}

TEST_CASE("a new file has the permissions that the umask allows") {
    const Folder folder;
    const mode_t before = umask(022);
    AtomicFile file(folder / "model");
    umask(before);
    file.commit();
    struct stat status = {};
    REQUIRE(stat((folder / "model").c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0644);
}

TEST_CASE("the error message for a missing folder has the path and the reason") {
    const Folder folder;
    const std::string missing = folder / "missing/model";
    CHECK(message_of<BadFile>([&] { AtomicFile file(missing); }) ==
          missing +
              ": creating a temporary file beside it failed: No such file or directory");
    write_text(folder / "file", "");
    const std::string below_file = folder / "file/model";
    CHECK(message_of<BadFile>([&] { AtomicFile file(below_file); }) ==
          below_file + ": creating a temporary file beside it failed: Not a directory");
}

TEST_CASE("a folder or a pipe or a device is neither replaced nor read") {
    const Folder folder;
    const std::string pipe = folder / "pipe";
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    for (const std::string& path : {folder / ".", pipe, std::string("/dev/null")}) {
        CAPTURE(path);
        const bool is_folder = path == folder / ".";
        CHECK(message_of<BadFile>([&] { AtomicFile file(path); }) ==
              path + ": exists and is not a regular file; not replacing it");
        CHECK(message_of<BadFile>([&] { InputFile file(path); }) ==
              path + ": not a regular file, but " +
                  (is_folder ? "a directory" : "a pipe, socket or device"));
    }
}

TEST_CASE("check_can_save leaves no file, and throws where a file cannot be saved") {
    const Folder folder;
    const auto error = [](const std::string& path, size_t bytes = 1) {
        return message_of<BadFile>([&] { mini::io::check_can_save(path, bytes); });
    };
    write_text(folder / "old", "old");
    std::filesystem::create_symlink("old", folder / "link");
    for (const std::string name : {"new", "old", "link"})
        CHECK(error(folder / name) == "");
    CHECK(folder.names() == Names{"link", "old"});
    CHECK(read_text(folder / "old") == "old");

    std::filesystem::create_symlink("nowhere", folder / "dangling");
    CHECK(error(folder / "dangling") ==
          folder / "dangling" + ": is a symbolic link to nowhere, which does not exist");
    CHECK(error("/dev/full") != "");
    CHECK(error("/proc/file") != "");
    CHECK(error(folder / "no/file") != "");
    CHECK(error(folder / "old/") != "");
    CHECK(error(folder / std::string(260, 'x')) != "");
}

TEST_CASE("check_can_save throws if the disk has no space for the file") {
    const Folder folder;
    const FileSizeLimit limit(1000);
    CHECK_NOTHROW(mini::io::check_can_save(folder / "file", 1000));
    CHECK(message_of<BadFile>([&] { mini::io::check_can_save(folder / "file", 1001); }) !=
          "");
    CHECK(folder.names().empty());
}

TEST_CASE("read returns the requested bytes and reports a file that ends too early") {
    const Folder folder;
    const std::string path = folder / "model";
    write_text(path, "0123456789");
    const InputFile file(path);
    CHECK(file.size() == 10);

    std::string middle(4, ' ');
    file.read(3, std::as_writable_bytes(std::span(middle)));
    CHECK(middle == "3456");
    CHECK(message_of<BadFile>([&] {
              file.read(8, std::as_writable_bytes(std::span(middle)));
          }) == path + ": ends at byte 10, 2 bytes too early");
    CHECK(message_of<BadFile>([&] { InputFile absent(folder / "absent"); }) ==
          folder / "absent" + ": open failed: No such file or directory");
}
