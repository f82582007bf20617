#include "libmini/kernels/cuda/free_policy.hpp"

#include <atomic>
#include <cstdlib>
#include <string>
#include <utility>

namespace mini::cuda {
namespace {

bool caching_at_first() {
    const char* const text = std::getenv("MINI_CUDA_CACHING");
    return text == nullptr || std::string(text) != "0";
}

std::atomic<bool>& is_caching() {
    static std::atomic<bool> caching = caching_at_first();
    return caching;
}

thread_local bool postpones_frees = false;

}  // namespace

bool set_frees_later(bool on) { return std::exchange(postpones_frees, on); }
bool frees_later() { return postpones_frees; }

bool caching() { return is_caching(); }
void set_caching(bool on) { is_caching() = on; }

}  // namespace mini::cuda
