// The labs' short programs as their users run them, and what is asked of all of them.

#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/tools/job.hpp"

namespace mini::test {

/// A program of this build, run to its end: alone, or under `minirun -n ranks`.
inline Ended run_alone(const std::string& program, std::vector<std::string> options) {
    options.insert(options.begin(), MINI_BIN_DIR "/" + program);
    return run_program(options);
}
inline Ended run_ranks(int ranks, const std::string& program,
                       const std::vector<std::string>& options) {
    std::vector<std::string> words{"-n", std::to_string(ranks),
                                   MINI_BIN_DIR "/" + program};
    words.insert(words.end(), options.begin(), options.end());
    Job job(words);
    const int code = job.wait();
    return {code, job.out(), job.err()};
}

/// The JSON object that is all a program printed. It warned of nothing.
inline nlohmann::json parse_output(const Ended& ended) {
    INFO(ended.err);
    REQUIRE(ended.code == 0);
    REQUIRE(lines(ended.out).size() == 1);
    CHECK(ended.err.find("warning") == std::string::npos);
    return nlohmann::json::parse(ended.out);
}
inline nlohmann::json json_of(int ranks, const std::string& program,
                              std::vector<std::string> options) {
    options.push_back("--json");
    return parse_output(run_ranks(ranks, program, options));
}

inline void check_help(const std::string& program,
                       const std::vector<std::string>& options) {
    const Ended ended = run_alone(program, {"--help"});
    CHECK(ended.code == 0);
    CHECK(ended.err.empty());
    CHECK(contains(ended.out, "Usage: " + program));
    for (const std::string& option : options) {
        CAPTURE(option);
        CHECK(contains(ended.out, "  " + option));
    }
}

/// One line of rank 0, and exit code 2.
inline void check_refuses(const std::string& program, int ranks,
                          const std::vector<std::string>& options,
                          const std::string& says) {
    const Ended ended = run_ranks(ranks, program, options);
    CAPTURE(says, ended.err);
    CHECK(ended.code == 2);
    CHECK(ended.out.empty());
    CHECK(lines(ended.err).size() == 1);
    CHECK(ended.err.starts_with(program + ": "));
    CHECK(contains(ended.err, says));
}

/// One digest a rank, all the same.
inline void check_replicas(const nlohmann::json& digests, int ranks) {
    REQUIRE(digests.size() == static_cast<size_t>(ranks));
    for (const auto& digest : digests) {
        CHECK(digest.get<std::string>().size() == 64);
        CHECK(digest == digests[0]);
    }
}

/// The greatest distance of two lists of equal length.
inline double distance(const nlohmann::json& a, const nlohmann::json& b) {
    REQUIRE(a.size() == b.size());
    double most = 0.0;
    for (size_t i = 0; i < a.size(); ++i) {
        const double apart = std::abs(a[i].get<double>() - b[i].get<double>());
        if (!(apart <= most)) most = apart;
    }
    return most;
}

}  // namespace mini::test
