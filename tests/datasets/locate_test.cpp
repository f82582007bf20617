#include "libmini/datasets/locate.hpp"

#include <stdlib.h>

#include <cstdint>
#include <filesystem>
#include <optional>

#include "libmini/core/error.hpp"
#include "libmini/datasets/digits.hpp"
#include "tests/data/support.hpp"
#include "tests/support/catch.hpp"

using mini::BadFile;
using mini::data::DataChoice;
using mini::data::find_data;

namespace {

// Changes to an empty working folder and unsets MINI_DATA_DIR; the destructor restores
// both.
class EmptyWorkingFolder {
  public:
    EmptyWorkingFolder() : before_(std::filesystem::current_path()) {
        if (const char* value = ::getenv("MINI_DATA_DIR")) data_dir_ = value;
        ::unsetenv("MINI_DATA_DIR");
        std::filesystem::current_path(folder_.path());
    }
    ~EmptyWorkingFolder() {
        std::filesystem::current_path(before_);
        if (data_dir_)
            ::setenv("MINI_DATA_DIR", data_dir_->c_str(), 1);
        else
            ::unsetenv("MINI_DATA_DIR");
    }

    // Creates a subfolder with a small MNIST, and returns its path.
    std::string mnist(const std::string& name, uint32_t train = 3) const {
        std::filesystem::create_directories(folder_ / name);
        write_mnist(folder_ / name, train, 2);
        return folder_ / name;
    }

  private:
    std::filesystem::path before_;
    std::optional<std::string> data_dir_;
    Folder folder_;
};

}  // namespace

TEST_CASE(
    "the default data is MINI_DATA_DIR/mnist or else data/mnist or else the digits") {
    const EmptyWorkingFolder here;
    CHECK(find_data("").folder.empty());
    CHECK(find_data("").name == "digits");
    CHECK(contains(find_data("").description, "run data/fetch_mnist for the real MNIST"));

    here.mnist("data/mnist");
    CHECK(find_data("").folder == "data/mnist");
    CHECK(find_data("").name == "mnist");

    const std::string elsewhere = here.mnist("elsewhere/mnist");
    ::setenv("MINI_DATA_DIR", elsewhere.substr(0, elsewhere.size() - 6).c_str(), 1);
    CHECK(find_data("").folder == elsewhere);
    CHECK(find_data("").description == "MNIST, 3 + 2 images from " + elsewhere);

    ::setenv("MINI_DATA_DIR", "/no/such/folder", 1);
    CHECK(find_data("").folder == "data/mnist");
    ::setenv("MINI_DATA_DIR", "", 1);
    CHECK(find_data("").folder == "data/mnist");
}

TEST_CASE("find_data chooses the digits or a given folder") {
    const EmptyWorkingFolder here;
    here.mnist("data/mnist");
    const std::string mine = here.mnist("mine", 1234);
    CHECK(find_data("digits").name == "digits");
    CHECK(find_data(mine).folder == mine);
    CHECK(contains(find_data(mine).description, "MNIST, 1,234 + 2 images"));
    CHECK(mini::data::load_data(find_data(mine), true)->size() == 1234);
    CHECK(mini::data::load_data(find_data(mine), false)->size() == 2);
}

TEST_CASE("a given folder without MNIST is an error that names the missing files") {
    const EmptyWorkingFolder here;
    const std::string mine = here.mnist("mine");
    std::filesystem::remove(mine + "/t10k-labels-idx1-ubyte");
    std::filesystem::remove(mine + "/train-images-idx3-ubyte");
    const std::string message = message_of<BadFile>([&] { find_data(mine); });
    CHECK(contains(message, "found no train-images-idx3-ubyte, t10k-labels-idx1-ubyte;"));
    CHECK(contains(message, mine));
    CHECK(contains(message_of<BadFile>([] { find_data("nowhere"); }), "found nothing"));
    CHECK(contains(
        message_of<BadFile>([&] { find_data(mine + "/t10k-images-idx3-ubyte"); }),
        "found a file"));
}

TEST_CASE(
    "a usual folder with only a part of MNIST is skipped and the description mentions "
    "it") {
    const EmptyWorkingFolder here;
    std::filesystem::remove(here.mnist("data/mnist") + "/t10k-labels-idx1-ubyte");
    const DataChoice choice = find_data("");
    CHECK(choice.name == "digits");
    CHECK(contains(choice.description, "data/mnist lacks t10k-labels-idx1-ubyte"));
    ::setenv("MINI_DATA_DIR", "/no", 1);
    CHECK(contains(find_data("").description, "/no/mnist lacks train-images-idx3-ubyte"));
}

TEST_CASE("a usual folder with an invalid file is an error") {
    const EmptyWorkingFolder here;
    write_file(here.mnist("data/mnist") + "/train-images-idx3-ubyte", {1, 2, 3});
    CHECK(
        contains(message_of<BadFile>([] { find_data(""); }), "train-images-idx3-ubyte"));
}
