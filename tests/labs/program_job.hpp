// Runs the labs' short programs as their users do, and has the checks that their tests
// share.

#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/folder.hpp"
#include "tests/tools/job.hpp"

namespace mini::test {

using Words = std::vector<std::string>;

inline Words operator+(Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

/// Returns the command that runs a program of this build.
inline Words command_of(const std::string& program, const Words& options) {
    return Words{MINI_BIN_DIR "/" + program} + options;
}

/// Runs a program of this build to its end, without a launcher.
inline ProcessResult run_alone(const std::string& program, const Words& options) {
    return run_program(command_of(program, options));
}

/// Runs a program of this build to its end, under `minirun -n ranks`.
inline ProcessResult run_ranks(int ranks, const std::string& program,
                               const Words& options) {
    Job job(Words{"-n", std::to_string(ranks)} + command_of(program, options));
    const int code = job.wait();
    return {code, job.out(), job.err()};
}

/// Returns the JSON object on the last line of a program that must succeed.
inline nlohmann::json last_json(const ProcessResult& ended) {
    INFO(ended.err);
    REQUIRE(ended.code == 0);
    return nlohmann::json::parse(lines(ended.out).back());
}

/// Returns the JSON object that is a program's only output; checks that the program
/// printed no warning.
inline nlohmann::json parse_output(const ProcessResult& ended) {
    INFO(ended.err);
    REQUIRE(ended.code == 0);
    REQUIRE(lines(ended.out).size() == 1);
    CHECK(ended.err.find("warning") == std::string::npos);
    return nlohmann::json::parse(ended.out);
}

/// Runs a program with --json under `minirun -n ranks`, and returns its JSON object.
inline nlohmann::json json_of(int ranks, const std::string& program,
                              const Words& options) {
    return parse_output(run_ranks(ranks, program, options + Words{"--json"}));
}

/// Checks that --help succeeds and lists these options.
inline void check_help(const std::string& program, const Words& options) {
    const ProcessResult ended = run_alone(program, {"--help"});
    CHECK(ended.code == 0);
    CHECK(ended.err.empty());
    CHECK(contains(ended.out, "Usage: " + program));
    for (const std::string& option : options) {
        CAPTURE(option);
        CHECK(contains(ended.out, "  " + option));
    }
}

/// Checks that the options give one error line, from rank 0, and exit code 2. With 0
/// ranks the program runs without a launcher.
inline void check_rejects(const std::string& program, int ranks, const Words& options,
                          const std::string& message) {
    const ProcessResult ended =
        ranks == 0 ? run_alone(program, options) : run_ranks(ranks, program, options);
    CAPTURE(options, message, ended.err);
    CHECK(ended.code == 2);
    CHECK(ended.out.empty());
    CHECK(lines(ended.err).size() == 1);
    CHECK(ended.err.starts_with(program + ": "));
    CHECK(contains(ended.err, message));
}

/// Returns the only error line of a program that must end with exit code `code`.
inline std::string error_of(const ProcessResult& ended, const std::string& program,
                            int code = 1) {
    CHECK(ended.code == code);
    Words errors = lines(ended.err);
    std::erase_if(errors, [&](const std::string& line) {
        return !line.starts_with(program + ": ");
    });
    INFO(ended.err);
    REQUIRE(errors.size() == 1);
    return errors[0];
}

/// Checks that there is one digest per rank, and that all are equal.
inline void check_replicas(const nlohmann::json& digests, int ranks) {
    REQUIRE(digests.size() == static_cast<size_t>(ranks));
    for (const auto& digest : digests) {
        CHECK(digest.get<std::string>().size() == 64);
        CHECK(digest == digests[0]);
    }
}

/// Returns the largest difference between two lists of equal length.
inline double distance(const nlohmann::json& a, const nlohmann::json& b) {
    REQUIRE(a.size() == b.size());
    double largest = 0.0;
    for (size_t i = 0; i < a.size(); ++i) {
        const double difference = std::abs(a[i].get<double>() - b[i].get<double>());
        if (!(difference <= largest)) largest = difference;
    }
    return largest;
}

}  // namespace mini::test
