// Errors: one base class, a few derived classes, and the macro MINI_CHECK.
//
//     MINI_CHECK(x.dim() == 2, "linear: x is ", x.shape(), ", not a matrix");
//
// A message names the operation, both values and, when one is known, the next step for
// the user. The library never prints an error and never exits: it throws, and the program
// decides what to do.

#pragma once

#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace mini {

namespace detail {

template <typename T>
void put(std::ostream& out, const T& value) {
    out << value;
}

// Prints a shape as a Python tuple: (4, 3), (5,), ().
template <typename T>
void put(std::ostream& out, const std::vector<T>& values) {
    out << '(';
    for (size_t i = 0; i < values.size(); ++i) out << (i ? ", " : "") << values[i];
    out << (values.size() == 1 ? ",)" : ")");
}

}  // namespace detail

/// Returns the concatenation of the parts as text; a vector is printed as (4, 3).
template <typename... Parts>
std::string concat(const Parts&... parts) {
    std::ostringstream out;
    (detail::put(out, parts), ...);
    return out.str();
}

/// The base class of all exceptions that libmini throws itself.
class Error : public std::runtime_error {
  public:
    /// The message is the concatenation of the parts, as of concat().
    template <typename... Parts>
    explicit Error(const std::string& first, const Parts&... parts)
        : std::runtime_error(concat(first, parts...)) {}
};

/// Two shapes, dtypes or devices are incompatible.
class ShapeError : public Error {
  public:
    using Error::Error;
};

/// An argument from the user is invalid; a program exits with code 2.
class UsageError : public Error {
  public:
    using Error::Error;
};

/// A file is missing, truncated, or not of the expected format.
class BadFile : public Error {
  public:
    using Error::Error;
};

/// A wait reached its deadline.
class Timeout : public Error {
  public:
    explicit Timeout(const std::string& text, int rank = -1) : Error(text), rank_(rank) {}

    /// Returns the rank that is silent; -1 if it is unknown, or if no rank was awaited.
    int rank() const { return rank_; }

  private:
    int rank_;
};

/// A rank was lost: its process died, its connection closed, or it reported its failure.
class PeerLost : public Error {
  public:
    PeerLost(int rank, const std::string& message) : Error(message), rank_(rank) {}

    /// Returns the rank that was lost.
    int rank() const { return rank_; }

  private:
    int rank_;
};

/// Ranks called different collectives, or one collective with different arguments.
class MismatchedCollective : public Error {
  public:
    using Error::Error;
};

/// A lab task has not been started, or this build or backend lacks the operation.
class NotImplemented : public Error {
  public:
    using Error::Error;
};

/// Returns the name of a failed system call and the text of its errno:
/// "open failed: No such file or directory".
std::string system_message(const std::string& call, int error_number);

/// Throws NotImplemented: "[lab07.2] not started: Hand out one rank's partition.", and on
/// a second line what else to do.
[[noreturn]] void not_implemented(const char* task, const char* title);

}  // namespace mini

/// Throws mini::Error, with the concatenation of the parts as its message, when
/// `condition` does not hold.
#define MINI_CHECK(condition, ...)                                          \
    do {                                                                    \
        if (!(condition)) throw ::mini::Error(::mini::concat(__VA_ARGS__)); \
    } while (false)

/// Throws NotImplemented, which `labs/lab check` reports as "not started". A lab's
/// starter file has MINI_TODO in place of the student's code.
#define MINI_TODO(task, title) ::mini::not_implemented(task, title)
