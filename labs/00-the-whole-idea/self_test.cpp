// A self-test: twelve pieces of the C++20 that the labs use.
//
// PREDICT: write what the function returns into the text "" below it.
// REPAIR: the function does not do what its comment says. Change it. Then run
// labs/lab check 0, or, to see the reasons for all pieces,
//
//     g++ -std=c++20 -g -pthread -fsanitize=address self_test.cpp -o self_test
//     ./self_test      # says for each piece: right, wrong or open, and why
//     ./self_test 3    # runs piece 3 alone, with the report of the address sanitizer

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <concepts>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

// ---- 1. REPAIR: integers -------------------------------------------------------------
// Returns the rank to the left of `rank` in a ring of P ranks. To the left of 0 is P - 1.
int left_of(int rank, int P) { return (rank - 1) % P; }

// ---- 2. PREDICT: ranges and structured bindings --------------------------------------
std::string sorted_buckets() {
    struct Bucket {
        std::string name;
        int bytes;
    };
    std::vector<Bucket> buckets = {{"a", 30}, {"b", 10}, {"c", 20}};
    std::ranges::sort(buckets, std::greater{}, &Bucket::bytes);
    std::string names;
    for (auto [name, bytes] : buckets) {
        names += name;
        bytes = 0;
    }
    return names + " " + std::to_string(buckets[0].bytes);
}
const std::string kAnswer2 = "";

// ---- 3. REPAIR: a view of a vector ---------------------------------------------------
// Appends `number`, and sets all numbers that were there before to 0.
void append_and_clear(std::vector<float>& numbers, float number) {
    const std::span<float> before(numbers);
    numbers.push_back(number);
    std::ranges::fill(before, 0.0f);
}

// ---- 4. REPAIR: a view of a text -----------------------------------------------------
// Returns what stands behind the "=" of an option: "0.1" of "lr=0.1".
std::string_view value_of(std::string option) {
    const std::string_view text = option;
    return text.substr(text.find('=') + 1);
}

// ---- 5. PREDICT: destructors and exceptions ------------------------------------------
struct Scope {
    std::string& log;
    char name;
    ~Scope() { log += name; }
};
std::string order_of_events() {
    std::string log;
    try {
        const Scope a{log, 'a'};
        { const Scope b{log, 'b'}; }
        const Scope c{log, 'c'};
        throw std::runtime_error("a rank has failed");
    } catch (const std::exception&) {
        log += '!';
    }
    return log;
}
const std::string kAnswer5 = "";

// ---- 6. REPAIR: an owner -------------------------------------------------------------
int closed = 0;  // how many files were closed

// Owns an open file, and closes it exactly once. It can be moved, but not copied.
struct File {
    int number;  // -1: owns no file
    explicit File(int its_number) : number(its_number) {}
    ~File() {
        if (number >= 0) ++closed;  // a real one calls close(number)
    }
};

// ---- 7. PREDICT: the captures of a lambda --------------------------------------------
std::string hooks() {
    std::vector<std::function<int()>> hooks;
    int layer = 0, step = 7;
    for (; layer < 3; ++layer)
        hooks.push_back([&layer, step] { return 10 * layer + step; });
    step = 8;
    return std::to_string(hooks[0]()) + " " + std::to_string(hooks[1]());
}
const std::string kAnswer7 = "";

// ---- 8. PREDICT: shared ownership ----------------------------------------------------
std::string shared_numbers() {
    const auto a = std::make_shared<std::vector<int>>(2, 1);  // two numbers: 1 1
    auto b = a;
    const auto c = std::make_shared<std::vector<int>>(*a);
    b->at(0) = 5;
    b.reset();
    c->at(1) = 6;
    return std::to_string(a->at(0)) + " " + std::to_string(a->at(1));
}
const std::string kAnswer8 = "";

// ---- 9. PREDICT: optional values and designated initialisers -------------------------
struct Options {
    std::optional<int> rank;
    int replicas = 1;
    bool shuffle = true;
};
std::string described(const Options& options) {
    return (options.rank ? "a rank of " : "no rank of ") +
           std::to_string(options.replicas) + (options.shuffle ? " shuffles" : "");
}
std::string sampler() { return described({.rank = 0, .replicas = 4}); }
const std::string kAnswer9 = "";

// ---- 10. PREDICT: templates with concepts --------------------------------------------
std::string kind(std::integral auto) { return "integer"; }
std::string kind(std::floating_point auto) { return "float"; }

