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
