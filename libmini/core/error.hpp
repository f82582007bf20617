// Errors: one base class, a few typed children, one macro.
//
//     MINI_CHECK(x.dim() == 2, "linear: x is ", x.shape(), ", not a matrix");
//
// A message names what was tried, both values, and, where there is one, the next step.
// The library never prints and never exits: it throws, and the program decides.

#pragma once

#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace mini {

/// The base of everything that libmini throws on purpose.
class Error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Two shapes, dtypes or devices that do not fit together.
class ShapeError : public Error {
  public:
    using Error::Error;
};

/// What the user asked for makes no sense; a program ends with exit code 2.
class UsageError : public Error {
  public:
    using Error::Error;
};

/// A file that is missing, cut short, or not what it claims to be.
class BadFile : public Error {
  public:
    using Error::Error;
};

/// A wait that reached its deadline.
class Timeout : public Error {
  public:
    using Error::Error;
};

/// A rank of the group is gone: its process died or its connection closed.
class PeerLost : public Error {
  public:
    PeerLost(int rank, const std::string& message) : Error(message), rank_(rank) {}

    /// The rank that is gone.
    int rank() const { return rank_; }

  private:
    int rank_;
};

/// Ranks that called different collectives, or the same one with different arguments.
class MismatchedCollective : public Error {
  public:
    using Error::Error;
};

/// A task of a lab that the learner has not begun.
class NotImplemented : public Error {
  public:
    using Error::Error;
};

namespace detail {

template <typename T>
void put(std::ostream& out, const T& value) {
    out << value;
}

// Shapes print as PyTorch prints sizes: (4, 3), (5,), ().
template <typename T>
void put(std::ostream& out, const std::vector<T>& values) {
    out << '(';
    for (size_t i = 0; i < values.size(); ++i) out << (i ? ", " : "") << values[i];
    out << (values.size() == 1 ? ",)" : ")");
}

}  // namespace detail

/// The parts written one after the other; vectors as (4, 3).
template <typename... Parts>
std::string concat(const Parts&... parts) {
    std::ostringstream out;
    (detail::put(out, parts), ...);
    return out.str();
}

/// "open", errno and its text in one phrase: "open failed: No such file or directory".
std::string system_message(const std::string& call, int error_number);

/// Throws NotImplemented: "[lab07.2] not started: Hand out one rank's partition."
[[noreturn]] void not_implemented(const char* task, const char* title);

}  // namespace mini

/// Throws mini::Error with the given parts when `condition` does not hold.
#define MINI_CHECK(condition, ...)                                          \
    do {                                                                    \
        if (!(condition)) throw ::mini::Error(::mini::concat(__VA_ARGS__)); \
    } while (false)

/// What a lab's starter has where the learner's code goes. `labs/lab check` knows a task
/// that throws this for one that is not begun.
#define MINI_TODO(task, title) ::mini::not_implemented(task, title)
