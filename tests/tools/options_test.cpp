// minirun's command line: its own options, the program's arguments, and usage errors.

#include "libmini/tools/minirun/options.hpp"

#include <fstream>
#include <vector>

#include "libmini/core/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/variables.hpp"

using mini::test::contains;
using mini::test::Variables;

namespace {

using Words = std::vector<std::string>;

mini::tools::Options parse(const Words& words) {
    std::vector<const char*> argv = {"minirun"};
    for (const std::string& word : words) argv.push_back(word.c_str());
    return mini::tools::parse_options(static_cast<int>(argv.size()), argv.data()).value();
}

// Returns the error message for these words, or "" if they are valid.
std::string options_error(const Words& words) {
    try {
        parse(words);
        return "";
    } catch (const mini::UsageError& error) {
        return error.what();
    }
}

}  // namespace

TEST_CASE("everything after the program's name belongs to the program") {
    const auto options =
        parse({"-n", "2", "train", "-n", "3", "--help", "--", "--grace"});
    CHECK(options.ranks == 2);
    CHECK(options.command == Words{"train", "-n", "3", "--help", "--", "--grace"});
}

TEST_CASE("a double dash separates minirun's options from the program") {
    CHECK(parse({"-n", "2", "--", "train", "-x"}).command == Words{"train", "-x"});
    CHECK(parse({"-n2", "--", "--odd-name"}).command == Words{"--odd-name"});
}

TEST_CASE("options get their values") {
    const auto options =
        parse({"--nproc-per-node=3", "--master-addr", "127.0.0.2", "--master-port",
               "29500", "--grace", "0.25", "--no-prefix", "--bind-to=core", "train"});
    CHECK(options.ranks == 3);
    CHECK(options.master_addr == "127.0.0.2");
    CHECK(options.master_port == 29500);
    CHECK(options.grace == std::chrono::milliseconds(250));
    CHECK(options.bind_to == "core");
    CHECK_FALSE(options.prefix);
    CHECK(parse({"-n", "auto", "train"}).ranks >= 1);
}

TEST_CASE("an invalid number of ranks is a one-line error") {
    const std::string count = GENERATE("0", "-1", "1e9", "1000000000", "99999999999999",
                                       "2x", "", "two", "257");
    CAPTURE(count);
    CHECK_FALSE(options_error({"-n", count, "train"}).empty());
    CHECK(options_error({"-n", count, "train"}).find('\n') == std::string::npos);
}

TEST_CASE("torchrun's options are accepted with dashes or underscores") {
    const auto options =
        parse({"--nproc_per_node", "2", "--nnodes", "4:4", "--node_rank=3",
               "--rdzv_endpoint", "[::1]:29500", "--rdzv-backend", "c10d", "--rdzv-id",
               "job", "--no-python", "--log_dir=logs", "train"});
    CHECK(options.nodes == 4);
    CHECK(options.node_rank == 3);
    CHECK(options.world_size() == 8);
    CHECK(options.master_addr == "::1");
    CHECK(options.master_port == 29500);
    CHECK(options.log_dir == "logs");
    CHECK(options.command == Words{"train"});
    CHECK(
        parse({"--standalone", "-n", "cpu", "--max-restarts=2", "train"}).max_restarts ==
        2);
}

TEST_CASE("options that conflict or lack another option are a one-line error") {
    const Words words =
        GENERATE(Words{"--nnodes", "2"}, Words{"--nnodes", "1:4"}, Words{"--nnodes", "0"},
                 Words{"--nnodes", "2", "--node-rank", "2", "--rdzv-endpoint", "a:1"},
                 Words{"--nnodes", "2", "--rdzv-endpoint", "a:1", "--standalone"},
                 Words{"--nnodes", "2", "--rdzv-endpoint", "a:1", "--max-restarts", "1"},
                 Words{"--rdzv-endpoint", "a:1", "--master-port", "1"},
                 Words{"--rdzv-endpoint", "nowhere"}, Words{"--rdzv-endpoint", "a:70000"},
                 Words{"--max-restarts", "-1"}, Words{"--node-rank", "1"});
    CAPTURE(words);
    Words all = {"-n", "2"};
    all.insert(all.end(), words.begin(), words.end());
    all.push_back("train");
    CHECK_FALSE(options_error(all).empty());
    CHECK(options_error(all).find('\n') == std::string::npos);
}

TEST_CASE("errors name the missing or unknown option") {
    CHECK(contains(options_error({}), "no program"));
    CHECK(contains(options_error({"-n", "2"}), "no program"));
    CHECK(contains(options_error({"-n", "2", "--"}), "no program"));
    CHECK(contains(options_error({"train"}), "-n N"));
    CHECK(contains(options_error({"-n", "2", "--bogus", "train"}), "--bogus"));
    CHECK(contains(options_error({"-n", "2", "--grace", "nan", "train"}), "--grace"));
    CHECK(contains(options_error({"-n", "2", "--grace", "-1", "train"}), "--grace"));
    CHECK(contains(options_error({"-n", "2", "--grace", "3601", "train"}), "3600"));
    CHECK(
        contains(options_error({"-n", "2", "--master-port", "65536", "train"}), "65535"));
    CHECK(contains(options_error({"-n", "1", "--nnodes", "2", "--rdzv-endpoint", "a:1",
                                  "--rdzv-id", "x", "train"}),
                   "--nnodes 2 needs --node-rank"));
    for (const std::string option : {"-m", "--rdzv_conf=timeout=9", "--tee", "--role"})
        CHECK(contains(options_error({"-n", "2", option, "3", "train"}),
                       "unknown option " + option));
}

