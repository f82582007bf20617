// mini bench allreduce: the time of an all-reduce, in the columns of nccl-tests.
//
//     size      bytes of one rank's tensor
//     algbw     size / time
//     busbw     algbw * 2(P-1)/P: bytes that each rank sends / time; comparable across
//               world sizes, and with the bandwidth of a link

#include "libmini/tools/mini/commands.hpp"

#include <fmt/core.h>

#include <cstddef>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/program/sizes.hpp"
#include "libmini/tools/mini/bench_ranks.hpp"

namespace mini::tools {
namespace {

void print_table(const BenchOptions& options, const std::vector<BenchRow>& rows) {
    fmt::print("# {} ranks, backend {}, medium {}, algorithm {}{}\n", options.ranks,
               options.backend, options.medium, options.algorithm,
               options.link.empty() ? "" : ", link " + options.link);
    fmt::print("#{:>11} {:>10} {:>6} {:>5} {:>10} {:>7} {:>7} {:>6}\n", "size", "count",
               "type", "redop", "time", "algbw", "busbw", "#wrong");
    fmt::print("#{:>11} {:>10} {:>6} {:>5} {:>10} {:>7} {:>7}\n", "(B)", "(elements)", "",
               "", "(us)", "(GB/s)", "(GB/s)");
    for (const BenchRow& row : rows)
        fmt::print("{:>12} {:>10} {:>6} {:>5} {:>10.2f} {:>7.2f} {:>7.2f} {:>6}\n",
                   row.bytes, row.bytes / sizeof(float), "float", "sum", row.microseconds,
                   row.algbw(), row.busbw(options.ranks), row.wrong);
}

void print_json(const BenchOptions& options, const std::vector<BenchRow>& rows) {
    nlohmann::json list = nlohmann::json::array();
    for (const BenchRow& row : rows)
        list.push_back({{"size", row.bytes},
                        {"count", row.bytes / sizeof(float)},
                        {"type", "float"},
                        {"redop", "sum"},
                        {"time_us", row.microseconds},
                        {"algbw", row.algbw()},
                        {"busbw", row.busbw(options.ranks)},
                        {"wrong", row.wrong}});
    const nlohmann::json all = {
        {"ranks", options.ranks},   {"backend", options.backend},
        {"medium", options.medium}, {"algorithm", options.algorithm},
        {"link", options.link},     {"rows", list}};
    fmt::print("{}\n", all.dump());
}

void run(const BenchOptions& options, const std::string& format) {
    measure_all_reduce(options, [&](const std::vector<BenchRow>& rows) {
        format == "json" ? print_json(options, rows) : print_table(options, rows);
        std::fflush(stdout);  // rank 0 may be a forked process
        size_t wrong = 0;
        for (const BenchRow& row : rows) wrong += row.wrong;
        MINI_CHECK(wrong == 0, "bench allreduce: ", wrong, " elements were wrong");
    });
}

}  // namespace

void add_bench(Command& mini) {
    Command bench = mini.add_command("bench", "Measures this machine");
    bench.require_command();
    Command all_reduce = bench.add_command(
        "allreduce", "All-reduce of float32, in the columns of nccl-tests");
    struct Arguments {
        BenchOptions options;
        std::string sizes = "4:100M", format = "table";
    };
    const auto arguments = std::make_shared<Arguments>();
    BenchOptions& o = arguments->options;
    all_reduce
        .add("--ranks", o.ranks,
             "Number of ranks (those of minirun, mpirun or srun, else 2)")
        .range(1, 512);
    all_reduce.add("--sizes", arguments->sizes, "FIRST:LAST, or a list (4:100M)");
    all_reduce.add("--algorithm", o.algorithm, "auto, ring, tree, naive, ...");
    all_reduce.add("--medium", o.medium, "auto or tcp").one_of({"auto", "tcp"});
    all_reduce.add("--backend", o.backend, "ring (processes), threads, ...");
    all_reduce.add("--link", o.link, "Emulates a network between the ranks: 100Mbit,5ms");
    all_reduce.add_flag("!--no-verify", o.verify, "Do not compare calls across ranks");
    all_reduce.add("--seconds", o.seconds, "Measuring time per size (0.3)").positive();
    all_reduce.add("--format", arguments->format, "table or json")
        .one_of({"table", "json"});
    all_reduce.on_parsed([arguments] {
        arguments->options.sizes = parse_sizes(arguments->sizes);
        find_ranks(arguments->options);
        run(arguments->options, arguments->format);
    });
}

}  // namespace mini::tools
