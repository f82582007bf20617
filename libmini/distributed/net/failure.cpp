#include "libmini/distributed/net/failure.hpp"

#include <exception>
#include <sstream>

#include "libmini/core/error.hpp"

namespace mini::dist {

std::string to_text(const Failure& failure) {
    return concat(static_cast<int>(failure.kind), " ", failure.rank, " ",
                  failure.message.substr(0, kMaxFailureBytes));
}

Failure parse_failure(const std::string& text) {
    std::istringstream in(text);
    int kind = -1;
    Failure failure;
    in >> kind >> failure.rank;
    if (!in || kind < 0 || kind > static_cast<int>(Failure::Kind::kOther))
        return {Failure::Kind::kOther, -1, text};
    failure.kind = static_cast<Failure::Kind>(kind);
    std::getline(in.ignore(), failure.message, '\0');
    return failure;
}

Failure current_failure() {
    try {
        throw;
    } catch (const PeerLost& error) {
        return {Failure::Kind::kPeerLost, error.rank(), error.what()};
    } catch (const Timeout& error) {
        return {Failure::Kind::kTimeout, error.rank(), error.what()};
    } catch (const MismatchedCollective& error) {
        return {Failure::Kind::kMismatch, -1, error.what()};
    } catch (const std::exception& error) {
        return {Failure::Kind::kOther, -1, error.what()};
    } catch (...) {
        return {Failure::Kind::kOther, -1, "an exception that is not a std::exception"};
    }
}

void throw_failure(const Failure& failure) {
    switch (failure.kind) {
        case Failure::Kind::kPeerLost: throw PeerLost(failure.rank, failure.message);
        case Failure::Kind::kTimeout: throw Timeout(failure.message, failure.rank);
        case Failure::Kind::kMismatch: throw MismatchedCollective(failure.message);
        case Failure::Kind::kOther: break;
    }
    throw Error(failure.message);
}

Failure reported(const Failure& failure, int reporter) {
    if (failure.kind == Failure::Kind::kOther)
        return {Failure::Kind::kPeerLost, reporter,
                concat("rank ", reporter, " failed: ", failure.message)};
    return {failure.kind, failure.rank,
            concat("rank ", reporter, " reports: ", failure.message)};
}

}  // namespace mini::dist
