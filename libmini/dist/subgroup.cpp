#include "libmini/dist/subgroup.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "libmini/dist/backends/threads.hpp"
#include "libmini/dist/backends/transport_backend.hpp"
#include "libmini/dist/gather.hpp"
#include "libmini/dist/hash_store.hpp"
#include "libmini/dist/mesh_transport.hpp"

namespace mini::dist {
namespace {

constexpr size_t kLongestPlace = 512;  // of one rank's address, as text

// One value of every rank of `parent`, cut or padded to one length.
std::vector<std::string> gather_texts(ProcessGroup& parent, const std::string& mine) {
    MINI_CHECK(mine.size() < kLongestPlace, "the address \"", mine, "\" is too long");
    std::vector<uint8_t> padded(kLongestPlace);
    std::ranges::copy(mine, padded.begin());
    std::vector<std::string> texts;
    for (const auto& bytes : all_gather_values(parent, padded))
        texts.emplace_back(bytes.begin(), std::ranges::find(bytes, 0));
    return texts;
}

// What connect_mesh needs of a store: every rank sets its own address, and then reads
// those of all.
class GatheredStore : public HashStore {
  public:
    GatheredStore(ProcessGroup& parent, const std::vector<int>& ranks)
        : parent_(parent), ranks_(ranks) {}

    void set(const std::string& /*key*/, const std::string& value) override {
        const std::vector<std::string> texts = gather_texts(parent_, value);
        for (size_t i = 0; i < ranks_.size(); ++i)
            HashStore::set(concat("mesh/", i), texts[static_cast<size_t>(ranks_[i])]);
    }

  private:
    ProcessGroup& parent_;
    const std::vector<int>& ranks_;
};

std::unique_ptr<Backend> split_ring(const std::vector<int>& ranks, ProcessGroup& parent,
                                    const Cookie& cookie, const std::string& local_host,
                                    Medium medium, const ChannelLayer& layer) {
    auto mesh = connect_members(ranks, parent, cookie, local_host, medium, layer);
    if (!mesh) return nullptr;
    return std::make_unique<TransportBackend>(
        "ring",
        std::make_unique<MeshTransport>(place_among(ranks, parent),
                                        std::move(mesh->streams)),
        mesh->hosts, make_ring_splitter(cookie, local_host, medium, layer));
}

std::unique_ptr<Backend> split_threads(const std::vector<int>& ranks,
                                       ProcessGroup& parent) {
    using Transports = std::vector<std::unique_ptr<Transport>>;
    const int place = place_among(ranks, parent);
    Transports mine;
    if (place == 0) mine = make_threads_transports(static_cast<int>(ranks.size()));

    // Ranks are threads of one process: show the others where they lie.
    const auto addresses = all_gather_values<int64_t>(
        parent, {std::bit_cast<int64_t>(place == 0 ? &mine : nullptr)});
    auto* const all =
        std::bit_cast<Transports*>(addresses[static_cast<size_t>(ranks.front())].front());
    std::unique_ptr<Backend> backend;
    if (place >= 0)
        backend = std::make_unique<TransportBackend>(
            "threads", std::move((*all)[static_cast<size_t>(place)]), std::vector<int>{},
            make_threads_splitter());
    parent.barrier();  // `mine` must live until all have taken theirs
    return backend;
}

}  // namespace

int place_among(const std::vector<int>& ranks, const ProcessGroup& parent) {
    const auto place = std::ranges::find(ranks, parent.rank());
    return place == ranks.end() ? -1 : static_cast<int>(place - ranks.begin());
}

std::optional<Mesh> connect_members(const std::vector<int>& ranks, ProcessGroup& parent,
                                    const Cookie& cookie, const std::string& local_host,
                                    Medium medium, const ChannelLayer& layer) {
    const int place = place_among(ranks, parent);
    if (place < 0) {
        gather_texts(parent, "");
        return std::nullopt;
    }
    const Meeting meeting{{}, place, static_cast<int>(ranks.size()), cookie};
    GatheredStore store(parent, ranks);
    return connect_mesh(meeting, store, local_host, medium,
                        deadline_after(parent.timeout()), layer);
}

Splitter make_ring_splitter(const Cookie& cookie, const std::string& local_host,
                            Medium medium, const ChannelLayer& layer) {
    return [=](const std::vector<int>& ranks, ProcessGroup& parent) {
        return split_ring(ranks, parent, cookie, local_host, medium, layer);
    };
}

Splitter make_threads_splitter() { return split_threads; }

void check_subgroup(const std::vector<int>& ranks, ProcessGroup& parent) {
    // What all ranks must see alike: who is a member, in which place, or a wrong rank.
    const int P = parent.world_size();
    std::vector<int64_t> places(static_cast<size_t>(P) + 1, -1);
    for (size_t i = 0; i < ranks.size(); ++i) {
        const bool fits = ranks[i] >= 0 && ranks[i] < P;
        int64_t& place = places[static_cast<size_t>(fits ? ranks[i] : P)];
        place = place < 0 && fits ? static_cast<int64_t>(i) : P;
    }
    const auto all = all_gather_values(parent, places);
    for (size_t rank = 0; rank < all.size(); ++rank) {
        if (std::ranges::count(all[rank], int64_t{P}) > 0)
            throw UsageError(concat("new_group: rank ", rank,
                                    " gives a rank twice, or one outside 0 to ", P - 1));
        if (all[rank] != all.front())
            throw UsageError(concat("new_group: ranks 0 and ", rank,
                                    " give different lists of members; every rank of the "
                                    "group must call new_group with the same"));
    }
    if (ranks.empty()) throw UsageError("new_group: no ranks were given");
}

}  // namespace mini::dist
