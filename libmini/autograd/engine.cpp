// The autograd engine: traverses the graph from the result back to the leaves.
//
// A node is ready when its gradient is complete, that is, when every use of the node's
// result has added its contribution. So the engine first counts the contributions that
// each node will receive (graph.hpp), and then keeps the ready nodes in a priority queue.
// The engine takes the node with the highest sequence number first, which reverses the
// order of the forward pass; so all ranks use the same order. No step is recursive, so
// memory alone limits the graph's depth.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <unordered_map>
#include <vector>

#include "libmini/autograd/graph.hpp"
#include "libmini/autograd/node.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini {
namespace {

// One backward pass, from a node `root` to the leaves. run() is called once.
//
//     senders_   for each node: how many contributions to its gradient are still to come
//     arrived_   for each node: the sum of those that have come; undefined if all that have
//                come are undefined
//     ready_     the nodes whose gradient is complete and that have not been processed;
//                top() is the node with the highest sequence number
//
// A node is pushed into ready_ exactly once, by the last of its senders, and is processed
// exactly once, even if its gradient is undefined, because its inputs wait for it. A
// gradient may share its storage with the gradient of another node, or with the tensor
// that the caller of backward() passed; so the pass does not change a gradient in place.
class BackwardPass {
  public:
    /// With retain_graph, nodes keep the values that they have saved, for another pass.
    explicit BackwardPass(bool retain_graph) : retain_graph_(retain_graph) {}

    /// Sends `gradient` to `root`, and processes each node that `root` reaches, as soon as
    /// it is on top of ready_. Then calls the callbacks in the order in which they were
    /// added; a callback may add another.
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

    // Processes one node: takes its gradient out of arrived_, computes the contributions to
    // the gradients of its inputs, releases the node unless the graph is retained, and
    // sends each input its contribution; pushes the inputs that are now ready, in their
    // order. Does not call apply() if the gradient is undefined.
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
    std::unordered_map<const Node*, int> senders_;
    std::unordered_map<const Node*, Tensor> arrived_;
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
    check_shape(gradient.shape() == shape() && gradient.dtype() == dtype(),
                "backward: the gradient is ", gradient.dtype(), " ", gradient.shape(),
                " but the tensor is ", dtype(), " ", shape());

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
