#include "labs/09-distributed-sampler/epoch_position.hpp"

#include "libmini/core/error.hpp"

// [lab09 file]
namespace mini::labs {

int64_t batches_per_epoch(const Division& division) {
    // [lab09.4] Count the batches of a rank's samples; a short last batch counts.
    const int64_t each = (division.samples + division.ranks - 1) / division.ranks;
    return (each + division.batch_size - 1) / division.batch_size;
    // [lab09.4]
}

EpochPosition position_after(int64_t steps, const Division& division) {
    // [lab09.4] Find the epoch that the steps have reached, and the batch in it.
    const int64_t batches = batches_per_epoch(division);
    return {.epoch = steps / batches, .batch = steps % batches};
    // [lab09.4]
}

EpochPosition same_place(EpochPosition stopped, const Division& was,
                         const Division& now) {
    // [lab09.4] Count the places that are used; throw unless a batch of `now` begins there.
    const int64_t used = stopped.batch * was.ranks * was.batch_size;
    const int64_t batch = now.ranks * now.batch_size;
    if (used % batch != 0)
        throw UsageError(concat("same_place: the stopped job has used ", used,
                                " samples of the epoch, but batches of ", batch,
                                " (of all ranks together) begin after ",
                                used - used % batch, " and after ",
                                used - used % batch + batch,
                                "; choose another batch size or number of ranks"));
    return {.epoch = stopped.epoch, .batch = used / batch};
    // [lab09.4]
}

data::LoaderEpoch go_on(data::DataLoader& loader, EpochPosition position) {
    // [lab09.4] Choose the epoch's order, then start at the batch.
    loader.set_epoch(position.epoch);
    return loader.epoch(position.batch);
    // [lab09.4]
}

}  // namespace mini::labs
// [lab09 file]
