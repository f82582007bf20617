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