TEST_CASE("PET_ variables are the defaults of the options of the same name") {
    const Variables environment{{"PET_NPROC_PER_NODE", "3"},
                                {"PET_NNODES", "2"},
                                {"PET_NODE_RANK", "1"},
                                {"PET_RDZV_ENDPOINT", "node0:29400"},
                                {"PET_MASTER_ADDR", "other"},
                                {"PET_MASTER_PORT", "1"},
                                {"PET_RDZV_ID", "job"},
                                {"PET_RDZV_BACKEND", "c10d"},
                                {"PET_MAX_RESTARTS", "0"},
                                {"PET_LOG_DIR", "logs"},
                                {"PET_STANDALONE", "0"},
                                {"PET_NO_PREFIX", "1"},
                                {"PET_ROLE", ""}};
    const auto options = parse({"train"});
    CHECK(options.ranks == 3);
    CHECK(options.nodes == 2);
    CHECK(options.node_rank == 1);
    CHECK(options.master_addr == "node0");
    CHECK(options.master_port == 29400);
    CHECK(options.rdzv_id == "job");
    CHECK(options.log_dir == "logs");
    CHECK_FALSE(options.prefix);
    CHECK(options.notes.empty());
}

TEST_CASE("the command line wins over PET_ variables") {
    const Variables environment{{"PET_NPROC_PER_NODE", "3"},
                                {"PET_NNODES", "2"},
                                {"PET_NODE_RANK", "1"},
                                {"PET_MASTER_ADDR", "node0"},
                                {"PET_MASTER_PORT", "29400"}};
    const auto endpoint = parse({"-n", "1", "--rdzv-endpoint", "node5:7", "train"});
    CHECK(endpoint.ranks == 1);
    CHECK(endpoint.nodes == 2);
    CHECK(endpoint.master_addr == "node5");
    CHECK(endpoint.master_port == 7);
    CHECK(parse({"--master-port", "7", "train"}).master_addr == "node0");
    CHECK(parse({"--master-port", "7", "train"}).master_port == 7);
    CHECK(parse({"--nnodes", "1", "train"}).node_rank == 0);
    const auto alone = parse({"--standalone", "train"});
    CHECK(alone.nodes == 1);
    CHECK(alone.master_addr == "127.0.0.1");

    const Variables standalone{{"PET_STANDALONE", "1"}};
    CHECK(parse({"--nnodes", "2", "train"}).nodes == 2);
}

TEST_CASE("PET_ variables that minirun cannot use are named") {
    const Variables environment{{"PET_NNODES", "1:2"},
                                {"PET_NPROC_PER_NODE", "1"},
                                {"PET_RDZV_CONF", "timeout=60"},
                                {"PET_START_METHOD", "spawn"}};
    CHECK(contains(options_error({"train"}), "PET_NNODES=1:2"));
    const auto notes = parse({"--nnodes", "1", "train"}).notes;
    REQUIRE(notes.size() == 1);
    CHECK(contains(notes[0], "PET_RDZV_CONF, PET_START_METHOD"));
    const Variables flag{{"PET_STANDALONE", "maybe"}};
    CHECK(contains(options_error({"train"}), "--standalone = maybe"));
    CHECK(contains(options_error({"train"}), "PET_STANDALONE=maybe"));
}

TEST_CASE("-n gpu and -n auto mean one rank for each GPU") {
    const mini::test::Folder folder;
    CHECK(mini::tools::count_gpus(folder.path()) == 0);
    for (const char* name : {"nvidia0", "nvidia1", "nvidia12", "nvidiactl", "nvidia-uvm"})
        std::ofstream{folder.path() + "/" + name};
    CHECK(mini::tools::count_gpus(folder.path()) == 3);
    const auto visible = [&](const char* devices) {
        const Variables environment{{"CUDA_VISIBLE_DEVICES", devices}};
        return mini::tools::count_gpus(folder.path());
    };
    CHECK(visible("0,2") == 2);
    CHECK(visible("") == 0);
    CHECK(visible("0,-1,1") == 1);
    CHECK(visible("GPU-8932f937") == 1);

    const Variables none{{"CUDA_VISIBLE_DEVICES", ""}};
    CHECK(contains(options_error({"-n", "gpu", "train"}), "CUDA_VISIBLE_DEVICES"));
    CHECK(parse({"-n", "auto", "train"}).ranks == parse({"-n", "cpu", "train"}).ranks);
}
