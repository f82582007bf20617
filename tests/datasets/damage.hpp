// Helpers for tests with damaged files: their memory use and their error messages.

#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>

#include "tests/data/support.hpp"
#include "tests/support/sanitizers.hpp"

using mini::test::kSanitized;

/// Returns what `body` returns in a child process, at most 4,096 bytes.
inline std::string in_child(const std::function<std::string()>& body) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("pipe failed");
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("fork failed");
    if (child == 0) {
        const std::string answer = body();
        _exit(write(ends[1], answer.data(), answer.size()) == std::ssize(answer) ? 0 : 1);
    }
    close(ends[1]);
    std::string answer(4096, '\0');
    const ssize_t got = read(ends[0], answer.data(), answer.size());
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (got < 0 || status != 0) throw std::runtime_error("the child process failed");
    answer.resize(static_cast<size_t>(got));
    return answer;
}

/// Runs `body` in a child process, and returns the peak growth of its resident memory in
/// MiB; ignores exceptions of `body`.
inline int64_t peak_growth_mib(const std::function<void()>& body) {
    const auto peak_kib = [] {
        struct rusage usage {};
        getrusage(RUSAGE_SELF, &usage);
        return int64_t{usage.ru_maxrss};
    };
    return std::stoll(in_child([&] {
               const int64_t before = peak_kib();
               try {
                   body();
               } catch (const std::exception&) {
               }
               return std::to_string(peak_kib() - before);
           })) /
           1024;
}

/// Calls `read` with copies of `good` that are truncated or differ in one byte, at every
/// `step`-th byte; `read` must return or throw BadFile. Returns how often `read` threw.
inline int64_t count_rejected(const Bytes& good,
                              const std::function<void(const Bytes&)>& read,
                              size_t step = 1) {
    int64_t rejected = 0;
    const auto attempt = [&](const Bytes& damaged) {
        try {
            read(damaged);
        } catch (const mini::BadFile&) {
            ++rejected;
        }
    };
    for (size_t i = 0; i < good.size(); i += step) {
        attempt({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(i)});
        for (const int flip : {0x01, 0x80, 0xff}) {
            Bytes damaged = good;
            damaged[i] = static_cast<uint8_t>(damaged[i] ^ flip);
            attempt(damaged);
        }
    }
    return rejected;
}

/// Runs `body` in a child process, as another user if this user is root, since file
/// permissions do not restrict root. Returns the message of the BadFile that `body`
/// throws.
inline std::string message_without_root(const std::function<void()>& body) {
    return in_child([&]() -> std::string {
        constexpr uid_t kNoRank = 65534;
        if (geteuid() == 0 && setuid(kNoRank) != 0)
            return "the child process could not give up being root";
        return message_of<mini::BadFile>(body);
    });
}
