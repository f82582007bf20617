#include "libmini/datasets/image_folder.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "libmini/core/error.hpp"
#include "libmini/data/transform.hpp"
#include "tests/datasets/images.hpp"
#include "tests/support/catch.hpp"

using mini::BadFile;
using mini::Shape;
using mini::Tensor;
using mini::data::ImageFolder;

namespace {

// Writes a picture of one colour, and creates its parent folders.
void put(const std::string& path, uint8_t red = 0) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    write_file(path, plain_png(3, 2, {red, 20, 30}));
}

// Returns lines such as "cat/tom.png 0", with paths relative to the root.
std::vector<std::string> listed(const Folder& folder, const ImageFolder& images) {
    std::vector<std::string> lines;
    for (const ImageFolder::Sample& sample : images.samples())
        lines.push_back(sample.path.substr(folder.path().size() + 1) + " " +
                        std::to_string(sample.label));
    return lines;
}

std::string folder_error(const std::string& root) {
    const std::string message = message_of<BadFile>([&] { ImageFolder images(root); });
    CHECK(message.find('\n') == std::string::npos);
    CHECK((message.empty() || message.rfind(root + ": expected ", 0) == 0));
    return message;
}

}  // namespace

TEST_CASE("ImageFolder has classes and samples in torchvision's order") {
    const Folder folder;
    for (const char* name : {"dog/b.png", "dog/a.PNG", "cat/z.png", "cat/sub/a.png",
                             "cat/sub-1/a.png", "cat/sub/deep/b.png", "Bird/x.jpeg",
                             "Bird/Y.JPG", "cat/notes.txt", "readme.png"})
        put(folder / name);
    const ImageFolder images(folder.path());
    CHECK(images.classes() == std::vector<std::string>{"Bird", "cat", "dog"});
    // The order of sorted(os.walk(...)): sub, then sub-1, then sub/deep.
    CHECK(listed(folder, images) ==
          std::vector<std::string>{"Bird/Y.JPG 0", "Bird/x.jpeg 0", "cat/z.png 1",
                                   "cat/sub/a.png 1", "cat/sub-1/a.png 1",
                                   "cat/sub/deep/b.png 1", "dog/a.PNG 2", "dog/b.png 2"});
    CHECK(images.size() == 8);
}

TEST_CASE("ImageFolder decodes pictures to uint8 tensors") {
    const Folder folder;
    put(folder / "a/1.png", 10);
    put(folder / "b/2.png", 40);
    const ImageFolder plain(folder.path());
    const auto sample = plain.get(1);
    CHECK(sample.label() == 1);
    CHECK(sample.data.shape() == Shape{3, 2, 3});
    CHECK(sample.data.dtype() == mini::DType::kUInt8);
    CHECK(sample.data.to_vector<uint8_t>()[0] == 40);
    CHECK(sample.data.to_vector<uint8_t>()[17] == 30);

    const mini::data::TransformedDataset first(
        std::make_shared<ImageFolder>(folder.path()),
        [](const Tensor& image) { return Tensor::scalar(image.data<uint8_t>()[0]); });
    const std::vector<int64_t> indices = {1, 0};
    const mini::data::Batch batch = first.get_batch(indices);
    CHECK(batch.data.to_vector<float>() == std::vector<float>{40, 10});
    CHECK(batch.target.to_vector<int64_t>() == std::vector<int64_t>{1, 0});
}

TEST_CASE("ImageFolder skips what operating systems and editors leave in folders") {
    const Folder folder;
    for (const char* name : {"cat/tom.png", "dog/rex.png"}) put(folder / name);
    const std::vector<std::string> expected = {"cat/tom.png 0", "dog/rex.png 1"};
    SECTION("in the root") {
        for (const char* name :
             {".ipynb_checkpoints/a.png", ".git/b.png", "__MACOSX/cat/._tom.png",
              "@eaDir/cat/tom.png", "$RECYCLE.BIN/a.png", ".cache/a.png"})
            put(folder / name);
        for (const char* name : {"System Volume Information", ".empty"})
            std::filesystem::create_directory(folder / name);
        write_file(folder / ".DS_Store", {1});
    }
    SECTION("in a class") {
        for (const char* name :
             {"cat/.ipynb_checkpoints/tom-checkpoint.png", "cat/__MACOSX/tom.png",
              "dog/@eaDir/rex.jpg", "dog/sub/.hidden/rex.png"})
            put(folder / name);
        for (const char* name : {"cat/._tom.png", "cat/.DS_Store", "dog/Thumbs.db",
                                 "dog/desktop.ini", "dog/.rex.png", "dog/._rex.bmp"})
            write_file(folder / name, {0, 5, 22, 7});
    }
    const ImageFolder images(folder.path());
    CHECK(images.classes() == std::vector<std::string>{"cat", "dog"});
    CHECK(listed(folder, images) == expected);
    CHECK(images.get(1).data.numel() == 18);
}

