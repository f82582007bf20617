// The store's server when memory runs out. This program replaces operator new, so that
// any allocation of the server's thread can fail.

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>

#include "libmini/distributed/store/tcp_store.hpp"
#include "libmini/distributed/store/tcp_store_server.hpp"
#include "tests/distributed/support.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;

namespace {

thread_local bool is_spared = false;  // the test's thread: its allocations succeed

// How many allocations succeed before the first failure, and how many then fail.
std::atomic<int64_t> until_failure = INT64_MAX;
std::atomic<int64_t> failures = 0;

bool must_fail() {
    if (is_spared || failures == 0) return false;
    if (until_failure.fetch_sub(1) > 0) return false;
    return failures.fetch_sub(1) > 0;
}

}  // namespace

// Replaces all forms of new and delete: the address sanitizer would otherwise use its own
// version of the missing forms. delete is not inline: GCC 14 would warn that free() gets
// memory from new.
void* operator new(size_t size, const std::nothrow_t&) noexcept {
    return must_fail() ? nullptr : std::malloc(size == 0 ? 1 : size);
}
void* operator new(size_t size) {
    void* const memory = operator new(size, std::nothrow);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}
void* operator new[](size_t size) { return operator new(size); }
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, size_t) noexcept {
    std::free(memory);
}

namespace {

// Lets allocation n of the server fail in round n, and the next ones, `failures_per_round` in
// all.
void serve_without_memory(int failures_per_round) {
    is_spared = true;
    TcpStoreServer server({"127.0.0.1", 0}, Cookie{});
    const std::string value(300'000, 'v');
    int ended = 0;
    for (int64_t n = 0; n < 80; ++n) {
        CAPTURE(n);
        until_failure = n;
        failures = failures_per_round;
        const std::string text = failure_of([&] {
            const Deadline deadline = deadline_after(kLong);
            TcpStore a(server.address(), Cookie{}, deadline);
            TcpStore b(server.address(), Cookie{}, deadline);
            const std::string key = concat("a key that is too long to lie in place ", n);
            failure_of([&] { a.get(key, deadline_after(milliseconds(1))); });
            b.set(key, value);
            MINI_CHECK(a.get(key, deadline) == value, "another value");
            MINI_CHECK(a.compare_set(key, value, "") == "", "another value");
            a.add(key + "n", 1);
            b.delete_key(key);
        });
        failures = 0;
        CAPTURE(text);
        CHECK_FALSE(contains(text, "another value"));
        CHECK_FALSE(
            contains(text, "Timeout"));  // the connection is closed, not left open
        ended += !text.empty();

        // A client that connects now finds a working store.
        TcpStore next(server.address(), Cookie{}, deadline_after(kLong));
        CHECK(next.add("rounds", 1) == n + 1);
        for (const char* end : {"", "n"})
            next.delete_key(concat("a key that is too long to lie in place ", n, end));
    }
    CHECK(ended > 0);
    CHECK(server.counters().over_memory > 0);
}

}  // namespace

TEST_CASE(
    "if any allocation fails the store's server closes connections and keeps serving") {
    serve_without_memory(1);
}

TEST_CASE("if any three allocations in a row fail the store's server keeps serving") {
    serve_without_memory(3);
}
