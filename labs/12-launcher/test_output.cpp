// The checks of lab 12, task 12.3: the output of all ranks on one screen, line by line.

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "labs/12-launcher/test_support.hpp"
#include "libmini/tools/minirun/output.hpp"

using namespace mini;
using namespace mini::lab12;
using tools::Output;

namespace {

// The pipes of some ranks, written by the check, and an Output that reads them.
class Ranks {
  public:
    explicit Ranks(int count) : output_(std::make_unique<Output>(true)) {
        for (int rank = 0; rank < count; ++rank) {
            Pipe out = new_pipe(), err = new_pipe();
            pipes_.push_back(std::move(out.write));
            pipes_.push_back(std::move(err.write));
            output_->add_rank(rank, {.pipe = std::move(out.read)},
                              {.pipe = std::move(err.read)});
        }
    }

    void write_out(int rank, std::string_view text) { write(2 * rank, text); }
    void write_err(int rank, std::string_view text) { write(2 * rank + 1, text); }

    // Ends all ranks, and returns the whole stdout.
    std::string end() {
        pipes_.clear();
        output_->finish();
        return screen_.out();
    }

    std::string out() const { return screen_.out(); }
    std::string err() const { return screen_.err(); }
    const Output& output() const { return *output_; }

  private:
    // Writes as much as fits into the pipe, lets the Output read it, and repeats.
    void write(int stream, std::string_view text) {
        const int fd = pipes_[static_cast<size_t>(stream)].fd();
        while (!text.empty()) {
            const ssize_t count = ::write(fd, text.data(), text.size());
            if (count > 0) text.remove_prefix(static_cast<size_t>(count));
            output_->copy();
        }
    }

    Screen screen_;
    std::unique_ptr<Output> output_;
    std::vector<Descriptor> pipes_;
};

}  // namespace

TEST_CASE("a line appears when it is complete and not before", "[lab12][lab12.3]") {
    Ranks ranks(2);
    ranks.write_out(1, "load");
    INFO("rank 1 has written \"load\" without a newline");
    CHECK(ranks.out() == "");
    ranks.write_out(1, "ing\nand");
    INFO("then \"ing\\nand\"; hint 1 of 12.3 helps");
    CHECK(ranks.out() == "[rank 1] loading\n");
    ranks.write_out(1, " training\n");
    CHECK(ranks.out() == "[rank 1] loading\n[rank 1] and training\n");
}

TEST_CASE("one read may bring several lines and empty ones", "[lab12][lab12.3]") {
    Ranks ranks(2);
    ranks.write_out(1, "a\n\n\nb\nc");
    CHECK(ranks.out() == "[rank 1] a\n[rank 1] \n[rank 1] \n[rank 1] b\n");
    ranks.write_out(1, "\n");
    CHECK(ranks.out() == "[rank 1] a\n[rank 1] \n[rank 1] \n[rank 1] b\n[rank 1] c\n");
}

TEST_CASE("rank 0's lines are unchanged and others show what a terminal would",
          "[lab12][lab12.3]") {
    Ranks ranks(2);
    ranks.write_out(0, "10 %\r20 %\nplain\n");
    INFO("a program that prints alone prints the same under minirun");
    CHECK(ranks.out() == "10 %\r20 %\nplain\n");
    ranks.write_out(1, "10 %\r20 %\nends in CR\r\n");
    INFO("rank 1's 10 % was overwritten by its 20 %: visible()");
    CHECK(ranks.out() == "10 %\r20 %\nplain\n[rank 1] 20 %\n[rank 1] ends in CR\n");
}

