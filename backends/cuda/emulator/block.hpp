// A running block: its fibers, its warps, and its progress in the current round of its threads.
#pragma once
#include <vector>

#include "language.hpp"

extern "C" {
// Present when the program runs under a sanitizer.
__attribute__((weak)) void *__tsan_get_current_fiber();
__attribute__((weak)) void *__tsan_create_fiber(unsigned);
__attribute__((weak)) void __tsan_destroy_fiber(void *);
__attribute__((weak)) void __tsan_switch_to_fiber(void *, unsigned);
__attribute__((weak)) void __tsan_acquire(void *);
__attribute__((weak)) void __tsan_release(void *);
__attribute__((weak)) void __sanitizer_start_switch_fiber(void **, const void *, size_t);
__attribute__((weak)) void __sanitizer_finish_switch_fiber(void *, const void **, size_t *);
__attribute__((weak)) void __asan_unpoison_memory_region(void const volatile *, size_t);
}

namespace emulation {
const bool TSAN = __tsan_switch_to_fiber != nullptr;
const bool ASAN = __sanitizer_start_switch_fiber != nullptr && __asan_unpoison_memory_region != nullptr;
enum : unsigned { NO_SYNC = 1 };  // for TSan: a switch orders nothing, only barriers do
enum State : unsigned char { UNBORN, READY, AT_BLOCK, AT_WARP, DONE };
enum Order { FORWARD, REVERSE, RANDOM, EAGER };
constexpr size_t STACK = 256 * 1024;

inline void release(void *p) { if (TSAN) __tsan_release(p); }
inline void acquire(void *p) { if (TSAN) __tsan_acquire(p); }

struct Slot { char *stack; void *tsan; };
struct Slots : std::vector<Slot> { ~Slots(); };

struct Fiber {
  void *stack_pointer;
  Slot slot;
  uint3 thread;
  unsigned mask;  // of the collective it waits in
  int source;
  Where at;
  void *fake_stack;  // ASan's
};

struct Warp {
  unsigned arrived, live, votes, round;
  char order[2];  // what TSan orders a collective by
  unsigned long long in[32][2], out[32][2];
  unsigned ballot[32];
};

struct Block {
  Fiber *fiber;
  State *state;
  Warp *warp;
  int *turn;
  int threads, warps, done, at_block, running;
  int place;  // how far the current round has come
  bool moved;
  Where barrier;
  unsigned round;
  char order_of_barrier[2];
  int all, any, count, result[3];
  int order;
  uint64_t random;
  void (*body)(void *);
  void *args;
  bool failed;
  char error[512];
  void *main_pointer, *main_tsan, *main_fake;
  const void *main_bottom;
  size_t main_size;
};

extern thread_local Block *current;
extern thread_local Slots *idle;  // stacks that no thread is on

void give_slot(Slot);
void unpoison(Slot);
int advance(Block &);    // the next thread of this round that can run, or -1 at its end
void resume(int thread);
void suspend(bool last);
void report(const char *format, ...) __attribute__((format(printf, 1, 2)));
[[noreturn]] void die();
void stalled();
}  // namespace emulation
