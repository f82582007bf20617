// The bias begins with zeros.
// region: libmini/nn/init.cpp 7
    kaiming_uniform_(weight, {.a = std::sqrt(5.0)});
    if (bias.defined()) zeros_(bias);
