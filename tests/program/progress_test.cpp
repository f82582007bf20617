#include "libmini/program/progress.hpp"

#include <sstream>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/variables.hpp"

using mini::Progress;
using mini::ProgressOptions;

namespace {

using Clock = std::chrono::steady_clock;

// A clock that changes only in pass().
struct FakeClock {
    Clock::time_point now{};
    void pass(int milliseconds) { now += std::chrono::milliseconds(milliseconds); }
    ProgressOptions options(bool terminal, int width = 80) {
        return {.terminal = terminal, .width = width, .clock = [this] { return now; }};
    }
};

std::string repeat(int count, const std::string& text) {
    std::string result;
    for (int i = 0; i < count; ++i) result += text;
    return result;
}

}  // namespace

TEST_CASE("a line shows percentage and bar and counts and times and rate") {
    struct Case {
        std::string label;
        int64_t total;
        bool terminal;
        int width;
        int64_t done;
        double seconds;
        std::string line;
        int64_t initial = 0;
    };
    const std::vector<Case> cases = {
        // Beside the text, 37, 27 and 27 of 80 columns are left for the bar.
        {"epoch 1/3", 469, true, 80, 0, 0,
         "epoch 1/3   0%|" + repeat(37, " ") + "| 0/469 [00:00<?, ? batch/s]"},
        {"epoch 1/3", 469, true, 80, 291, 2.218,
         "epoch 1/3  62%|" + repeat(16, "#") + repeat(11, " ") +
             "| 291/469 [00:02<00:01, 131.2 batch/s]"},
        {"epoch 1/3", 469, true, 80, 469, 3.5,
         "epoch 1/3 100%|" + repeat(27, "#") + "| 469/469 [00:03<00:00, 134.0 batch/s]"},
        // Slow steps have seconds per step, and long times hours.
        {"e", 4, false, 80, 1, 3600, "e  25% 1/4 [1:00:00<3:00:00, 3600.0 s/batch]"},
        {"e", 4, false, 80, 2, 125, "e  50% 2/4 [02:05<02:05, 62.5 s/batch]"},
        // A line that is too long loses the bar, and is then truncated.
        {"steps", 10, true, 42, 5, 1, "steps  50% 5/10 [00:01<00:01, 5.0 batch/s]"},
        {"steps", 10, true, 4, 5, 1, "step"},
        // A total of 0, and more steps than the total, are 100 %.
        {"e", 0, false, 80, 0, 1, "e 100% 0/0 [00:01<?, ? batch/s]"},
        {"e", 2, false, 80, 3, 1, "e 100% 3/2 [00:01<00:00, 3.0 batch/s]"},
        // Only this run's steps count for the rate.
        {"e", 10, false, 80, 7, 1, "e  70% 7/10 [00:01<00:03, 1.0 batch/s]", 6},
        {"e", 10, false, 80, 6, 1, "e  60% 6/10 [00:01<?, ? batch/s]", 6}};
    for (const Case& c : cases) {
        std::ostringstream out;
        FakeClock clock;
        ProgressOptions options = clock.options(c.terminal, c.width);
        options.initial = c.initial;
        const Progress progress(out, c.label, c.total, options);
        CHECK(progress.line(c.done, c.seconds) == c.line);
    }
}

TEST_CASE("output to a pipe is at most one plain line per 10 %") {
    std::ostringstream out;
    FakeClock clock;
    {
        Progress progress(out, "e", 25, clock.options(false));
        const std::vector<int> steps = {1, 1, 1, 1, 1, 10, 1, 1, 1, 7};
        for (const int n : steps) {
            clock.pass(500);
            progress.advance(n, [] { return "loss 0.5"; });
        }
    }
    // The advance by ten steps passes 30 %, 40 %, 50 % and 60 % and prints one line.
    CHECK(out.str() ==
          "e  12% 3/25 [00:01<00:11, 2.0 batch/s] loss 0.5\n"
          "e  20% 5/25 [00:02<00:10, 2.0 batch/s] loss 0.5\n"
          "e  60% 15/25 [00:03<00:02, 5.0 batch/s] loss 0.5\n"
          "e  72% 18/25 [00:04<00:01, 4.0 batch/s] loss 0.5\n"
          "e 100% 25/25 [00:05<00:00, 5.0 batch/s] loss 0.5\n");
}

TEST_CASE(
    "output to a terminal is one line that is redrawn at most every 100 ms and at the "
    "end") {
    std::ostringstream out;
    FakeClock clock;
    {
        Progress progress(out, "e", 4, clock.options(true, 42));
        clock.pass(1000);
        int notes = 0;
        const auto note = [&] {
            ++notes;
            return "a long note";
        };
        progress.advance(1, note);
        clock.pass(99);
        progress.advance(1, note);  // too soon
        CHECK(notes == 1);
        clock.pass(1);
        progress.advance(1);
        progress.advance(1);  // the last step
        CHECK(out.str() ==
              "\re  25% 1/4 [00:01<00:03, 1.0 batch/s] a lo"
              "\re  75%|## | 3/4 [00:01<00:00, 2.7 batch/s]"
              "\re 100%|###| 4/4 [00:01<00:00, 3.6 batch/s]");
        out.str("");
    }
    CHECK(out.str() == "\re 100%|###| 4/4 [00:01<00:00, 3.6 batch/s]\n");
}

TEST_CASE(
    "a shorter line overwrites a longer previous line completely, and a bar destroyed "
    "early shows its last state and ends the line") {
    std::ostringstream out;
    FakeClock clock;
    {
        Progress progress(out, "e", 4, clock.options(true, 38));
        clock.pass(1000);
        progress.advance(1, [] { return "x"; });
        clock.pass(1000);
        progress.advance(1);
        CHECK(out.str() ==
              "\re  25% 1/4 [00:01<00:03, 1.0 batch/s] "
              "\re  50% 2/4 [00:02<00:02, 1.0 batch/s] ");
        progress.advance(1);  // too soon
        out.str("");
    }
    CHECK(out.str() == "\re  75% 3/4 [00:02<00:00, 1.5 batch/s] \n");
}

TEST_CASE("a disabled bar, one without steps and one of a negative total write nothing") {
    std::ostringstream out;
    FakeClock clock;
    {
        ProgressOptions off = clock.options(true);
        off.enabled = false;
        Progress progress(out, "e", 2, off);
        progress.advance(2);
        const Progress unmoved(out, "e", 2, clock.options(true));
        CHECK_THROWS_AS(Progress(out, "e", -1), mini::Error);
    }
    CHECK(out.str() == "");
}

TEST_CASE("MINI_PROGRESS overrides stderr_is_terminal") {
    for (const bool bar : {true, false}) {
        const mini::test::Variables set{{"MINI_PROGRESS", bar ? "bar" : "plain"}};
        CHECK(mini::stderr_is_terminal() == bar);
    }
}
