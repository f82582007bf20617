#include "libmini/datasets/mnist.hpp"

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include "libmini/core/error.hpp"
#include "tests/data/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/golden.hpp"

using mini::BadFile;
using mini::Shape;
using mini::data::ImageDataset;
using mini::data::load_mnist;
using mini::data::mnist_normalize;

namespace {

// Returns the error message of load_mnist for the train part of `folder`, or "".
std::string mnist_error(const Folder& folder) {
    const std::string message =
        message_of<BadFile>([&] { load_mnist(folder.path(), true); });
    CHECK(message.find('\n') == std::string::npos);
    CHECK((message.empty() || contains(message, "fetch_mnist")));
    return message;
}

std::string real_mnist() {
    const char* folder = std::getenv("MINI_DATA_DIR");
    return folder ? std::string(folder) + "/mnist" : "";
}

}  // namespace

TEST_CASE(
    "each of the 256 bytes is normalised to a float bitwise identical to PyTorch's") {
    const ImageDataset bytes(ramp(256, 256), {0}, {1, 16, 16}, mnist_normalize());
    const std::vector<float> values = bytes.get(0).data.to_vector<float>();
    CHECK(values[0] == -0x1.b264e2p-2f);
    CHECK(values[255] == 0x1.69267ap+1f);
    // The digest of torch.arange(256).float().div(255).sub(0.1307).div(0.3081).
    CHECK(digest(values) ==
          "0103dbab6b16bfcaea0aa75d7377b4b22bb6792081600921bee4a17ff9c4d33e");
}

TEST_CASE("ImageDataset returns images and labels one by one and in batches") {
    const int channels = GENERATE(1, 3);
    const bool normalized = GENERATE(true, false);
    CAPTURE(channels, normalized);
    std::optional<ImageDataset::Normalize> normalize;
    if (normalized)
        normalize = {.mean = std::vector<float>(static_cast<size_t>(channels), 0.0f),
                     .std = std::vector<float>(static_cast<size_t>(channels), 1.0f)};
    const int64_t pixels = channels * 6;
    const ImageDataset images(ramp(static_cast<size_t>(3 * pixels), 256), {4, 9, 0},
                              {channels, 2, 3}, normalize);
    CHECK(images.size() == 3);
    CHECK(Shape{images.channels(), images.height(), images.width()} ==
          Shape{channels, 2, 3});
    CHECK(images.get(1).label() == 9);
    CHECK(images.pixels(2)[5] == 2 * pixels + 5);

    // One sample, byte by byte.
    const mini::Tensor image = images.get(1).data;
    CHECK(image.shape() == Shape{channels, 2, 3});
    CHECK(image.dtype() == (normalized ? mini::DType::kFloat32 : mini::DType::kUInt8));
    for (int64_t i = 0; i < pixels; ++i) {
        const auto byte = static_cast<uint8_t>(pixels + i);
        const bool right = normalized ? image.data<float>()[i] == byte / 255.0f
                                      : image.data<uint8_t>()[i] == byte;
        REQUIRE(right);
    }

    // A batch equals the stacked samples.
    const std::vector<int64_t> indices = {2, 0};
    const mini::data::Batch batch = images.get_batch(indices);
    CHECK(batch.data.shape() == Shape{2, channels, 2, 3});
    CHECK(batch.target.to_vector<int64_t>() == std::vector<int64_t>{0, 4});
    const mini::data::Batch stacked = mini::data::collate({images.get(2), images.get(0)});
    CHECK(batch.data.dtype() == stacked.data.dtype());
    CHECK(std::memcmp(batch.data.raw_data(), stacked.data.raw_data(),
                      batch.data.bytes()) == 0);
}

