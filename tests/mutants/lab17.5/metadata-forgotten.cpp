// The metadata of a checkpoint are not saved.
// region: libmini/io/checkpoint.cpp 1
    save_safetensors(path(step), contents.tensors);
    remove_old(step);
