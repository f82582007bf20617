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
