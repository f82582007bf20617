#include "libmini/distributed/backends/subgroup_mesh.hpp"

#include <cstdint>

#include "libmini/distributed/group/subgroup.hpp"
#include "libmini/distributed/transport/tags.hpp"

namespace mini::dist {

void MembersStore::set(const std::string& key, const std::string& value) {
    HashStore::set(key, value);
    const Tensor sizes = cpu_tensor(std::vector<int64_t>{
        static_cast<int64_t>(key.size()), static_cast<int64_t>(value.size())});
    const std::string both = key + value;
    const Tensor bytes = cpu_tensor(std::vector<uint8_t>(both.begin(), both.end()));
    std::vector<WorkHandle> sending;
    for (const int peer : ranks_) {
        if (peer == parent_.rank()) continue;
        sending.push_back(parent_.send_async(sizes, peer, kMemberTag));
        sending.push_back(parent_.send_async(bytes, peer, kMemberTag));
    }
    for (const int peer : ranks_)
        if (peer != parent_.rank()) receive_from(peer);
    for (const auto& work : sending) work->wait();
}

void MembersStore::receive_from(int peer) {
    const Tensor sizes = Tensor::zeros({2}, DType::kInt64, Device::cpu());
    parent_.recv(sizes, peer, kMemberTag);
    const auto lengths = sizes.to_vector<int64_t>();
    const Tensor bytes =
        Tensor::zeros({lengths[0] + lengths[1]}, DType::kUInt8, Device::cpu());
    parent_.recv(bytes, peer, kMemberTag);
    const auto both = bytes.to_vector<uint8_t>();
    HashStore::set({both.begin(), both.begin() + lengths[0]},
                   {both.begin() + lengths[0], both.end()});
}

std::optional<Mesh> connect_members(const std::vector<int>& ranks, ProcessGroup& parent,
                                    const Cookie& cookie, const std::string& local_host,
                                    Medium medium) {
    const int index = index_among(ranks, parent);
    if (index < 0) return std::nullopt;
    const RendezvousConfig config{{}, index, static_cast<int>(ranks.size()), cookie};
    MembersStore store(ranks, parent);
    return connect_mesh(config, store, local_host, medium,
                        deadline_after(parent.timeout()));
}

}  // namespace mini::dist
