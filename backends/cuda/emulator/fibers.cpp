// Fibers: stacks, switches, and the order in which a block's threads take turns.
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>

#include "block.hpp"

__thread uint3 threadIdx, blockIdx, blockDim, gridDim;

extern "C" void emulation_switch(void **save, void *load);

namespace emulation {
thread_local Block *current = nullptr;

thread_local Slots *idle = nullptr;

Slots::~Slots() {
  for (Slot &s : *this) {
    if (s.tsan) __tsan_destroy_fiber(s.tsan);
    if (s.stack) munmap(s.stack, STACK);
  }
}

// Lets ASan forget the frames of functions that never returned. Functions that return do so themselves.
void unpoison(Slot s) {
  if (ASAN) __asan_unpoison_memory_region(s.stack + 4096, STACK - 4096);
}

static Slot take_slot(int i) {
  Slot s{nullptr, nullptr};
  if (TSAN) {  // one stack for ever with one TSan fiber
    while ((int)idle->size() <= i) idle->push_back(s);
    s = (*idle)[i];
  } else if (!idle->empty()) {
    s = idle->back();
    idle->pop_back();
    return s;
  }
  if (!s.stack) {
    s.stack = (char *)mmap(nullptr, STACK, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (s.stack == MAP_FAILED) abort();
    mprotect(s.stack, 4096, PROT_NONE);  // a guard page catches overflow
    unpoison(s);
    if (TSAN) {
      s.tsan = __tsan_create_fiber(0);
      (*idle)[i] = s;
    }
  }
  return s;
}

void give_slot(Slot s) { if (!TSAN) idle->push_back(s); }

static void entry() {
  Block &b = *current;
  if (ASAN) __sanitizer_finish_switch_fiber(nullptr, &b.main_bottom, &b.main_size);
  const int i = b.running;
  acquire(&b.body);
  b.body(b.args);
  b.state[i] = DONE;
  ++b.done;
  b.warp[i / 32].live &= ~(1u << (i & 31));
  release(&b.done);
  if (b.at_block)
    report("a thread returned while %d others wait in __syncthreads at %s:%d", b.at_block, b.barrier.file,
           b.barrier.line);
  suspend(true);
  abort();
}

static void start(Block &b, int i) {
  Fiber &f = b.fiber[i];
  f.slot = take_slot(i);
  f.fake_stack = nullptr;
#if defined(__x86_64__)
  void **top = (void **)(f.slot.stack + STACK - 128 * (i & 31));  // tops spread over cache sets
  *--top = nullptr;
  *--top = (void *)&entry;
  top -= 6;
  memset((void *)top, 0, 48);
#else
  void **top = (void **)(f.slot.stack + STACK) - 20;
  memset((void *)top, 0, 160);
  top[11] = (void *)&entry;
#endif
  f.stack_pointer = top;
}

int advance(Block &b) {
  if (b.order == EAGER) b.place = -1;  // the first that can run, so that warps run as far ahead as they may
  while (++b.place < b.threads) {
    const int i = b.order == FORWARD ? b.place : b.order == REVERSE ? b.threads - 1 - b.place : b.turn[b.place];
    if (b.state[i] > READY) continue;
    if (b.state[i] == UNBORN) {
      start(b, i);
      b.state[i] = READY;
    }
    b.moved = true;
    b.running = i;
    threadIdx = b.fiber[i].thread;
    return i;
  }
  return -1;
}

void resume(int i) {
  Block &b = *current;
  Fiber &f = b.fiber[i];
  if (TSAN) __tsan_switch_to_fiber(f.slot.tsan, NO_SYNC);
  if (ASAN) __sanitizer_start_switch_fiber(&b.main_fake, f.slot.stack, STACK);
  emulation_switch(&b.main_pointer, f.stack_pointer);
  if (ASAN) __sanitizer_finish_switch_fiber(b.main_fake, nullptr, nullptr);
}

void suspend(bool last) {
  Block &b = *current;
  Fiber &f = b.fiber[b.running];
  if (!last && !TSAN && !ASAN && !b.failed) {  // straight to the next thread
    const int i = advance(b);
    emulation_switch(&f.stack_pointer, i < 0 ? b.main_pointer : b.fiber[i].stack_pointer);
    return;
  }
  if (TSAN) __tsan_switch_to_fiber(b.main_tsan, NO_SYNC);
  if (ASAN) __sanitizer_start_switch_fiber(last ? nullptr : &f.fake_stack, b.main_bottom, b.main_size);
  emulation_switch(&f.stack_pointer, b.main_pointer);
  if (ASAN) __sanitizer_finish_switch_fiber(f.fake_stack, &b.main_bottom, &b.main_size);
}

void report(const char *format, ...) {
  Block &b = *current;
  if (b.failed) return;
  b.failed = true;
  va_list values;
  va_start(values, format);
  const int n = vsnprintf(b.error, sizeof b.error, format, values);
  va_end(values);
  if (n >= 0 && n < (int)sizeof b.error)
    snprintf(b.error + n, sizeof b.error - n, " [block (%u, %u, %u), thread %d]", blockIdx.x, blockIdx.y, blockIdx.z,
             b.running);
  release(b.error);
}

void die() {
  suspend(true);
  abort();
}
}  // namespace emulation

#if defined(__x86_64__)
asm(R"(
.text
.globl emulation_switch
.hidden emulation_switch
.type emulation_switch,@function
.p2align 4
emulation_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  popq %rdx
  jmpq *%rdx
.size emulation_switch,.-emulation_switch
)");
#elif defined(__aarch64__)
asm(R"(
.text
.globl emulation_switch
.hidden emulation_switch
.type emulation_switch,%function
.p2align 4
emulation_switch:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size emulation_switch,.-emulation_switch
)");
#else
#error "the emulation switches fibers on x86-64 and aarch64 only"
#endif
