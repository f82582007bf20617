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
