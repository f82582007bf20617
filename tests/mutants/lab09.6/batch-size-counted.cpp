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
