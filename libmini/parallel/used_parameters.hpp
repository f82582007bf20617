// Which parameters get a gradient in a pass: on this rank, and on any rank.
//
// A parameter on which the result does not depend gets no gradient, and its bucket would
// never become full. The reducer asks this class, which knows the answer in three ways:
//
//     find_unused_parameters    from a walk over the graph, in each pass
//     static_graph              from the rank's first pass, for all later passes
//     neither                   every parameter gets one gradient
//
// The ranks exchange which parameters they have used: a parameter that only other ranks
// have used gets the average, one that no rank has used keeps its gradient.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/nn/module.hpp"
#include "libmini/parallel/ddp_options.hpp"

namespace mini::parallel {

/// Returns a vector whose element i is true if `output` depends on parameters[i], and
/// parameters[i] requires grad. The time is proportional to the size of the graph.
/// REQUIRES: all parameters are leaves.
std::vector<bool> used_parameters(const Tensor& output,
                                  const nn::NamedTensors& parameters);

/// Which parameters get a gradient in a pass, on this rank and on any rank.
class UsedParameters {
  public:
    UsedParameters(nn::NamedTensors parameters, const DDPOptions& options,
                   dist::ProcessGroup& group);

    /// Begins a pass that averages, from `output`. An undefined `output` depends on no
    /// parameter: a joined rank's pass.
    void begin_pass(const Tensor& output);

    /// Notes that parameter `index` has a gradient, in no_sync too: it will be averaged
    /// later.
    void mark_used(size_t index) { states_[index].used = true; }
    bool was_used(size_t index) const { return states_[index].used; }

    /// Counts a gradient of parameter `index` in this pass; returns whether it is the
    /// last one that is expected: never in the first pass of a static graph, which only
    /// counts. Throws Error for a gradient that is not expected.
    bool completes(size_t index);

    /// Returns whether parameter `index` gets no gradient in this pass on this rank, and
    /// the indices of all such parameters; in the first pass of a static graph, none.
    bool is_unused(size_t index) const { return states_[index].unused; }
    std::vector<size_t> unused() const;

    /// Returns the gradient of an unused parameter, undefined if it has none. If this
    /// gradient shares storage with `view`, the bucket's, replaces it by a copy.
    Tensor kept_gradient(size_t index, const Tensor& view);

    /// Called at the end of a pass: if it was the first pass of a static graph, which has
    /// only been counted, stores the counts for all later passes, and returns true.
    bool learn_graph();

    /// Starts to exchange, if needed, which parameters the ranks use. Call it when all buckets
    /// are launched, before the first wait: a wait may start the last bucket's all-reduce.
    void start_exchange();

    /// Waits for the exchange, and ends the pass. Returns the indices of the parameters
    /// that are unused on this rank, but used by another rank: those get the average.
    std::vector<size_t> finish_exchange();

    /// Returns whether finish_exchange() may return an index; on any rank, if they exchange.
    bool may_be_incomplete() const;

  private:
    // The state of one parameter.
    struct State {
        int counted = 0;      // gradients so far in this pass
        int expected = 1;     // gradients per pass; static_graph: as in the first pass
        bool unused = false;  // gets no gradient in this pass, on this rank
        bool used = false;    // a gradient has come since the last averaged pass
        bool used_somewhere = true;  // at least one rank has used the parameter
    };

    // Returns one entry per parameter: 1 if this rank contributes a gradient (with
    // static_graph, in every pass), otherwise 0. One more entry, the last, is 1 if this
    // rank has learnt the static graph.
    std::vector<int64_t> own_use() const;

    // Returns the indices of the parameters that are `unused` on this rank in this pass
    // and that at least one rank has used. use[index] is the number of ranks that have
    // used parameter `index`; for every parameter, stores in State::used_somewhere
    // whether use[index] is above 0. `use` is empty if the ranks did not exchange it in
    // this pass (static_graph, after every rank's first pass): then the stored values of
    // State::used_somewhere apply.
    std::vector<size_t> used_elsewhere(const std::vector<int64_t>& use);

    nn::NamedTensors parameters_;
    const bool searches_, is_static_;
    dist::ProcessGroup& group_;
    std::vector<State> states_;     // by parameter
    bool has_learnt_ = false;       // static_graph: this rank has had its first pass
    bool all_have_learnt_ = false;  // static_graph: every rank has had its first pass
    bool is_first_pass_ = true;
    Tensor use_;  // while the ranks exchange it, else undefined
    dist::WorkHandle exchange_;
};

}  // namespace mini::parallel
