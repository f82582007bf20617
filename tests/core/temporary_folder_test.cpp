#include "libmini/core/temporary_folder.hpp"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

namespace {

namespace fs = std::filesystem;

// Sets a variable for one test.
struct Variable {
    Variable(const char* name, const std::string& value) : name(name) {
        if (const char* was = getenv(name)) old = was;
        setenv(name, value.c_str(), 1);
    }
    ~Variable() { old.empty() ? unsetenv(name) : setenv(name, old.c_str(), 1); }
    Variable(const Variable&) = delete;

    const char* name;
    std::string old;
};

}  // namespace

TEST_CASE("temporary files go to TMPDIR if it can be written") {
    const mini::test::Folder folder;
    const Variable tmpdir("TMPDIR", folder.path());
    CHECK(mini::temporary_folder() == folder.path());
}

TEST_CASE("a TMPDIR that is no folder is skipped") {
    const mini::test::Folder folder;
    const std::string file = folder.path() + "/file", link = folder.path() + "/link";
    std::ofstream{file};
    fs::create_symlink("nowhere", link);
    const Variable tmpdir(
        "TMPDIR", GENERATE_REF(as<std::string>{}, "", "/nonexistent/tmp", "/dev/null",
                               "/proc", file, link));
    const Variable temp("TEMP", ""), tmp("TMP", "");
    CHECK(mini::temporary_folder() == "/tmp");
}

TEST_CASE("TEMP and TMP replace a TMPDIR that is no folder") {
    const mini::test::Folder folder;
    const std::string name = GENERATE("TEMP", "TMP");
    const Variable tmpdir("TMPDIR", "/nonexistent/tmp");
    const Variable temp("TEMP", name == "TEMP" ? folder.path() : "/nonexistent/temp");
    const Variable tmp("TMP", name == "TMP" ? folder.path() : "/nonexistent/tmp");
    CHECK(mini::temporary_folder() == folder.path());
}

TEST_CASE("a relative TMPDIR becomes an absolute path") {
    const mini::test::Folder folder;
    const Variable tmpdir("TMPDIR", fs::relative(folder.path()).string());
    const std::string found = mini::temporary_folder();
    CHECK(fs::path(found).is_absolute());
    CHECK(fs::equivalent(found, folder.path()));
}