TEST_CASE("ImageDataset normalises each channel with its own mean and std") {
    const ImageDataset images({255, 255, 255}, {0}, {3, 1, 1},
                              {{.mean = {0.5f, 0.0f, 1.0f}, .std = {0.5f, 0.25f, 2.0f}}});
    CHECK(images.get(0).data.to_vector<float>() == std::vector<float>{1, 4, 0});
    const std::vector<int64_t> indices = {0};
    CHECK(images.get_batch(indices).data.to_vector<float>() ==
          std::vector<float>{1, 4, 0});
}

TEST_CASE("the error of an ImageDataset names the invalid index and the size") {
    const ImageDataset images(ramp(6, 256), {4}, {1, 2, 3}, mnist_normalize());
    for (const int64_t i : {-1, 1}) {
        const std::vector<int64_t> batch = {0, i};
        const std::string text =
            "sample " + std::to_string(i) + ": index out of range; the dataset has 1";
        CHECK(message_of<mini::Error>([&] { images.get(i); }) == text);
        CHECK(message_of<mini::Error>([&] { images.get_batch(batch); }) == text);
        CHECK(message_of<mini::Error>([&] { images.pixels(i); }) == text);
    }
}

TEST_CASE("ImageDataset rejects pixels that do not fit its labels") {
    CHECK_THROWS_AS(ImageDataset(ramp(7, 256), {4}, {1, 2, 3}), mini::ShapeError);
    CHECK_THROWS_AS(ImageDataset(ramp(12, 256), {4}, {1, 2, 3}), mini::ShapeError);
    for (const Shape& image :
         {Shape{0, 2, 3}, Shape{1, 0, 3}, Shape{-1, -2, 3}, Shape{2, 3}, Shape{}})
        CHECK_THROWS_AS(ImageDataset({}, {}, image), mini::ShapeError);
}

TEST_CASE("ImageDataset rejects a std of 0 and a wrong number of means or stds") {
    const auto message = [](const ImageDataset::Normalize& normalize) {
        return message_of<mini::UsageError>([&] {
            ImageDataset(ramp(6, 256), {4}, {2, 1, 3}, normalize);
        });
    };
    CHECK(contains(message({.mean = {0, 0}, .std = {1, 0}}), "std is 0"));
    CHECK(contains(message({.mean = {0, 0}, .std = {1, NAN}}), "std is nan"));
    CHECK(contains(message({.mean = {0}, .std = {1, 1}}),
                   "1 means and 2 stds for 2 channels"));
    CHECK(contains(message({.mean = {0, 0}, .std = {1}}), "2 means and 1 stds"));
}

TEST_CASE("MNIST loads from files with any spelling of their names") {
    const std::string separator = GENERATE("-", ".");
    const bool packed = GENERATE(false, true);
    CAPTURE(separator, packed);
    const Folder folder;
    const auto put = [&](const std::string& name, const Bytes& bytes) {
        write_file(folder / (name + (packed ? ".gz" : "")),
                   packed ? gzipped(bytes) : bytes);
    };
    for (const std::string part : {"train", "t10k"}) {
        CHECK_FALSE(mini::data::missing_mnist_files(folder.path()).empty());
        put(part + "-images" + separator + "idx3-ubyte",
            idx_header({5, 28, 28}) + ramp(5 * 784, 251));
        put(part + "-labels" + separator + "idx1-ubyte", idx_header({5}) + ramp(5, 10));
    }
    CHECK(mini::data::missing_mnist_files(folder.path()).empty());
    CHECK(mini::data::count_mnist(folder.path(), true) == 5);
    const auto images = load_mnist(folder.path(), true);
    CHECK(images->size() == 5);
    CHECK(images->get(3).label() == 3);
    CHECK(images->get(3).data.shape() == Shape{1, 28, 28});
    CHECK(images->pixels(1)[0] == 784 % 251);
}