TEST_CASE("lines of many ranks are never mixed however they arrive", "[lab12][lab12.3]") {
    const int count = GENERATE(1, 2, 3, 4, 7);
    const size_t piece = GENERATE(size_t{1}, size_t{3}, size_t{16}, size_t{1000});
    Ranks ranks(count);
    const auto text_of = [](int rank) {
        const std::string name = std::to_string(rank);
        return "first of " + name + "\n\nlast line of rank " + name + "\n";
    };
    for (size_t start = 0; start < 100; start += piece)
        for (int rank = 0; rank < count; ++rank) {
            const std::string text = text_of(rank);
            if (start < text.size()) ranks.write_out(rank, text.substr(start, piece));
        }
    std::map<std::string, std::string> by_rank;  // prefix -> text without prefixes
    for (const std::string& line : lines_of(ranks.end())) {
        const size_t length = line.rfind("[rank ", 0) == 0 ? 9 : 0;
        by_rank[line.substr(0, length)] += line.substr(length) + "\n";
    }
    INFO(count << " ranks write in turn, " << piece << " bytes at a time");
    CHECK(by_rank.size() == static_cast<size_t>(count));
    for (int rank = 0; rank < count; ++rank)
        CHECK(by_rank[rank == 0 ? "" : "[rank " + std::to_string(rank) + "] "] ==
              text_of(rank));
}

TEST_CASE("unfinished last lines are written at the end", "[lab12][lab12.3]") {
    Ranks ranks(3);
    ranks.write_out(2, "rest of 2");
    ranks.write_out(0, "rest of 0");
    ranks.write_out(1, "rest of 1");
    CHECK(ranks.out() == "");
    INFO(
        "rank 0's last line has no newline, as it wrote none; the next rank's line must "
        "not be appended to it, and gets a newline of its own");
    CHECK(ranks.end() == "rest of 0\n[rank 1] rest of 1\n[rank 2] rest of 2\n");
}

TEST_CASE("alone, rank 0's output is the same byte for byte", "[lab12][lab12.3]") {
    const std::string text = GENERATE("", "\n", "a", "a\n", "\n\na\r\nb", "\ra\n\rb");
    Ranks ranks(1);
    if (!text.empty()) ranks.write_out(0, text);
    CHECK(ranks.end() == text);
}

TEST_CASE("a very long line is written in pieces so that memory stays bounded",
          "[lab12][lab12.3]") {
    const int rank = GENERATE(0, 1);
    Ranks ranks(2);
    const std::string line(3 << 20, 'x');
    ranks.write_out(rank, line);
    INFO("rank " << rank << " wrote 3 MiB without a newline; kMaxLineBytes is 1 MiB");
    CHECK(ranks.out().size() >= line.size() - (1 << 20));
    ranks.write_out(rank, "y\n");
    const std::string out = ranks.end();
    INFO("no byte is lost, doubled, or out of order");
    CHECK(std::count(out.begin(), out.end(), 'x') == 3 << 20);
    CHECK(out.substr(out.size() - 2) == "y\n");
    INFO("of rank 0 it is still one line; of others each piece has a prefix");
    if (rank == 0) CHECK(out == line + "y\n");
    if (rank == 1) CHECK(lines_of(out).size() >= 3);
}

TEST_CASE("a line of another rank begins on a new line after a piece of rank 0's",
          "[lab12][lab12.3]") {
    Ranks ranks(2);
    ranks.write_out(0, std::string(1 << 20, 'x'));
    ranks.write_out(1, "one\ntwo\n");
    ranks.write_out(0, "three\n");
    const std::string out = ranks.end();
    INFO(
        "rank 0 wrote 1 MiB without a newline, then rank 1 two lines, then rank 0 one; "
        "only the first line of rank 1 needs a newline before it: Sink::line_open");
    CHECK(out.substr(1 << 20) == "\n[rank 1] one\n[rank 1] two\nthree\n");
}

TEST_CASE("stderr is split like stdout and its last lines are remembered",
          "[lab12][lab12.3]") {
    Ranks ranks(3);
    ranks.write_err(1, "warn");
    ranks.write_out(1, "fine\n");
    ranks.write_err(1, "ing\n");
    for (int i = 0; i < 30; ++i) ranks.write_err(1, "line " + std::to_string(i) + "\n");
    CHECK(ranks.out() == "[rank 1] fine\n");
    CHECK(ranks.err().substr(0, 17) == "[rank 1] warning\n");
    ranks.write_err(2, "the last one\n");
    const auto tail = ranks.output().tail(1);
    INFO(
        "the failure report quotes a rank's last 20 lines: every complete line must go "
        "through take_line()");
    REQUIRE(tail.size() == 20);
    CHECK(tail.front() == "line 10");
    CHECK(tail.back() == "line 29");
}
