#include "libmini/distributed/net/failure.hpp"

#include <exception>

#include "libmini/core/error.hpp"

namespace mini::dist {

Failure current_failure() {
    try {
        throw;
    } catch (const PeerLost& error) {
        return {Failure::Kind::kPeerLost, error.rank(), error.what()};
    } catch (const Timeout& error) {
        return {Failure::Kind::kTimeout, -1, error.what()};
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
        case Failure::Kind::kTimeout: throw Timeout(failure.message);
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
