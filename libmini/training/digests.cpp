#include "libmini/training/digests.hpp"

#include <algorithm>
#include <cstddef>

#include "libmini/distributed/group/gather.hpp"
#include "libmini/io/sha256.hpp"

namespace mini::training {

std::vector<std::string> digests(dist::ProcessGroup& group,
                                 const std::vector<Tensor>& tensors) {
    std::vector<std::byte> bytes;
    for (const Tensor& tensor : tensors) {
        const Tensor copy = tensor.to(Device::cpu());
        bytes.insert(bytes.end(), copy.raw_data(), copy.raw_data() + copy.bytes());
    }
    return dist::all_gather_texts(group, io::sha256_hex(bytes));
}

std::vector<std::string> parameter_digests(dist::ProcessGroup& group,
                                           const nn::Module& model) {
    return digests(group, model.parameters());
}

bool all_equal(const std::vector<std::string>& digests) {
    return std::ranges::adjacent_find(digests, std::not_equal_to<>()) == digests.end();
}

std::string compare(const std::vector<std::string>& digests) {
    return all_equal(digests) ? "bitwise identical on all ranks" : "differ between ranks";
}

}  // namespace mini::training