TEST_CASE("MNIST loads from folders that have the names of its files") {
    // An archive with one folder per file, alone or beside the files themselves.
    const std::string outer = GENERATE("-idx", ".idx");
    const std::string inner = GENERATE("-idx", ".idx");
    const bool packed = GENERATE(false, true);
    const bool has_files = GENERATE(false, true);
    CAPTURE(outer, inner, packed, has_files);
    const Folder folder;
    const auto put = [&](const std::string& part, const std::string& end,
                         const Bytes& bytes) {
        const std::string below = folder / (part + outer + end);
        std::filesystem::create_directory(below);
        const std::string path = below + "/" + part + inner + end;
        if (has_files) {
            write_file(path, {1, 2, 3});  // not read
            const std::string other = outer == "-idx" ? ".idx" : "-idx";
            write_file(folder / (part + other + end + (packed ? ".gz" : "")),
                       packed ? gzipped(bytes) : bytes);
        } else {
            write_file(path + (packed ? ".gz" : ""), packed ? gzipped(bytes) : bytes);
        }
    };
    for (const std::string part : {"train", "t10k"}) {
        put(part + "-images", "3-ubyte", idx_header({2, 28, 28}) + ramp(2 * 784, 251));
        put(part + "-labels", "1-ubyte", idx_header({2}) + ramp(2, 10));
    }
    CHECK(mini::data::missing_mnist_files(folder.path()).empty());
    CHECK(mini::data::count_mnist(folder.path(), true) == 2);
    CHECK(load_mnist(folder.path(), false)->get(1).label() == 1);
}

TEST_CASE("MNIST loads from the root folder of torchvision") {
    const Folder folder;
    std::filesystem::create_directories(folder / "MNIST/raw");
    write_mnist(folder / "MNIST/raw", 3, 2);
    CHECK(mini::data::missing_mnist_files(folder.path()).empty());
    CHECK(load_mnist(folder.path(), true)->size() == 3);
}

