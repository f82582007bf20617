// No checkpoint is ever removed.
// region: libmini/io/checkpoint.cpp 1
    save_safetensors(path(step), contents.tensors, contents.metadata);
