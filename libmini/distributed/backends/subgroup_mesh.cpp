#include "libmini/distributed/backends/subgroup_mesh.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "libmini/distributed/group/gather.hpp"
#include "libmini/distributed/group/subgroup.hpp"
#include "libmini/distributed/store/hash_store.hpp"

namespace mini::dist {
namespace {

constexpr size_t kMaxAddressBytes = 512;

// Returns the text of every rank of `parent`, by rank. Every text is padded to
// kMaxAddressBytes, because an all-gather needs equal sizes.
std::vector<std::string> gather_texts(ProcessGroup& parent, const std::string& mine) {
    MINI_CHECK(mine.size() < kMaxAddressBytes, "the address \"", mine, "\" is too long");
    std::vector<uint8_t> padded(kMaxAddressBytes);
    std::ranges::copy(mine, padded.begin());
    std::vector<std::string> texts;
    for (const auto& bytes : all_gather_values(parent, padded))
        texts.emplace_back(bytes.begin(), std::ranges::find(bytes, 0));
    return texts;
}

// The store for connect_mesh: set() is one all-gather, after which every member has the
// addresses of all members.
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

}  // namespace

std::optional<Mesh> connect_members(const std::vector<int>& ranks, ProcessGroup& parent,
                                    const Cookie& cookie, const std::string& local_host,
                                    Medium medium) {
    const int index = index_among(ranks, parent);
    if (index < 0) {
        gather_texts(parent, "");
        return std::nullopt;
    }
    const RendezvousConfig config{{}, index, static_cast<int>(ranks.size()), cookie};
    GatheredStore store(parent, ranks);
    return connect_mesh(config, store, local_host, medium,
                        deadline_after(parent.timeout()));
}

}  // namespace mini::dist
