// The file of FileStore: its creation, its deletion, and its state after a crash.

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

#include "libmini/extras/launchers/file_store.hpp"
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

// Runs `body` in a child process; requires that a signal ends the child.
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

TEST_CASE("keys exist until the last process that has the file open deletes the file") {
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

TEST_CASE("a file left by a killed run is emptied") {
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

TEST_CASE("an incomplete record of a killed process is ignored and overwritten") {
    Place place;
    FileStore a(place.path);
    a.set("one", "1");

    // Append a record whose value has only 3 of the 100 bytes that its head announces.
    const uint32_t head[3] = {1, 4, 100};
    append_to(place.path, std::string(reinterpret_cast<const char*>(head), sizeof head));
    append_to(place.path, "half123");
    FileStore b(place.path);
    CHECK(b.num_keys() == 1);
    b.set("two", "2");
    CHECK(a.get("two") == "2");
    CHECK(FileStore(place.path).num_keys() == 2);
}

TEST_CASE("a file of another format is rejected and left unchanged") {
    Place place;
    append_to(place.path, "my thesis\n");
    const std::string text = failure_of([&] { FileStore store(place.path); });
    CHECK(contains(text, "is not a file store of libmini"));
    std::string line;
    std::getline(std::ifstream(place.path), line);
    CHECK(line == "my thesis");
}

TEST_CASE("invalid bytes after the magic are an error that names file and offset") {
    Place place;
    FileStore store(place.path);
    append_to(place.path, std::string(100, 'x'));
    const std::string text = failure_of([&] { store.check("key"); });
    CAPTURE(text);
    CHECK(contains(text, concat(place.path, ": no record of a file store at byte 21")));
}

TEST_CASE("a path that cannot be a store is rejected with the reason") {
    Place place;
    const std::string folder = place.folder.path();
    CHECK(contains(failure_of([&] { FileStore store(folder); }), "Is a directory"));
    CHECK(contains(failure_of([&] { FileStore store(concat(folder, "/no/such")); }),
                   "No such file"));
    REQUIRE(::mkfifo(place.path.c_str(), 0600) == 0);
    CHECK(contains(failure_of([&] { FileStore store(place.path); }), "not a regular"));
}

TEST_CASE("only the owner can read the file") {
    Place place;
    FileStore store(place.path);
    struct stat status {};
    REQUIRE(::stat(place.path.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE("ranks that open and close the store concurrently lose no keys") {
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

TEST_CASE("two prefixes in one file do not see each other's keys") {
    const Place place;
    FileStore a(place.path, "a/"), b(place.path, "b/"), inner(place.path, "a/x/");
    a.set("key", "of a");
    CHECK_FALSE(b.check("key"));
    b.set("key", "of b");
    CHECK(a.get("key") == "of a");
    inner.set("key", "deep");
    CHECK(a.get("x/key") == "deep");
    CHECK(b.delete_key("key"));
    CHECK(a.check("key"));
    CHECK(a.num_keys() == 2);
}
