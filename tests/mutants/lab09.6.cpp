// --- all-reduce-a-batch
// One all-reduce per batch, in which ranks with fewer batches do not take part.
// region: libmini/training/accuracy.cpp 2
Accuracy mine;
for (const data::Batch& batch : loader) {
    const Tensor counts =
        Tensor::from(std::vector<int64_t>{count_batch(model, batch), batch.size()});
    group.all_reduce(counts);
    mine.correct += counts.to_vector<int64_t>()[0];
    mine.seen += counts.to_vector<int64_t>()[1];
}
return mine;

// --- all-right
// Every sample counts as right.
// region: libmini/training/accuracy.cpp 1
const Tensor scores = model(batch.data);
return scores.size(0);

// --- batch-size-counted
// Every batch counts as full as the first, so the last one's empty places are counted too.
// region: libmini/training/accuracy.cpp 2
Accuracy mine;
int64_t full = 0;
for (const data::Batch& batch : loader) {
    full = std::max(full, batch.size());
    mine.correct += count_batch(model, batch);
    mine.seen += full;
}
const Tensor counts = Tensor::from(std::vector<int64_t>{mine.correct, mine.seen});
group.all_reduce(counts);
const auto total = counts.to_vector<int64_t>();
return {.correct = total[0], .seen = total[1]};

// --- counts-as-floats
// The counts are added as float32, which has 24 bits.
// region: libmini/training/accuracy.cpp 2
Accuracy mine;
for (const data::Batch& batch : loader) {
    mine.correct += count_batch(model, batch);
    mine.seen += batch.size();
}
const Tensor counts = Tensor::from(
    std::vector<float>{static_cast<float>(mine.correct), static_cast<float>(mine.seen)});
group.all_reduce(counts);
const auto total = counts.to_vector<float>();
return {.correct = static_cast<int64_t>(total[0]),
        .seen = static_cast<int64_t>(total[1])};

// --- mean-of-batches
// The batches' accuracies are averaged, so that a short last batch weighs too much.
// region: libmini/training/accuracy.cpp 2
double shares = 0;
int64_t batches = 0, seen = 0;
for (const data::Batch& batch : loader) {
    shares += static_cast<double>(count_batch(model, batch)) /
              static_cast<double>(batch.size());
    ++batches;
    seen += batch.size();
}
const double share = batches == 0 ? 0 : shares / static_cast<double>(batches);
const auto correct = static_cast<int64_t>(share * static_cast<double>(seen) + 0.5);
const Tensor counts = Tensor::from(std::vector<int64_t>{correct, seen});
group.all_reduce(counts);
const auto total = counts.to_vector<int64_t>();
return {.correct = total[0], .seen = total[1]};

// --- mean-of-shares
// The ranks' shares are averaged, as if all had seen equally many samples.
// region: libmini/training/accuracy.cpp 2
Accuracy mine;
for (const data::Batch& batch : loader) {
    mine.correct += count_batch(model, batch);
    mine.seen += batch.size();
}
Tensor share = Tensor::scalar(static_cast<float>(mine.share()));
group.all_reduce(share, dist::ReduceOp::kAvg);
const Tensor seen = Tensor::from(std::vector<int64_t>{mine.seen});
group.all_reduce(seen);
const auto total = seen.to_vector<int64_t>()[0];
return {.correct = static_cast<int64_t>(share.item() * static_cast<double>(total)),
        .seen = total};

// --- mean-over-ranks
// The counts are averaged over the ranks, not added up.
// region: libmini/training/accuracy.cpp 2
Accuracy mine;
for (const data::Batch& batch : loader) {
    mine.correct += count_batch(model, batch);
    mine.seen += batch.size();
}
const Tensor counts = Tensor::from(std::vector<int64_t>{mine.correct, mine.seen});
group.all_reduce(counts);
const auto total = counts.to_vector<int64_t>();
return {.correct = total[0] / group.world_size(), .seen = total[1] / group.world_size()};

// --- only-rank-0-asks
// Only rank 0 calls the all-reduce, which waits for the others.
// region: libmini/training/accuracy.cpp 2
Accuracy mine;
for (const data::Batch& batch : loader) {
    mine.correct += count_batch(model, batch);
    mine.seen += batch.size();
}
const Tensor counts = Tensor::from(std::vector<int64_t>{mine.correct, mine.seen});
if (group.rank() == 0) group.all_reduce(counts);
const auto total = counts.to_vector<int64_t>();
return {.correct = total[0], .seen = total[1]};

// --- own-part-only
// Each rank reports its own part of the dataset.
// region: libmini/training/accuracy.cpp 2
Accuracy mine;
for (const data::Batch& batch : loader) {
    mine.correct += count_batch(model, batch);
    mine.seen += batch.size();
}
(void)group;
return mine;
