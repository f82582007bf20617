// The autograd engine: traverses the graph from the result back to the leaves.
//
// A node is ready when its gradient is complete, that is, when every use of the node's
// result has added its contribution. So the engine first counts the contributions that
// each node will receive, and then keeps the ready nodes in a priority queue. The engine
// takes the node with the highest sequence number first, which reverses the order of the
// forward pass; so all ranks use the same order. No step is recursive, so memory alone
// limits the graph's depth.

#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <unordered_map>
#include <vector>

#include "libmini/autograd/node.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini {
namespace {

class BackwardPass {
  public:
    explicit BackwardPass(bool retain_graph) : retain_graph_(retain_graph) {}

    void run(Node& root, Tensor gradient) {
        count_senders(root);
        received_[&root].arrived = std::move(gradient);
        push(root);
        while (!ready_.empty()) {
            Node& node = *ready_.top().node;
            ready_.pop();
            step(node);
        }
        for (const auto& callback : callbacks_) callback();
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

    // The gradient of one node.
    struct Received {
        int senders = 0;  // contributions still to come
        Tensor arrived;   // sum of the contributions so far
    };

    void push(Node& node) { ready_.push({&node, next_arrival_++}); }

    // Counts the contributions that each node reachable from `root` will receive: one per
    // edge that ends at the node.
    void count_senders(Node& root) {
        std::vector<Node*> to_visit{&root};
        received_.try_emplace(&root);
        while (!to_visit.empty()) {
            const Node* const node = to_visit.back();
            to_visit.pop_back();
            for (const auto& input : node->inputs()) {
                if (!input) continue;
                const auto [entry, is_new] = received_.try_emplace(input.get());
                ++entry->second.senders;
                if (is_new) to_visit.push_back(input.get());
            }
        }
    }

    // Sends the gradients of one node to its inputs, and queues the inputs that are now
    // ready.
    void step(Node& node) {
        Tensor gradient = std::move(received_.find(&node)->second.arrived);

        // A node without a gradient still decrements the counters of its inputs.
        Grads contributions = gradient.defined() ? node.apply(std::move(gradient))
                                                 : Grads(node.inputs().size());
        if (!retain_graph_) node.release();

        for (size_t i = 0; i < node.inputs().size(); ++i) {
            Node* const input = node.inputs()[i].get();
            if (input == nullptr) continue;
            Received& received = received_.find(input)->second;
            accumulate(received.arrived, std::move(contributions[i]));
            if (--received.senders == 0) push(*input);
        }
    }

    static void accumulate(Tensor& total, Tensor contribution) {
        if (!contribution.defined()) return;
        total = total.defined() ? ops::add(total, contribution) : std::move(contribution);
    }

    bool retain_graph_;
    std::unordered_map<const Node*, Received> received_;
    std::priority_queue<Entry> ready_;
    uint64_t next_arrival_ = 0;
    std::vector<std::function<void()>> callbacks_;
};

thread_local BackwardPass* current_pass = nullptr;

// Sets current_pass while a pass runs; restores the previous value at the end, since a
// hook of one pass may start another pass.
class CurrentPass {
  public:
    explicit CurrentPass(BackwardPass& pass) : outer_(current_pass) {
        current_pass = &pass;
    }
    ~CurrentPass() { current_pass = outer_; }
    CurrentPass(const CurrentPass&) = delete;
    CurrentPass& operator=(const CurrentPass&) = delete;

  private:
    BackwardPass* outer_;
};

}  // namespace

void Tensor::backward(const BackwardOptions& options) const {
    MINI_CHECK(requires_grad(),
               "backward: this tensor does not require grad, and nothing it was "
               "computed from does");
    Tensor gradient = options.gradient;
    if (!gradient.defined()) {
        check_shape(numel() == 1, "backward: a tensor of shape ", shape(),
                    " is not a scalar; pass its gradient");
        gradient = Tensor::ones(shape(), dtype(), device());
    }
    check_shape(gradient.shape() == shape(), "backward: the gradient is ",
                gradient.shape(), " but the tensor is ", shape());

    const NoGradGuard no_grad;
    const std::shared_ptr<Node> root =
        is_leaf() ? std::shared_ptr<Node>(grad_accumulator(*this))
                  : autograd_meta()->grad_fn;
    BackwardPass pass(options.retain_graph);
    const CurrentPass current(pass);
    pass.run(*root, std::move(gradient));
}

void queue_callback(std::function<void()> callback) {
    MINI_CHECK(current_pass != nullptr, "queue_callback: no backward pass is running");
    current_pass->add_callback(std::move(callback));
}

}  // namespace mini
