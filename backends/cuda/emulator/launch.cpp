// A launch: one or several OS threads run the blocks, each thread one block after the other.
#include <atomic>
#include <cstdlib>
#include <cxxabi.h>
#include <deque>
#include <string>
#include <thread>
#include <vector>
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#include "block.hpp"

namespace emulation {
static void shuffle_turns(Block &b) {
  for (int i = b.threads; i > 1; --i) {
    b.random ^= b.random << 13;
    b.random ^= b.random >> 7;
    b.random ^= b.random << 17;
    std::swap(b.turn[i - 1], b.turn[b.random % i]);
  }
}

// Puts whole warps in another order if there is a seed.
static void shuffle_warps(Block &b, uint64_t seed) {
  for (int i = 0; i < b.threads; ++i) b.turn[i] = i;
  if (!seed || b.threads % 32) return;
  for (int w = b.warps; w > 1; --w) {
    b.random = b.random * 6364136223846793005ull + 1442695040888963407ull;
    const int other = (b.random >> 33) % w;
    std::swap_ranges(b.turn + 32 * (w - 1), b.turn + 32 * w, b.turn + 32 * other);
  }
}

static bool run_block() {
  Block &b = *current;
  b.done = b.at_block = 0;
  b.all = 1;
  b.any = b.count = 0;
  for (int i = 0; i < b.threads; ++i) b.state[i] = UNBORN;
  for (int w = 0; w < b.warps; ++w) {
    const int left = b.threads - 32 * w;
    b.warp[w].arrived = b.warp[w].votes = 0;
    b.warp[w].live = left >= 32 ? 0xffffffffu : (1u << left) - 1;
  }
  release(&b.body);
  while (b.done < b.threads) {
    b.moved = false;
    b.place = -1;
    if (b.order == RANDOM) shuffle_turns(b);
    for (int i; (i = advance(b)) >= 0;) {
      resume(i);
      if (b.failed) return false;
      if (b.state[b.running] == DONE) give_slot(b.fiber[b.running].slot);
      if (b.place >= b.threads) break;
    }
    if (!b.moved) {
      stalled();
      return false;
    }
  }
  acquire(&b.done);
  return true;
}

struct Launch {
  const unsigned *grid, *block;
  void (*body)(void *);
  void *args;
  int order;
  uint64_t seed;
};

static void place(const Launch &L, Block &b, long long number) {
  b.random = L.seed * 0x9E3779B97F4A7C15ull + (uint64_t)number + 1;
  blockIdx = {unsigned(number % L.grid[0]), unsigned(number / L.grid[0] % L.grid[1]),
              unsigned(number / L.grid[0] / L.grid[1])};
}

static std::string worker(const Launch &L, std::atomic<long long> &next, long long total) {
  const int threads = int(L.block[0] * L.block[1] * L.block[2]), warps = (threads + 31) / 32;
  std::vector<Fiber> fibers(threads);
  std::vector<State> states(threads);
  std::vector<Warp> warp(warps);
  std::vector<int> turns(threads);
  Block b{};
  b.threads = threads;
  b.warps = warps;
  b.fiber = fibers.data();
  b.state = states.data();
  b.warp = warp.data();
  b.turn = turns.data();
  b.order = L.order;
  b.body = L.body;
  b.args = L.args;
  Block *saved = current;
  current = &b;
  blockDim = {L.block[0], L.block[1], L.block[2]};
  gridDim = {L.grid[0], L.grid[1], L.grid[2]};
  for (int i = 0; i < threads; ++i) {
    turns[i] = i;
    fibers[i].thread = {i % blockDim.x, i / blockDim.x % blockDim.y, i / blockDim.x / blockDim.y};
  }
  if (TSAN) b.main_tsan = __tsan_get_current_fiber();
#ifdef __SSE2__
  const unsigned control = _mm_getcsr();
  if (getenv("PYNESTED_EMULATOR_FLUSH")) _mm_setcsr(control | 0x8040);  // as CuPy, which compiles with -ftz=true
#endif
  for (long long k; (k = next.fetch_add(1)) < total;) {
    place(L, b, L.order == REVERSE ? total - 1 - k : k);
    if (L.order == EAGER) shuffle_warps(b, L.seed);
    if (run_block()) continue;
    for (int i = 0; i < threads; ++i)
      if (states[i] == READY || states[i] == AT_BLOCK || states[i] == AT_WARP) {
        unpoison(fibers[i].slot);
        give_slot(fibers[i].slot);
      }
    next = total;
  }
#ifdef __SSE2__
  _mm_setcsr(control);
#endif
  acquire(b.error);
  current = saved;
  return b.error;
}

const char *launch(const unsigned grid[3], const unsigned block[3], void (*body)(void *), void *args, int order,
                   uint64_t seed, int workers) {
  static thread_local std::string error;
  static thread_local std::deque<Slots> stacks;  // of each worker, kept between launches: TSan is slow to make fibers
  const long long total = (long long)grid[0] * grid[1] * grid[2];
  const Launch L{grid, block, body, args, order, seed};
  std::atomic<long long> next{0};
  const int n = (int)std::min<long long>(workers < 1 ? 1 : workers, total);
  while ((int)stacks.size() < n) stacks.emplace_back();
  if (n == 1) {
    idle = &stacks[0];
    error = worker(L, next, total);
    return error.c_str();
  }
  std::vector<std::string> errors(n);
  std::vector<std::thread> pool;
  for (int i = 0; i < n; ++i) pool.emplace_back([&, i, own = &stacks[i]] {
    idle = own;
    errors[i] = worker(L, next, total);
  });
  for (auto &thread : pool) thread.join();
  error.clear();
  for (auto &text : errors)
    if (error.empty()) error = text;
  return error.c_str();
}

const char *signature(const std::type_info &kernel) {
  static thread_local std::string text;
  char *demangled = abi::__cxa_demangle(kernel.name(), nullptr, nullptr, nullptr);
  text = demangled;
  free(demangled);
  return text.c_str();
}
}  // namespace emulation
