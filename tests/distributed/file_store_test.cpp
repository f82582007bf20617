// The file store's file: who makes it, who deletes it, and what crashes leave in it.

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>

#include "libmini/distributed/store/file_store.hpp"
#include "tests/distributed/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;

namespace {

namespace fs = std::filesystem;

struct Place {
    mini::test::Folder folder;
    std::string path = folder / "store";
};

// Runs `body`, which dies of SIGKILL, in a child process.
void crash_after(const std::function<void()>& body) {
    const pid_t process = ::fork();
    if (process == 0) {
        body();
        ::_exit(1);
    }
    int status = 0;
    REQUIRE(::waitpid(process, &status, 0) == process);
    REQUIRE(WIFSIGNALED(status));
}

void append_to(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::app) << bytes;
}

}  // namespace

TEST_CASE("the keys live as long as a process has the file open, then the file goes") {
    Place place;
    auto a = std::make_unique<FileStore>(place.path);
    a->set("key", "value");
    auto b = std::make_unique<FileStore>(place.path);
    a = nullptr;
    CHECK(fs::exists(place.path));
    CHECK(FileStore(place.path).get("key") == "value");
    b = nullptr;
    CHECK_FALSE(fs::exists(place.path));
    CHECK_FALSE(FileStore(place.path).check("key"));
}

TEST_CASE("the file of a run that was killed is begun again") {
    Place place;
    crash_after([&] {
        FileStore store(place.path);
        store.set("key", "of the dead");
        ::raise(SIGKILL);
    });
    REQUIRE(fs::exists(place.path));
    FileStore store(place.path);
    CHECK_FALSE(store.check("key"));
    CHECK(store.num_keys() == 0);
}

TEST_CASE("half a record of a killed process is passed over and overwritten") {
    Place place;
    FileStore a(place.path);
    a.set("one", "1");

    // A head that promises a value of 100 bytes, and 3 of them.
    const uint32_t head[3] = {1, 4, 100};
    append_to(place.path, std::string(reinterpret_cast<const char*>(head), sizeof head));
    append_to(place.path, "half123");
    FileStore b(place.path);
    CHECK(b.num_keys() == 1);
    b.set("two", "2");
    CHECK(a.get("two") == "2");
    CHECK(FileStore(place.path).num_keys() == 2);
}

TEST_CASE("a file that is something else is refused and left as it was") {
    Place place;
    append_to(place.path, "my thesis\n");
    const std::string text = failure_of([&] { FileStore store(place.path); });
    CHECK(contains(text, "is not a file store of libmini's"));
    std::string line;
    std::getline(std::ifstream(place.path), line);
    CHECK(line == "my thesis");
}

TEST_CASE("nonsense behind the magic is an error that names file and byte") {
    Place place;
    FileStore store(place.path);
    append_to(place.path, std::string(100, 'x'));
    const std::string text = failure_of([&] { store.check("key"); });
    CAPTURE(text);
    CHECK(contains(text, concat(place.path, ": no record of a file store at byte 21")));
}

TEST_CASE("a path that cannot be a store is refused with the reason") {
    Place place;
    const std::string folder = place.folder.path();
    CHECK(contains(failure_of([&] { FileStore store(folder); }), "Is a directory"));
    CHECK(contains(failure_of([&] { FileStore store(concat(folder, "/no/such")); }),
                   "No such file"));
    REQUIRE(::mkfifo(place.path.c_str(), 0600) == 0);
    CHECK(contains(failure_of([&] { FileStore store(place.path); }), "not a regular"));
}

TEST_CASE("only its owner can read the file") {
    Place place;
    FileStore store(place.path);
    struct stat status {};
    REQUIRE(::stat(place.path.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE("many that open and close the store at once neither lose keys nor the file") {
    Place place;
    const auto failures = on_ranks(8, [&](int rank) {
        for (int i = 0; i < 20; ++i) {
            FileStore store(place.path);
            store.set(concat(rank), std::to_string(i));
            MINI_CHECK(store.get(concat(rank)) == std::to_string(i), "a lost key");
        }
    });
    for (const auto& failure : failures) CHECK(text_of(failure).empty());
    CHECK_FALSE(fs::exists(place.path));
}