TEST_CASE("MNIST loads from files in upper case and from links to files") {
    const Folder folder;
    write_mnist(folder.path(), 3, 2);
    for (const std::string name : {"train-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}) {
        std::string upper = name;
        for (char& letter : upper) letter = static_cast<char>(std::toupper(letter));
        std::filesystem::rename(folder / name, folder / upper);
    }
    std::filesystem::rename(folder / "t10k-images-idx3-ubyte", folder / "elsewhere");
    std::filesystem::create_symlink("elsewhere", folder / "t10k-images-idx3-ubyte");
    CHECK(load_mnist(folder.path(), true)->size() == 3);
    CHECK(load_mnist(folder.path(), false)->size() == 2);
}

TEST_CASE("a folder or a dangling link of a file's name does not count as MNIST's file") {
    const Folder folder;
    write_mnist(folder.path(), 3, 2);
    const std::string labels = folder / "t10k-labels-idx1-ubyte";
    std::filesystem::remove(labels);
    SECTION("an empty folder") { std::filesystem::create_directory(labels); }
    SECTION("a folder that has a folder of its name") {
        std::filesystem::create_directories(labels + "/t10k-labels-idx1-ubyte");
    }
    SECTION("a dangling link") { std::filesystem::create_symlink("nowhere", labels); }
    CHECK(mini::data::missing_mnist_files(folder.path()) ==
          std::vector<std::string>{"t10k-labels-idx1-ubyte"});
    CHECK(contains(message_of<BadFile>([&] { load_mnist(folder.path(), false); }),
                   "expected MNIST's file t10k-labels-idx1-ubyte, plain or .gz, found "));
}

TEST_CASE("MNIST is normalised or returned as bytes for transforms") {
    const Folder folder;
    write_mnist(folder.path(), 3, 2);
    const auto normalized = load_mnist(folder.path(), true);
    CHECK(normalized->get(0).data.data<float>()[9] == (9 / 255.0f - 0.1307f) / 0.3081f);
    const mini::Tensor raw = load_mnist(folder.path(), true, std::nullopt)->get(0).data;
    CHECK(raw.shape() == Shape{1, 28, 28});
    CHECK(raw.data<uint8_t>()[9] == 9);
}

TEST_CASE("the error of a missing MNIST file names the file") {
    const Folder folder;
    CHECK(mini::data::missing_mnist_files(folder.path()).size() == 4);
    write_mnist(folder.path(), 3, 2);
    std::filesystem::remove(folder / "train-labels-idx1-ubyte");
    CHECK(contains(mnist_error(folder), "expected MNIST's file train-labels-idx1-ubyte"));
    CHECK(mini::data::missing_mnist_files(folder.path()) ==
          std::vector<std::string>{"train-labels-idx1-ubyte"});
    CHECK(contains(message_of<BadFile>([] { load_mnist("/no/such/folder", false); }),
                   "/no/such/folder: expected MNIST's file t10k-images-idx3-ubyte"));
}

TEST_CASE("MNIST files that do not fit together are rejected") {
    const Folder folder;
    write_mnist(folder.path(), 3, 2);
    const std::string images = folder / "train-images-idx3-ubyte";
    const std::string labels = folder / "train-labels-idx1-ubyte";

    SECTION("more labels than images") {
        write_file(labels, idx_header({4}) + ramp(4, 10));
        CHECK(contains(mnist_error(folder),
                       "expected 3 labels, one for each image of " + images));
        CHECK(contains(mnist_error(folder), "found 4"));
    }
    SECTION("a label above 9") {
        write_file(labels, idx_header({3}) + Bytes{1, 10, 2});
        CHECK(contains(mnist_error(folder),
                       "expected labels 0 to 9, found 10 at position 1"));
    }
    SECTION("images of another size") {
        write_file(images, idx_header({3, 32, 32}) + ramp(3 * 1024, 251));
        CHECK(contains(mnist_error(folder), "28 x 28, found 3 of 32 x 32"));
    }
    SECTION("no images") {
        write_file(images, idx_header({0, 28, 28}));
        CHECK(contains(mnist_error(folder), "found 0 of 28 x 28"));
    }
    SECTION("labels instead of images") {
        write_file(images, idx_header({3}) + ramp(3, 10));
        CHECK(contains(mnist_error(folder), "expected the magic number 0x00000803"));
    }
    SECTION("truncated images") {
        write_file(images, idx_header({3, 28, 28}) + ramp(2000, 251));
        CHECK(contains(mnist_error(folder), "found only 2000"));
    }
    SECTION("a directory in place of a file") {
        std::filesystem::remove(images);
        std::filesystem::create_directory(images);
        CHECK(contains(mnist_error(folder), "found a directory"));
    }
}

TEST_CASE("the real MNIST has 60000 and 10000 images and starts with 5 0 4 1 and 7 2 1 0",
          "[large]") {
    const std::string folder = real_mnist();
    if (folder.empty()) {
        WARN("not checked: set MINI_DATA_DIR to the folder that holds mnist/");
        return;
    }
    const auto train = load_mnist(folder, true), test = load_mnist(folder, false);
    REQUIRE(train->size() == 60000);
    REQUIRE(test->size() == 10000);
    for (int i = 0; i < 4; ++i) {
        CHECK(train->label(i) ==
              std::vector<int64_t>{5, 0, 4, 1}[static_cast<size_t>(i)]);
        CHECK(test->label(i) == std::vector<int64_t>{7, 2, 1, 0}[static_cast<size_t>(i)]);
    }

    // Check the mean and standard deviation that mnist_normalize uses.
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < 60000; ++i)
        for (int64_t p = 0; p < 784; ++p) {
            const double value = train->pixels(i)[p] / 255.0;
            sum += value;
            squares += value * value;
        }
    const double n = 60000.0 * 784, mean = sum / n;
    CHECK(std::abs(mean - 0.1307) < 0.0001);
    CHECK(std::abs(std::sqrt(squares / n - mean * mean) - 0.3081) < 0.0001);
}
