// Gather, scatter and all-to-all: each block goes directly from its source rank to its
// destination rank.
//
//     gather        rank r's block -> the root          P-1 messages to the root
//     scatter       the root's block r -> rank r        P-1 messages from the root
//     all-to-all    rank a's block b -> rank b          P-1 steps (pairwise exchange): in
//                                                       step k, rank r sends to r+k and
//                                                       receives from r-k (mod P)
//
// Each block crosses the network once; a tree would send blocks through other ranks. All
// three functions block until this rank's part is done.

#pragma once

#include <span>

#include "libmini/distributed/collectives/elements.hpp"
#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

/// Copies rank r's `input` to outputs[r] on the root. `outputs` is empty on other
/// ranks.
void gather_blocks(Transport& transport, std::span<const Elements> outputs,
                   Elements input, int root);

/// Copies the root's inputs[r] to `output` on rank r. `inputs` is empty on other ranks.
void scatter_blocks(Transport& transport, Elements output,
                    std::span<const Elements> inputs, int root);

/// Copies inputs[rank] of rank r to outputs[r] on every rank. REQUIRES: inputs and
/// outputs do not overlap.
void exchange_blocks(Transport& transport, std::span<const Elements> outputs,
                     std::span<const Elements> inputs);

}  // namespace mini::dist
