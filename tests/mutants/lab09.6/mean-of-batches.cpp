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