std::string kinds() { return kind('7') + " " + kind(7 / 2) + " " + kind(7 / 2.0); }
const std::string kAnswer10 = "";

// ---- 11. REPAIR: threads that share a number -----------------------------------------
// Lets four threads count to `times` each, and returns 4 * times.
int count_together(int times) {
    int count = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&count, times] {
            for (int k = 0; k < times; ++k) {
                const int before = count;
                std::this_thread::sleep_for(std::chrono::microseconds(1));
                count = before + 1;
            }
        });
    for (std::thread& thread : threads) thread.join();
    return count;
}

// ---- 12. REPAIR: a condition variable ------------------------------------------------
// wait() returns when set() has been called, even if that was long before, and not earlier.
struct Signal {
    std::mutex mutex;
    std::condition_variable changed;
    bool is_set = false;
    void set() {
        const std::lock_guard lock(mutex);
        is_set = true;
        changed.notify_all();
    }
    void wait() {
        std::unique_lock lock(mutex);
        changed.wait(lock);
    }
};

// ---- The checks. Read them when you have tried all pieces. ---------------------------
bool check_left() {
    return left_of(0, 4) == 3 && left_of(2, 4) == 1 && left_of(0, 1) == 0;
}

bool check_span() {
    std::vector<float> numbers = {1, 2, 3};
    append_and_clear(numbers, 4);
    return numbers == std::vector<float>{0, 0, 0, 4};
}

bool check_text() {
    const std::string path(50, 'x'), option = "checkpoint=" + path;
    const auto value = value_of(option);
    return value == path;
}

template <typename Owner>
bool check_owner() {
    if constexpr (!std::copy_constructible<Owner> && std::move_constructible<Owner>) {
        Owner first(3);
        const Owner second = std::move(first);
    }
    return closed == 1;
}

bool check_signal() {
    Signal signal;
    std::atomic<bool> has_returned = false;
    std::thread waiting([&] { signal.wait(), has_returned = true; });
    for (int i = 0; i < 50; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        signal.changed.notify_all();
    }
    const bool was_early = has_returned;
    signal.set();
    waiting.join();
    signal.wait();
    return !was_early;
}

struct Piece {
    std::function<bool()> is_right;
    std::string why;
    bool is_open = false;
};

Piece predict(std::string prediction, std::string (*run)(), std::string why) {
    return {[=] { return prediction == run(); }, why, prediction.empty()};
}

const std::vector<Piece> pieces = {
    {check_left, "-1 % 4 is -1 in C++: a remainder has the sign of the left operand."},
    predict(kAnswer2, sorted_buckets,
            "The largest comes first, and auto [...] makes a copy."),
    {check_span, "push_back may move the numbers; the span still has the old place."},
    {check_text, "A view owns no text, and a parameter ends with its function."},
    predict(kAnswer5, order_of_events,
            "Scopes end in reverse order, before the catch block."),
    {check_owner<File>, "Two copies both close, and so do two owners after a move."},
    predict(kAnswer7, hooks, "[&layer] is read at the call, [step] was copied before."),
    predict(kAnswer8, shared_numbers, "a and b owned the same numbers, c owns a copy."),
    predict(kAnswer9, sampler,
            "An optional with a value is true, even with 0; defaults stay."),
    predict(kAnswer10, kinds,
            "A char is integral, and so is 7 / 2; 7 / 2.0 is a double."),
    {[] { return count_together(100) == 400; },
     "Another thread may write between the read and the write."},
    {check_signal, "A notification before the wait is lost; is_set is not."}};

// Runs a check in a process of its own: a mistake may crash it, or make it wait forever.
bool succeeds(const std::function<bool()>& check) {
    const pid_t process = fork();
    if (process == 0) {
        alarm(5 /* s */);  // after which the process is killed
        close(STDERR_FILENO);
        _exit(check() ? 0 : 1);
    }
    int status = 1;
    waitpid(process, &status, 0);
    return status == 0;
}

int main(int argc, char** argv) {
    if (argc > 1) {
        const bool is_right = pieces.at(std::atoi(argv[1]) - 1).is_right();
        std::puts(is_right ? "right" : "wrong");
        return 0;
    }
    int number = 0, right = 0;
    for (const auto& [is_right, why, is_open] : pieces) {
        const bool passes = !is_open && succeeds(is_right);
        right += passes;
        std::printf("%2d ", ++number);
        std::puts(is_open ? "open" : ((passes ? "right  " : "wrong  ") + why).c_str());
    }
    std::printf("%d of %d are right\n", right, number);
    return right == number ? 0 : 1;
}
