#include "libmini/datasets/cifar10.hpp"

#include <filesystem>

#include <unistd.h>

#include "libmini/core/error.hpp"
#include "tests/data/support.hpp"
#include "tests/datasets/damage.hpp"
#include "tests/support/catch.hpp"

using mini::BadFile;
using mini::Shape;
using mini::data::load_cifar10;

namespace {

// Returns records with labels first, first + 1, ... modulo 10; the pixels of record i are
// i in red, 100 + i in green, 200 + i in blue.
Bytes records(int count, int first = 0) {
    Bytes bytes;
    for (int i = 0; i < count; ++i) {
        bytes.push_back(static_cast<uint8_t>((first + i) % 10));
        for (const int colour : {0, 100, 200})
            bytes.insert(bytes.end(), 1024, static_cast<uint8_t>(colour + i));
    }
    return bytes;
}

// Writes five training files of two images each and a test file of three.
void write_cifar10(const std::string& folder) {
    for (int i = 1; i <= 5; ++i)
        write_file(folder + "/data_batch_" + std::to_string(i) + ".bin",
                   records(2, 2 * i - 2));
    write_file(folder + "/test_batch.bin", records(3));
}

std::string cifar10_error(const std::string& folder, bool train = false) {
    const std::string message = message_of<BadFile>([&] { load_cifar10(folder, train); });
    CHECK(message.find('\n') == std::string::npos);
    CHECK((message.empty() || contains(message, "cifar-10-binary.tar.gz")));
    return message;
}

// Returns the error message for a test file with these contents.
std::string error_of(const Bytes& contents) {
    const Folder folder;
    write_file(folder / "test_batch.bin", contents);
    const std::string message = cifar10_error(folder.path());
    CHECK((message.empty() || message.rfind(folder / "test_batch.bin", 0) == 0));
    return message;
}

}  // namespace

TEST_CASE("CIFAR-10 loads its five training files in order and its test file") {
    const Folder folder;
    write_cifar10(folder.path());
    const auto train = load_cifar10(folder.path(), true, std::nullopt);
    REQUIRE(train->size() == 10);
    for (int64_t i = 0; i < 10; ++i) CHECK(train->label(i) == i);
    const auto test = load_cifar10(folder.path(), false, std::nullopt);
    CHECK(test->size() == 3);
    CHECK(std::string(mini::data::kCifar10Classes[0]) == "airplane");
    CHECK(std::string(mini::data::kCifar10Classes[9]) == "truck");
}

TEST_CASE("CIFAR-10's images are red and green and blue planes as bytes or normalised") {
    const Folder folder;
    write_cifar10(folder.path());
    const mini::Tensor raw =
        load_cifar10(folder.path(), false, std::nullopt)->get(2).data;
    CHECK(raw.shape() == Shape{3, 32, 32});
    const mini::Tensor image = load_cifar10(folder.path(), false)->get(2).data;
    CHECK(image.shape() == Shape{3, 32, 32});
    const float mean[] = {0.4914f, 0.4822f, 0.4465f}, std[] = {0.2470f, 0.2435f, 0.2616f};
    for (int64_t c = 0; c < 3; ++c)
        for (const int64_t pixel : {0, 1023}) {
            const int byte = static_cast<int>(100 * c + 2);
            CHECK(raw.data<uint8_t>()[c * 1024 + pixel] == byte);
            CHECK(image.data<float>()[c * 1024 + pixel] ==
                  (static_cast<float>(byte) / 255.0f - mean[c]) / std[c]);
        }
}

TEST_CASE("CIFAR-10 is found in the folder that its archive unpacks to") {
    const Folder folder;
    std::filesystem::create_directory(folder / "cifar-10-batches-bin");
    write_cifar10(folder / "cifar-10-batches-bin");
    CHECK(load_cifar10(folder.path(), true)->size() == 10);
    CHECK(load_cifar10(folder / "cifar-10-batches-bin", false)->size() == 3);
}

TEST_CASE("the error names all missing files of CIFAR-10") {
    const Folder folder;
    CHECK(contains(cifar10_error(folder.path(), true),
                   "found no data_batch_1.bin, data_batch_2.bin, data_batch_3.bin, "
                   "data_batch_4.bin, data_batch_5.bin; download"));
    write_cifar10(folder.path());
    std::filesystem::remove(folder / "data_batch_2.bin");
    std::filesystem::remove(folder / "data_batch_5.bin");
    CHECK(contains(cifar10_error(folder.path(), true),
                   folder.path() + ": expected CIFAR-10's train files, found no "
                                   "data_batch_2.bin, data_batch_5.bin;"));
    CHECK(cifar10_error(folder.path(), false) == "");
    CHECK(contains(cifar10_error("/no/such/folder"), "found no test_batch.bin"));
}

TEST_CASE("an empty CIFAR-10 file is rejected") {
    CHECK(contains(error_of({}), "expected one or more records of 3073 bytes, found 0"));
}

TEST_CASE("a CIFAR-10 file whose size is not a multiple of the record size is rejected") {
    Bytes bytes = records(2);
    CHECK(
        contains(error_of(bytes + Bytes{0}), "found 6147 bytes (2 records and 1 bytes)"));
    bytes.pop_back();
    CHECK(contains(error_of(bytes), "found 6145 bytes (1 records and 3072 bytes)"));
    for (size_t length = 1; length < 16; ++length)
        CHECK(contains(error_of(Bytes(length)), "0 records and"));
}

TEST_CASE("a CIFAR-10 label above 9 is rejected and the error names the record") {
    Bytes bytes = records(3);
    for (const uint8_t label : {10, 255}) {
        bytes[2 * 3073] = label;
        CHECK(contains(error_of(bytes), "expected labels 0 to 9, found " +
                                            std::to_string(label) +
                                            " in record 2, byte 6146"));
    }
}

TEST_CASE("a CIFAR-10 file that is far too long is rejected before it is read") {
    const Folder folder;
    write_file(folder / "test_batch.bin", {});
    const int64_t size = int64_t{3073} << 20;  // sparse: takes no space on the disk
    REQUIRE(::truncate((folder / "test_batch.bin").c_str(), size) == 0);
    CHECK(contains(cifar10_error(folder.path()),
                   "expected at most 61460000 bytes, found 3222274048"));
    CHECK(peak_growth_mib([&] { load_cifar10(folder.path(), false); }) < 8);
}

TEST_CASE("one bad CIFAR-10 file of five is found before the others are read") {
    const Folder folder;
    write_cifar10(folder.path());
    write_file(folder / "data_batch_1.bin", Bytes(3073, 99));  // not read
    write_file(folder / "data_batch_5.bin", Bytes(3072));
    CHECK(contains(cifar10_error(folder.path(), true), "data_batch_5.bin: expected one"));
}
