// TensorBoard's own reader checks whole files in tensorboard_reader_test.py; here are the
// bytes that the formats' documents prescribe, so that each part is checked alone.

#include "libmini/extras/report/tensorboard.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/extras/report/append_file.hpp"
#include "tests/io/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/message_of.hpp"

using namespace mini;
using namespace std::string_literals;
using test::contains, test::message_of;

TEST_CASE("crc32c gives the checksums of RFC 3720") {
    CHECK(report::crc32c("") == 0);
    CHECK(report::crc32c("123456789") == 0xe3069283);
    CHECK(report::crc32c(std::string(32, '\0')) == 0x8a9136aa);
    CHECK(report::crc32c(std::string(32, '\xff')) == 0x62a8ab43);
}

TEST_CASE("a masked checksum is rotated by 15 bits and has a constant added") {
    // 0xe3069283 rotated right by 15 bits is 0x2507c60d.
    CHECK(report::masked_crc32c("123456789") == 0x2507c60d + 0xa282ead8);
}

TEST_CASE("a record has a length, its checksum, the data and their checksum") {
    const std::string record = report::record_of("abc");
    REQUIRE(record.size() == 8 + 4 + 3 + 4);
    CHECK(record.substr(0, 8) == "\3\0\0\0\0\0\0\0"s);
    CHECK(record.substr(12, 3) == "abc");
    const auto four_bytes = [&](size_t at) {
        uint32_t value = 0;
        for (size_t i = 0; i < 4; ++i)
            value |= static_cast<uint32_t>(static_cast<uint8_t>(record[at + i]))
                     << (8 * i);
        return value;
    };
    CHECK(four_bytes(8) == report::masked_crc32c(record.substr(0, 8)));
    CHECK(four_bytes(15) == report::masked_crc32c("abc"));
}

TEST_CASE("an event is a protocol buffer of time, step and one summary value") {
    // wall_time 1.0; step 300 (a varint of two bytes); tag "loss"; value 0.5.
    const std::string value = "\x0a\4loss\x15\0\0\0\x3f"s;  // 11 bytes
    const std::string summary = "\x0a\x0b"s + value;        // 13 bytes
    CHECK(report::scalar_event(1.0, 300, "loss", 0.5f) ==
          "\x09\0\0\0\0\0\0\xf0\x3f\x10\xac\x02\x2a\x0d"s + summary);
    CHECK(report::version_event(1.0) ==
          "\x09\0\0\0\0\0\0\xf0\x3f\x1a\x0d"s + "brain.Event:2");
}

TEST_CASE("a scalar is in the file when add_scalar returns") {
    const Folder folder;
    report::SummaryWriter writer(folder.path());
    const auto file = std::filesystem::directory_iterator(folder.path())->path().string();
    CHECK(contains(file, "tfevents"));
    const size_t before = read_text(file).size();
    writer.add_scalar("loss", 0.5, 300);
    const std::string record =
        report::record_of(report::scalar_event(1.0, 300, "loss", 0.5f));
    CHECK(read_text(file).size() == before + record.size());
}

TEST_CASE("a start of a session is status 1 of field 7, at its step") {
    CHECK(report::session_start_event(1.0, 300) ==
          "\x09\0\0\0\0\0\0\xf0\x3f\x10\xac\x02\x3a\x02\x08\x01"s);
    const Folder folder;
    report::SummaryWriter writer(folder / "new/run", 300);  // creates the folder
    const auto file = std::filesystem::directory_iterator(folder / "new/run")->path();
    const std::string text = read_text(file.string());
    CHECK(text.size() ==
          report::record_of(report::version_event(1.0)).size() +
              report::record_of(report::session_start_event(1.0, 300)).size());
    CHECK(contains(text, "\x10\xac\x02\x3a\x02\x08\x01"s));
}

TEST_CASE("writers of one folder have files of their own, in the order of their names") {
    const Folder folder;
    std::vector<std::unique_ptr<report::SummaryWriter>> owners;
    for (int i = 0; i < 3; ++i) {
        owners.push_back(std::make_unique<report::SummaryWriter>(folder.path()));
        for (int k = 0; k < i; ++k) owners.back()->add_scalar("loss", 0.5, k);
    }
    CHECK(folder.names().size() == 3);
    const size_t empty = report::record_of(report::version_event(1.0)).size();
    const size_t event =
        report::record_of(report::scalar_event(1.0, 1, "loss", 0.5f)).size();
    std::vector<size_t> sizes;
    for (const std::string& name : folder.names())
        sizes.push_back(read_text(folder / name).size());
    CHECK(sizes[0] == empty);
    CHECK(sizes[1] > empty);
    CHECK(sizes[2] == sizes[1] + event);
}

TEST_CASE("a file of lines keeps its lines and ends a line that was cut off") {
    const Folder folder;
    const std::string path = folder.path() + "/lines";
    const auto append = [&](const std::string& line) {
        report::AppendFile file(path);
        file.end_line();
        file.append(line + "\n");
    };
    append("one");
    append("two");
    CHECK(read_text(path) == "one\ntwo\n");
    write_text(path, "one\ntw");
    append("three");
    CHECK(read_text(path) == "one\ntw\nthree\n");
}

TEST_CASE("a file that cannot grow names itself") {
    CHECK(contains(message_of<BadFile>([] { report::AppendFile("/nowhere/lines"); }),
                   "/nowhere/lines: cannot open"));
    const Folder folder;
    REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
    for (const std::string& path : {folder / "pipe", std::string("/dev/null")})
        CHECK(contains(message_of<BadFile>([&] { report::AppendFile lines(path); }),
                       path + ": "));
    report::AppendFile file(folder.path() + "/lines");
    const FileSizeLimit limit(4);
    CHECK(contains(message_of<BadFile>([&] { file.append("five!"); }),
                   "/lines: cannot write"));
}
