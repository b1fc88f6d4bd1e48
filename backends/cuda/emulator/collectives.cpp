// Barriers of a block, and exchanges between the lanes of a warp.
#include "block.hpp"

namespace emulation {
int lane() { return current->running & 31; }

void block_barrier(int vote, int result[3], Where at) {
  Block &b = *current;
  const int i = b.running;
  if (b.done) {
    report("__syncthreads at %s:%d after another thread returned", at.file, at.line);
    die();
  }
  if (!b.at_block) {
    b.barrier = at;
  } else if (b.barrier.line != at.line || (b.barrier.file != at.file && strcmp(b.barrier.file, at.file))) {
    report("threads of one block wait in different __syncthreads: %s:%d and %s:%d", b.barrier.file, b.barrier.line,
           at.file, at.line);
    die();
  }
  b.all &= vote != 0;
  b.any |= vote != 0;
  b.count += vote != 0;
  char *order = &b.order_of_barrier[b.round & 1];  // two in turn: a barrier must not order the next one
  release(order);
  b.state[i] = AT_BLOCK;
  b.fiber[i].at = at;
  b.fiber[i].mask = 0xffffffffu;
  if (++b.at_block == b.threads) {
    b.at_block = 0;
    ++b.round;
    b.result[0] = b.all;
    b.result[1] = b.any;
    b.result[2] = b.count;
    b.all = 1;
    b.any = b.count = 0;
    volatile unsigned char *states = (unsigned char *)b.state;
    for (int k = 0; k < b.threads; ++k) states[k] = READY;  // volatile, as a memset would be watched by TSan
  }
  suspend(false);
  acquire(order);
  if (result)
    for (int k = 0; k < 3; ++k) result[k] = b.result[k];
}

[[noreturn]] static void wrong(const char *what, Where at, unsigned mask) {
  report("warp collective at %s:%d with mask %08x: %s", at.file, at.line, mask, what);
  die();
}

static void deliver(Block &b, Warp &w, int base, unsigned mask, bool values) {
  for (unsigned m = mask; m; m &= m - 1) {
    const int k = __builtin_ctz(m);
    if (values) {
      const int source = b.fiber[base + k].source;
      w.out[k][0] = w.in[source][0];
      w.out[k][1] = w.in[source][1];
    }
    w.ballot[k] = w.votes & mask;
    b.state[base + k] = READY;
  }
  w.arrived &= ~mask;
  ++w.round;
}

static void copy(void *to, const void *from, size_t bytes) {
  volatile char *target = (char *)to;  // volatile, as a memcpy would be watched by TSan
  for (size_t k = 0; k < bytes; ++k) target[k] = ((const char *)from)[k];
}

static Warp &meet(unsigned mask, const void *in, size_t bytes, int source, bool vote, Where at) {
  Block &b = *current;
  const int i = b.running, l = i & 31, base = i & ~31;
  Warp &w = b.warp[i / 32];
  if (!(mask >> l & 1)) wrong("the caller is not in it", at, mask);
  if (mask & ~w.live) wrong("it names a thread that has returned or does not exist", at, mask);
  if (source < 0 || source > 31 || !(mask >> source & 1)) wrong("it reads a lane outside", at, mask);
  for (unsigned m = w.arrived & mask; m; m &= m - 1) {
    const Fiber &other = b.fiber[base + __builtin_ctz(m)];
    if (other.mask != mask) wrong("other lanes name another", at, mask);
    if (other.at.line != at.line) wrong("other lanes are at another line", at, mask);
  }
  if (in) copy(w.in[l], in, bytes);
  w.votes = (w.votes & ~(1u << l)) | (unsigned)vote << l;
  w.arrived |= 1u << l;
  Fiber &f = b.fiber[i];
  f.mask = mask;
  f.source = source;
  f.at = at;
  b.state[i] = AT_WARP;
  char *order = &w.order[w.round & 1];
  release(order);
  if ((w.arrived & mask) == mask) deliver(b, w, base, mask, in != nullptr);
  suspend(false);
  acquire(order);
  return w;
}

void warp_exchange(unsigned mask, const void *in, void *out, size_t bytes, int source, Where at) {
  Warp &w = meet(mask, in, bytes, source, false, at);
  copy(out, w.out[lane()], bytes);
}

unsigned warp_vote(unsigned mask, bool vote, Where at) {
  return meet(mask, nullptr, 0, lane(), vote, at).ballot[lane()];
}

void stalled() {
  Block &b = *current;
  int i = 0;
  while (i < b.threads && b.state[i] != AT_BLOCK && b.state[i] != AT_WARP) ++i;
  b.running = i;
  const Fiber &f = b.fiber[i];
  report("deadlock: thread %d waits for mask %08x in %s at %s:%d, %d of %d threads have returned", i, f.mask,
         b.state[i] == AT_BLOCK ? "__syncthreads" : "a warp collective", f.at.file, f.at.line, b.done, b.threads);
}
}  // namespace emulation