TEST_CASE("a class of ImageFolder that has nothing but litter has no picture") {
    const Folder folder;
    put(folder / "cat/tom.png");
    put(folder / "dog/.ipynb_checkpoints/rex.png");
    CHECK(contains(folder_error(folder.path()), "found none of dog"));
}

TEST_CASE(
    "ImageFolder names a picture of a format that torchvision reads and it does not") {
    const std::string extension =
        GENERATE(".bmp", ".ppm", ".pgm", ".tif", ".TIFF", ".webp", ".Bmp");
    const Folder folder;
    put(folder / "cat/a.png");
    put(folder / "cat/b" + extension);  // a PNG all the same, which is read
    CHECK(ImageFolder(folder.path()).get(1).data.numel() == 18);
    const std::string path = folder / "cat/sub/c" + extension;
    put(path);
    write_file(path, {'B', 'M', 1, 2, 3, 4, 5, 6, 7, 8});
    CHECK(message_of<BadFile>([&] { ImageFolder images(folder.path()); }) ==
          path +
              ": expected a PNG or JPEG, found a BMP; convert it to an ordinary PNG or "
              "JPEG");
}

TEST_CASE("ImageFolder rejects a root that is missing or a file or has no class folder") {
    const Folder folder;
    CHECK(contains(folder_error(folder / "nothing"), "No such file or directory"));
    put(folder / "file.png");
    CHECK(contains(folder_error(folder / "file.png"), "Not a directory"));
    CHECK(contains(folder_error(folder.path()), "a folder for each class, found none"));
}

TEST_CASE("ImageFolder rejects classes without a picture and names them all") {
    const Folder folder;
    put(folder / "cat/tom.png");
    put(folder / "dog/rex.txt");
    std::filesystem::create_directories(folder / "eel/deep");
    const std::string message = folder_error(folder.path());
    CHECK(contains(message,
                   "pictures (.png, .jpg, .jpeg, .ppm, .bmp, .pgm, .tif, .tiff, "
                   ".webp) of every class"));
    CHECK(contains(message, "found none of dog, eel; add some"));
}

TEST_CASE("ImageFolder follows links and visits each folder once per class") {
    const Folder folder;
    put(folder / "cat/one/a.png");
    put(folder / "elsewhere/dog/b.png");
    std::filesystem::create_directory_symlink(folder / "cat", folder / "cat/one/up");
    std::filesystem::create_directory_symlink(folder / "cat/one", folder / "cat/two");
    std::filesystem::create_symlink(folder / "elsewhere/dog/b.png", folder / "cat/b.png");
    std::filesystem::create_directory_symlink(folder / "elsewhere/dog", folder / "dog");
    REQUIRE(::symlink("self", (folder / "dog/self").c_str()) == 0);
    CHECK(listed(folder, ImageFolder(folder.path())) ==
          std::vector<std::string>{"cat/b.png 0", "cat/one/a.png 0", "dog/b.png 1",
                                   "elsewhere/dog/b.png 2"});
}

TEST_CASE("the error of a damaged picture names its file and in a batch also its index") {
    const Folder folder;
    put(folder / "cat/a.png");
    write_file(folder / "cat/b.png", {'G', 'I', 'F', '8', '9', 'a'});
    REQUIRE(::mkfifo((folder / "cat/c.png").c_str(), 0600) == 0);
    REQUIRE(::symlink("nowhere", (folder / "cat/d.png").c_str()) == 0);
    const ImageFolder images(folder.path());
    REQUIRE(images.size() == 4);
    const auto message = [&](int64_t i) {
        return message_of<BadFile>([&] { images.get(i); });
    };
    CHECK(
        contains(message(1), folder / "cat/b.png: expected a PNG or JPEG, found a GIF"));
    CHECK(contains(message(2), "cat/c.png: not a regular file, but a pipe"));
    CHECK(contains(message(3),
                   "cat/d.png: open failed: No such file or directory; give the "
                   "path of a PNG or JPEG"));
    for (const int64_t i : {-1, 4})
        CHECK(contains(message_of<mini::Error>([&] { images.get(i); }),
                       "index out of range; the dataset has 4"));
    const std::vector<int64_t> batch = {0, 1};
    CHECK(contains(message_of<mini::Error>([&] { images.get_batch(batch); }),
                   "sample 1: " + folder.path() + "/cat/b.png"));
}
