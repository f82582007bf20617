#include "libmini/core/parallel.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/core/thread.hpp"

namespace mini {
namespace {

using Body = std::function<void(int64_t, int64_t)>;

// How many times a thread checks for work, or for the end of a job, and yields its core
// in between, before it sleeps. A step of the ConvNet calls parallel_for every 50 us, and
// waking a thread takes as long. On two threads the step takes 4.7 ms without these checks,
// 3.3 ms with them (batch 64, 2 cores of an AMD EPYC).
constexpr int kLooks = 300;

template <typename Condition>
void look_for(const Condition& has_come) {
    for (int looks = 0; looks < kLooks && !has_come(); ++looks) std::this_thread::yield();
}

std::atomic<int> thread_count = 1;
thread_local bool inside_chunk = false;

// One call of parallel_for, on the caller's stack. Each thread takes chunk after chunk.
class Job {
  public:
    Job(int64_t extent, int64_t grain, const Body& body)
        : extent_(extent),
          grain_(grain),
          chunks_((extent - 1) / grain + 1),
          body_(body) {}

    // Runs the next chunk; returns false if no chunk is left.
    bool run_next() {
        const int64_t chunk = next_.fetch_add(1, std::memory_order_relaxed);
        if (chunk >= chunks_) return false;
        const int64_t begin = chunk * grain_;
        body_(begin, begin + std::min(grain_, extent_ - begin));
        return true;
    }

    void skip_remaining_chunks() { next_ = chunks_; }
    int64_t chunks() const { return chunks_; }
    bool has_chunks() const { return next_.load(std::memory_order_relaxed) < chunks_; }

    // Changed under the mutex of the pool.
    std::atomic<int> helpers = 0;  // threads of the pool that are running this job
    std::exception_ptr error;      // the first exception

  private:
    const int64_t extent_;
    const int64_t grain_;
    const int64_t chunks_;
    const Body& body_;
    std::atomic<int64_t> next_ = 0;
};

class Pool {
  public:
    // Throws Error when the system cannot start all threads.
    explicit Pool(int helpers) {
        try {
            for (int i = 0; i < helpers; ++i)
                threads_.push_back(start_thread([this] { help(); }));
        } catch (...) {
            stop();
            throw;
        }
    }

    ~Pool() { stop(); }

    int helpers() const { return static_cast<int>(threads_.size()); }

    Pool* older = nullptr;  // the next element of the list PoolHolder::forgotten

    // Runs the job on the helpers and on the calling thread; blocks until it is complete.
    void run(Job& job) {
        {
            const std::lock_guard lock(mutex_);
            jobs_.push_back(&job);
            ++jobs_added_;
        }
        const int64_t wanted = std::min<int64_t>(job.chunks() - 1, helpers());
        for (int64_t i = 0; i < wanted; ++i) work_.notify_one();
        work_on(job);

        // Remove the job from the list, so that no more helpers join it, and wait for
        // the helpers that have joined.
        look_for([&] { return job.helpers == 0; });
        std::unique_lock lock(mutex_);
        std::erase(jobs_, &job);
        done_.wait(lock, [&] { return job.helpers == 0; });
        if (job.error) std::rethrow_exception(job.error);
    }

  private:
    void stop() {
        {
            const std::lock_guard lock(mutex_);
            stopping_ = true;
        }
        work_.notify_all();
        for (std::thread& thread : threads_) thread.join();
    }

    // The main function of a helper thread.
    void help() {
        std::unique_lock lock(mutex_);
        while (true) {
            Job* job = open_job();
            if (job == nullptr) {
                const int64_t added = jobs_added_;
                lock.unlock();
                look_for([&] { return jobs_added_ != added; });
                lock.lock();
            }
            work_.wait(lock, [&] { return stopping_ || (job = open_job()) != nullptr; });
            if (job == nullptr) return;

            ++job->helpers;
            lock.unlock();
            work_on(*job);
            lock.lock();
            if (--job->helpers == 0) done_.notify_all();
        }
    }

    // Returns the oldest job with chunks left, or null. REQUIRES: mutex_ is held.
    Job* open_job() const {
        const auto job = std::find_if(jobs_.begin(), jobs_.end(),
                                      [](const Job* each) { return each->has_chunks(); });
        return job == jobs_.end() ? nullptr : *job;
    }

    void work_on(Job& job) {
        inside_chunk = true;
        try {
            while (job.run_next()) {
            }
        } catch (...) {
            job.skip_remaining_chunks();
            const std::lock_guard lock(mutex_);
            if (!job.error) job.error = std::current_exception();
        }
        inside_chunk = false;
    }

    std::mutex mutex_;
    std::condition_variable work_;  // a job was added, or stopping_ was set
    std::condition_variable done_;  // the last helper of a job has finished
    std::vector<Job*> jobs_;        // jobs that helpers may join
    std::atomic<int64_t> jobs_added_ = 0;
    bool stopping_ = false;
    std::vector<std::thread> threads_;
};

// Holds the pool of this process. The pool is not destroyed at exit; idle helpers end
// with the process. The holder is constant-initialised: if it were created at first use,
// a fork during its creation would leave the child waiting forever for a thread that only
// the parent has.
struct PoolHolder {
    std::mutex mutex;  // held across fork, so that the child can unlock it
    Pool* pool = nullptr;
    Pool* forgotten = nullptr;  // list of the pools inherited from parent processes
};
constinit PoolHolder holder;

void before_fork() { holder.mutex.lock(); }

void after_fork_in_parent() { holder.mutex.unlock(); }

// A forked child has a copy of the parent's pool, but not the pool's threads, and so can
// neither use nor destroy the copy. The child keeps the copy in a list, where leak
// checkers find it, and creates its own pool at first use.
void after_fork_in_child() {
    if (Pool* const inherited = std::exchange(holder.pool, nullptr)) {
        inherited->older = holder.forgotten;
        holder.forgotten = inherited;
    }
    holder.mutex.unlock();
}

const int atfork_error =
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);

// Returns the pool; creates it, or replaces a pool of another size.
Pool& pool_of(int helpers) {
    MINI_CHECK(atfork_error == 0, system_message("pthread_atfork", atfork_error));
    const std::lock_guard lock(holder.mutex);
    Pool*& pool = holder.pool;
    if (pool == nullptr || pool->helpers() != helpers) {
        delete std::exchange(pool, nullptr);  // old helpers stop before new ones start
        pool = new Pool(helpers);
    }
    return *pool;
}

}  // namespace

void set_num_threads(int count) {
    if (count < 1)
        throw UsageError("set_num_threads: ", count, " threads; at least 1 is needed");
    thread_count = count;
}

int num_threads() { return thread_count; }

void detail::run_chunks(int64_t extent, int64_t grain, const Body& body) {
    MINI_CHECK(grain > 0, "parallel_for: the grain is ", grain, "; at least 1 is needed");
    Job job(extent, grain, body);
    const int helpers = num_threads() - 1;
    if (helpers > 0 && !inside_chunk) {
        pool_of(helpers).run(job);
        return;
    }
    while (job.run_next()) {
    }
}

}  // namespace mini
