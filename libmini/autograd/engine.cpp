#include "libmini/autograd/engine.hpp"

#include <cstddef>
#include <cstdint>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libmini/tensor/ops.hpp"

// [lab03 file]
namespace mini {
namespace {

// Returns, for each node that can be reached from `root`, how many edges end at it.
std::unordered_map<const Node*, int> count_senders(const Node& root) {
    // [lab03.5] Count the edges that end at each node.
    std::unordered_map<const Node*, int> senders{{&root, 0}};
    std::vector<const Node*> to_visit{&root};
    while (!to_visit.empty()) {
        const Node* const node = to_visit.back();
        to_visit.pop_back();
        for (const auto& input : node->inputs()) {
            if (!input) continue;
            const auto [entry, is_new] = senders.try_emplace(input.get(), 0);
            ++entry->second;
            if (is_new) to_visit.push_back(input.get());
        }
    }
    return senders;
    // [lab03.5]
}

class BackwardPass;
thread_local BackwardPass* current_pass = nullptr;  // the innermost one that is running

// One backward pass, the current one while it exists. run() is called once.
//
//     senders_   for each node: how many contributions to its gradient are still to come
//     arrived_   for each node: the sum of those that have come; undefined if all that have
//                come are undefined
//     ready_     the nodes whose gradient is complete and that have not been processed;
//                top() is the node with the highest sequence number
class BackwardPass {
  public:
    explicit BackwardPass(bool retain_graph)
        : retain_graph_(retain_graph), outer_(std::exchange(current_pass, this)) {}
    ~BackwardPass() { current_pass = outer_; }
    BackwardPass(const BackwardPass&) = delete;
    BackwardPass& operator=(const BackwardPass&) = delete;

    // Sends `gradient` to `root`, processes all nodes, then calls the callbacks.
    void run(Node& root, Tensor gradient) {
        // [lab03.5] Process the ready nodes, then call the callbacks.
        senders_ = count_senders(root);
        arrived_[&root] = std::move(gradient);
        push(root);
        while (!ready_.empty()) {
            Node& node = *ready_.top().node;
            ready_.pop();
            step(node);
        }
        for (size_t i = 0; i < callbacks_.size(); ++i) {
            const std::function<void()> callback = callbacks_[i];
            callback();
        }
        // [lab03.5]
    }

    void add_callback(std::function<void()> callback) {
        callbacks_.push_back(std::move(callback));
    }

  private:
    struct Entry {
        Node* node;
        uint64_t arrival;  // for equal sequence numbers, the lowest arrival is first

        bool operator<(const Entry& other) const {
            if (node->sequence() != other.node->sequence())
                return node->sequence() < other.node->sequence();
            return arrival > other.arrival;
        }
    };

    void push(Node& node) { ready_.push({&node, next_arrival_++}); }

    // Calls one node, and sends its inputs their contributions.
    void step(Node& node) {
        // [lab03.5] Send each input its contribution, and push those that are ready.
        const auto arrived = arrived_.find(&node);
        Tensor gradient = std::move(arrived->second);
        arrived_.erase(arrived);

        // A node without a gradient still decrements the counters of its inputs.
        Grads contributions(node.inputs().size());
        if (gradient.defined()) contributions = node.apply(std::move(gradient));
        if (!retain_graph_) node.release();

        for (size_t i = 0; i < node.inputs().size(); ++i) {
            Node* const input = node.inputs()[i].get();
            if (input == nullptr) continue;
            accumulate(arrived_[input], std::move(contributions[i]));
            if (--senders_[input] == 0) push(*input);
        }
        // [lab03.5]
    }

    // Adds a contribution, which may be undefined, to the sum of those before it.
    static void accumulate(Tensor& total, Tensor contribution) {
        // [lab03.5] Add a contribution to what has arrived.
        if (!contribution.defined()) return;
        total = total.defined() ? ops::add(total, contribution) : std::move(contribution);
        // [lab03.5]
    }

    bool retain_graph_;
    BackwardPass* outer_;  // the pass that was current before
    std::unordered_map<const Node*, int> senders_;
    std::unordered_map<const Node*, Tensor> arrived_;
    std::priority_queue<Entry> ready_;
    uint64_t next_arrival_ = 0;
    std::vector<std::function<void()>> callbacks_;
};

}  // namespace

void run_backward(const std::shared_ptr<Node>& root, Tensor gradient, bool retain_graph) {
    const NoGradGuard no_grad;
    BackwardPass(retain_graph).run(*root, std::move(gradient));
}

void queue_callback(std::function<void()> callback) {
    MINI_CHECK(current_pass != nullptr, "queue_callback: no backward pass is running");
    current_pass->add_callback(std::move(callback));
}

}  // namespace mini
// [lab03 file]
