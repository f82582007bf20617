#include "libmini/tools/minirun/logs.hpp"

#include <fcntl.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "libmini/core/error.hpp"

namespace mini::tools {

namespace fs = std::filesystem;

Logs::Logs(const Options& options, const dist::Job& job) : options_(options) {
    if (options.log_dir.empty()) return;
    folder_ = concat(fs::absolute(options.log_dir).string(), "/", job.log_name,
                     "/attempt_", job.restart_count);
}

bool Logs::logged(int local_rank, int bit) const {
    return options_.tee.has(local_rank, bit) || options_.redirects.has(local_rank, bit);
}

std::string Logs::path(int local_rank, int bit) const {
    return concat(folder_, "/", local_rank, bit == 1 ? "/stdout.log" : "/stderr.log");
}

std::string Logs::stderr_path(int local_rank) const {
    return logged(local_rank, 2) ? path(local_rank, 2) : "";
}

Output::Source Logs::source(int local_rank, int bit, Descriptor pipe) const {
    Output::Source source{.pipe = std::move(pipe)};
    const bool filtered_out =
        options_.shown_ranks && !options_.shown_ranks->contains(local_rank);
    const bool redirected =
        options_.redirects.has(local_rank, bit) && !options_.tee.has(local_rank, bit);
    source.shown = !filtered_out && !redirected;
    if (!logged(local_rank, bit)) return source;

    const std::string file = path(local_rank, bit);
    std::error_code failure;
    fs::create_directories(fs::path(file).parent_path(), failure);
    const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC;
    if (!failure) source.log = Descriptor(open(file.c_str(), flags, 0644));
    if (!source.log.is_open())
        throw Error(concat("cannot write ", file, ": ",
                           failure ? failure.message() : system_message("open", errno),
                           "; choose another --log-dir"));
    return source;
}

}  // namespace mini::tools
