// Gather, scatter and all-to-all: blocks that go straight from the rank that has them to
// the rank that wants them.
//
//     gather        rank r's block -> the root          P-1 messages to the root
//     scatter       the root's block r -> rank r        P-1 messages from the root
//     all-to-all    rank a's block b -> rank b's a      P-1 exchanges a rank, each with
//                                                       another partner (pairwise exchange)
//
// Nothing is sent twice: each block crosses the network once, which a tree would not
// keep to.

#pragma once

#include <span>

#include "libmini/distributed/collectives/elements.hpp"
#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

/// Leaves rank r's `input` in outputs[r] on the root; `outputs` is empty elsewhere.
void gather_blocks(Transport& transport, std::span<const Elements> outputs,
                   Elements input, int root);

/// Leaves the root's inputs[r] in `output` on rank r; `inputs` is empty elsewhere.
void scatter_blocks(Transport& transport, Elements output,
                    std::span<const Elements> inputs, int root);

/// Leaves rank r's inputs[rank] in outputs[r] on every rank. REQUIRES: no overlap.
void exchange_blocks(Transport& transport, std::span<const Elements> outputs,
                     std::span<const Elements> inputs);

}  // namespace mini::dist
