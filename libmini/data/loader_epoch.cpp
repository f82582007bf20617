#include "libmini/data/loader_epoch.hpp"

#include <utility>

#include "libmini/data/epoch_state.hpp"

namespace mini::data {

LoaderEpoch::LoaderEpoch(EpochPlan plan)
    : state_(std::make_shared<EpochState>(std::move(plan))) {}

LoaderEpoch::~LoaderEpoch() = default;
LoaderEpoch::LoaderEpoch(LoaderEpoch&&) noexcept = default;
LoaderEpoch& LoaderEpoch::operator=(LoaderEpoch&&) noexcept = default;

std::optional<Batch> LoaderEpoch::next() { return state_->next(); }

LoaderEpoch::Iterator LoaderEpoch::begin() { return Iterator(state_); }

LoaderEpoch::Iterator::Iterator(std::shared_ptr<EpochState> state)
    : state_(std::move(state)), batch_(state_->next()) {}

LoaderEpoch::Iterator& LoaderEpoch::Iterator::operator++() {
    batch_ = state_->next();
    return *this;
}

}  // namespace mini::data
