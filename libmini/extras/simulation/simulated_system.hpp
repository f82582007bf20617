// The system of simulated processes: virtual time, and for each process its own sockets,
// and a host with an address.
//
//     now()          the scheduler's time
//     sleep_until()  an event that wakes the task
//     yield()        a short sleep, which ends early if the task is woken
//     poll()         waits until one of the simulated descriptors is ready
//     wait()         waits until a task of the process calls notify_all()
//     start_thread() adds a task to the process
//
//     connect()    the request reaches the listener after one delay; the answer returns
//                  one delay later
//     listen()     at an address of the process's host, or 127.x.x.x; port 0 chooses a
//                  free port
//     accept()     returns a connection from the listener's backlog
//
// A request that a fault holds back is repeated every second, like TCP's SYN. The system
// chooses ports from a small range, so that self-connections occur, as with a real
// kernel: a process that connects to a port of its own host where no process listens may
// get this port as its local port, and is then connected to itself.

#pragma once

#include <poll.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libmini/distributed/net/socket.hpp"
#include "libmini/distributed/net/system.hpp"
#include "libmini/extras/simulation/network.hpp"
#include "libmini/extras/simulation/scheduler.hpp"
#include "libmini/extras/simulation/simulated_socket.hpp"

namespace mini::dist {

/// REQUIRES: functions are called by a task of the scheduler, unless their contract says
/// otherwise.
class SimulatedSystem final : public System {
  public:
    /// The range of ports that the system chooses from: its first port and its size.
    static constexpr int kFirstPort = 50000, kPortCount = 64;

    /// `hosts` holds the host of each process, counted from 0. REQUIRES: the references
    /// outlive this object.
    SimulatedSystem(Scheduler& scheduler, Network& network, std::vector<int> hosts,
                    uint64_t seed);
    ~SimulatedSystem();
    SimulatedSystem(const SimulatedSystem&) = delete;
    SimulatedSystem& operator=(const SimulatedSystem&) = delete;

    Moment now() noexcept override;
    void sleep_until(Moment moment) override;
    void yield() override;

    /// Descriptors that are not simulated are never ready. Of calls in a row that do not
    /// block, every hundredth takes a microsecond of virtual time, so that a loop of them
    /// reaches its deadline.
    int poll(std::span<pollfd> entries, Moment deadline) override;

    void wait(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
              Moment deadline) override;
    void notify_all(std::condition_variable& changed) noexcept override;
    std::function<void()> start_thread(std::function<void()> body) override;

    int resolve(const Address& address, addrinfo*& found) override;
    int listen(const addrinfo& address) override;
    int connect(const addrinfo& address) override;
    int connect_error(int fd) override;
    int accept(int listener) override;
    Address local_address(int fd) override;
    Address peer_address(int fd) override;
    ssize_t send(int fd, std::span<const std::byte> head,
                 std::span<const std::byte> body) override;
    ssize_t recv(int fd, std::span<std::byte> bytes) override;
    void shutdown(int fd, int how) noexcept override;
    void close(int fd) noexcept override;
    int new_event() override;
    void set_event(int fd) noexcept override;
    void clear_event(int fd) noexcept override;
    std::string host_name() override;
    std::string host_id() override { return host_name(); }
    int process_id() override;
    uint64_t random_number() override { return random_(); }

    /// Returns two connected sockets: the first of process `a`, the second of process
    /// `b`. May be called outside of a task.
    std::pair<Socket, Socket> connect_pair(int a, int b);

    /// Returns the address of a process's host, "10.0.0.1" for host 0. May be called
    /// outside of a task.
    std::string address_of(int process) const;

    /// Makes `name` a host name of the numeric address `number`. May be called outside of
    /// a task.
    void add_name(const std::string& name, const std::string& number) {
        names_[name] = number;
    }

    /// Sets the error code of getaddrinfo for a name that no address has; at first
    /// EAI_NONAME. May be called outside of a task.
    void set_look_up_error(int code) { look_up_error_ = code; }

    /// Returns the number of open sockets and events. May be called outside of a task.
    size_t open_count() const { return files_.size(); }

    // Faults. May be called outside of a task.

    /// Closes the sockets of a killed process, as its kernel would, and drops what the
    /// process sends from now on; `loss` decides how much of its data in flight is lost.
    void kill(int process, Loss loss);

    /// Breaks the connections between two processes.
    void cut(int a, int b);

    /// Makes the next send or receive of the process throw std::bad_alloc.
    void fail_allocation(int process) { out_of_memory_.insert(process); }

  private:
    struct Request;
    using Handshake = std::shared_ptr<Request>;

    static VirtualTime virtual_time(Moment moment);
    int count_ready(std::span<pollfd> entries) const;
    void wait_until(VirtualTime end);

    template <typename File>
    File* find(int fd) const;
    int add_file(std::unique_ptr<SimulatedFile> file);
    int free_port(const std::string& host);
    bool is_taken(const Address& address) const;
    SimulatedListener* listener_at(const Address& address) const;
    int process_at(const Address& address, int otherwise) const;
    void request(const Handshake& handshake);
    void travel(int from, int to, std::function<void(bool has_arrived)> done);
    void arrive(const Handshake& handshake);
    void answer(const Handshake& handshake);
    void finish(const Request& request);
    SimulatedConnection* client_of(const Request& request) const;
    void check_memory();

    Scheduler& scheduler_;
    Network& network_;
    const std::vector<int> hosts_;
    std::mt19937_64 random_;
    std::map<std::string, std::string> names_;  // numeric addresses by host name
    int look_up_error_ = EAI_NONAME;
    std::map<int, std::unique_ptr<SimulatedFile>> files_;
    int next_fd_ = 1 << 24;  // above the kernel's numbers
    std::multimap<const std::condition_variable*, int> sleepers_;  // waiting tasks
    int busy_polls_ = 0;           // since the last poll that blocked
    std::set<int> out_of_memory_;  // processes
};

}  // namespace mini::dist
