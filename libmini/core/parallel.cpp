#include "libmini/core/parallel.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"

namespace mini {
namespace {

using Body = std::function<void(int64_t, int64_t)>;

std::atomic<int> thread_count = 1;
thread_local bool inside_chunk = false;

// One call of parallel_for, on its caller's stack. Threads take chunk after chunk.
class Job {
  public:
    Job(int64_t extent, int64_t grain, const Body& body)
        : extent_(extent),
          grain_(grain),
          chunks_((extent - 1) / grain + 1),
          body_(body) {}

    // Runs the next chunk; false when none is left.
    bool run_next() {
        const int64_t chunk = next_.fetch_add(1, std::memory_order_relaxed);
        if (chunk >= chunks_) return false;
        const int64_t begin = chunk * grain_;
        body_(begin, begin + std::min(grain_, extent_ - begin));
        return true;
    }

    void drop_the_rest() { next_ = chunks_; }
    int64_t chunks() const { return chunks_; }
    bool has_chunks() const { return next_.load(std::memory_order_relaxed) < chunks_; }

    // Guarded by the mutex of the pool.
    int helpers = 0;           // threads of the pool that work on it now
    std::exception_ptr error;  // the first one

  private:
    const int64_t extent_;
    const int64_t grain_;
    const int64_t chunks_;
    const Body& body_;
    std::atomic<int64_t> next_ = 0;
};

class Pool {
  public:
    // Throws Error when the system gives fewer threads.
    explicit Pool(int helpers) {
        try {
            for (int i = 0; i < helpers; ++i) threads_.emplace_back([this] { help(); });
        } catch (const std::system_error& error) {
            stop();
            throw Error(concat("parallel_for: started ", threads_.size(), " of ", helpers,
                               " helper threads, then: ", error.what(),
                               "; lower set_num_threads or raise ulimit -u"));
        }
    }

    ~Pool() { stop(); }

    int helpers() const { return static_cast<int>(threads_.size()); }

    Pool* older = nullptr;  // of a pool forgotten in a forked child: the one before it

    // Offers the job to the helpers, works on it too, and returns when all of it is done.
    void run(Job& job) {
        {
            const std::lock_guard lock(mutex_);
            jobs_.push_back(&job);
        }
        const int64_t wanted = std::min<int64_t>(job.chunks() - 1, helpers());
        for (int64_t i = 0; i < wanted; ++i) work_.notify_one();
        work_on(job);

        // Once the job is off the list no helper joins it; wait for those that have.
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

    // The life of a helper.
    void help() {
        std::unique_lock lock(mutex_);
        while (true) {
            Job* job = nullptr;
            work_.wait(lock, [&] { return stopping_ || (job = open_job()) != nullptr; });
            if (job == nullptr) return;

            ++job->helpers;
            lock.unlock();
            work_on(*job);
            lock.lock();
            if (--job->helpers == 0) done_.notify_all();
        }
    }

    // The oldest job with chunks left, or null. REQUIRES: mutex_ is held.
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
            job.drop_the_rest();
            const std::lock_guard lock(mutex_);
            if (!job.error) job.error = std::current_exception();
        }
        inside_chunk = false;
    }

    std::mutex mutex_;
    std::condition_variable work_;  // a job has come, or it is time to stop
    std::condition_variable done_;  // a job has lost its last helper
    std::vector<Job*> jobs_;        // not yet returned to their callers
    bool stopping_ = false;
    std::vector<std::thread> threads_;
};

// The pool of this process. It is not taken down at exit; idle helpers just end then. It
// is there before any code runs: were it made at first use, a fork in that moment would
// leave the child waiting for a thread that it has not.
struct PoolHolder {
    std::mutex mutex;  // held across fork, so that the child does not find it locked
    Pool* pool = nullptr;
    Pool* forgotten = nullptr;  // the last of those that this process inherited
};
constinit PoolHolder holder;

void before_fork() { holder.mutex.lock(); }

void after_fork_in_parent() { holder.mutex.unlock(); }

// A child finds the parent's pool in its memory but none of its threads. It can neither
// use nor destroy that pool: it forgets it, in sight of leak checkers, and will make its
// own.
void after_fork_in_child() {
    if (Pool* const inherited = std::exchange(holder.pool, nullptr)) {
        inherited->older = holder.forgotten;
        holder.forgotten = inherited;
    }
    holder.mutex.unlock();
}

const int fork_handlers_refused =
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);

// The pool with this many helpers.
Pool& pool_of(int helpers) {
    MINI_CHECK(fork_handlers_refused == 0,
               system_message("pthread_atfork", fork_handlers_refused));
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
        throw UsageError(
            concat("set_num_threads: ", count, " threads; at least 1 is needed"));
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
