#include "libmini/core/temporary_folder.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/variables.hpp"

namespace fs = std::filesystem;
using mini::test::Variables;

TEST_CASE("temporary files go to TMPDIR if it can be written") {
    const mini::test::Folder folder;
    const Variables tmpdir{{"TMPDIR", folder.path()}};
    CHECK(mini::temporary_folder() == folder.path());
}

TEST_CASE("a TMPDIR that is no folder is skipped") {
    const mini::test::Folder folder;
    const std::string file = folder.path() + "/file", link = folder.path() + "/link";
    std::ofstream{file};
    fs::create_symlink("nowhere", link);
    const std::string bad = GENERATE_REF(as<std::string>{}, "", "/nonexistent/tmp",
                                         "/dev/null", "/proc", file, link);
    const Variables variables{{"TMPDIR", bad}, {"TEMP", ""}, {"TMP", ""}};
    CHECK(mini::temporary_folder() == "/tmp");
}

TEST_CASE("TEMP and TMP replace a TMPDIR that is no folder") {
    const mini::test::Folder folder;
    const std::string name = GENERATE("TEMP", "TMP");
    const Variables variables{
        {"TMPDIR", "/nonexistent/tmp"},
        {"TEMP", name == "TEMP" ? folder.path() : "/nonexistent/temp"},
        {"TMP", name == "TMP" ? folder.path() : "/nonexistent/tmp"}};
    CHECK(mini::temporary_folder() == folder.path());
}

TEST_CASE("a relative TMPDIR becomes an absolute path") {
    const mini::test::Folder folder;
    const Variables tmpdir{{"TMPDIR", fs::relative(folder.path()).string()}};
    const std::string found = mini::temporary_folder();
    CHECK(fs::path(found).is_absolute());
    CHECK(fs::equivalent(found, folder.path()));
}
