// Lets a C++ compiler take CUDA device code unchanged:
//     g++ -std=c++17 -x c++ -include language.hpp -Iinclude kernel.cu
// The scheduler is in block.hpp and its neighbours: one OS thread runs a block, and the block's CUDA threads are fibers
// that switch inside barriers and warp collectives only.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <typeinfo>
#include <utility>

// ---- the language
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
// At block scope `thread_local` implies `static`, as `__shared__` does.
#define __shared__ thread_local

struct uint3 { unsigned x, y, z; };
struct alignas(16) ulonglong2 { unsigned long long x, y; };

extern __thread uint3 threadIdx, blockIdx, blockDim, gridDim;
constexpr int warpSize = 32;

namespace emulation {
struct Where { const char *file; int line; };
int lane();
void block_barrier(int vote, int result[3], Where);  // result: and, or, count
void warp_exchange(unsigned mask, const void *in, void *out, size_t bytes, int source, Where);
unsigned warp_vote(unsigned mask, bool vote, Where);
const char *launch(const unsigned grid[3], const unsigned block[3], void (*body)(void *), void *args, int order,
                   uint64_t seed, int workers);
const char *signature(const std::type_info &kernel);  // "void (*)(float const*, long long)"

inline int block_vote(int p, int which, Where at) {
  int result[3];
  block_barrier(p, result, at);
  return result[which];
}

enum Kind { XOR, DOWN, UP, INDEX };
template <Kind kind, class T> inline T shuffle(Where at, unsigned mask, T v, int x, int width = 32) {
  static_assert(std::is_arithmetic<T>::value, "CUDA shuffles numbers only");
  const int me = lane(), base = me & ~(width - 1);
  int source = me;
  if (kind == XOR) source = me ^ x, source = (source & ~(width - 1)) > base ? me : source;
  if (kind == DOWN) source = me + x, source = (source & ~(width - 1)) != base ? me : source;
  if (kind == UP) source = me - x, source = source < base ? me : source;
  if (kind == INDEX) source = base + (x & (width - 1));
  T result;
  warp_exchange(mask, &v, &result, sizeof(T), source, at);
  return result;
}
inline void syncwarp(Where at, unsigned mask = 0xffffffffu) { warp_vote(mask, false, at); }

// ---- the arguments of a kernel, passed as cuLaunchKernel takes them
template <class K> struct Kernel;
template <class... A> struct Kernel<void (*)(A...)> {
  struct Call { void (*kernel)(A...); void **cells; };
  template <size_t... I> static void invoke(Call *call, std::index_sequence<I...>) {
    call->kernel(*static_cast<std::remove_cv_t<std::remove_reference_t<A>> *>(call->cells[I])...);
  }
  static void body(void *call) { invoke(static_cast<Call *>(call), std::index_sequence_for<A...>{}); }
};
}  // namespace emulation

#define EMULATION_EXPORT(ID, ...)                                                                         \
  extern "C" const char *ID##_signature() { return emulation::signature(typeid(&__VA_ARGS__)); }          \
  extern "C" const char *ID##_launch(const unsigned *grid, const unsigned *block, void **cells, int order, \
                                     uint64_t seed, int workers) {                                        \
    using K = emulation::Kernel<decltype(&__VA_ARGS__)>;                                                  \
    typename K::Call call{&__VA_ARGS__, cells};                                                           \
    return emulation::launch(grid, block, &K::body, &call, order, seed, workers);                         \
  }

// ---- intrinsics: macros where the place in the source is worth reporting
#define EMULATION_HERE emulation::Where{__FILE__, __LINE__}
#define __syncthreads() emulation::block_barrier(0, nullptr, EMULATION_HERE)
#define __syncthreads_and(p) emulation::block_vote((p), 0, EMULATION_HERE)
#define __syncthreads_or(p) emulation::block_vote((p), 1, EMULATION_HERE)
#define __syncthreads_count(p) emulation::block_vote((p), 2, EMULATION_HERE)
#define __shfl_xor_sync(...) emulation::shuffle<emulation::XOR>(EMULATION_HERE, __VA_ARGS__)
#define __shfl_down_sync(...) emulation::shuffle<emulation::DOWN>(EMULATION_HERE, __VA_ARGS__)
#define __shfl_up_sync(...) emulation::shuffle<emulation::UP>(EMULATION_HERE, __VA_ARGS__)
#define __shfl_sync(...) emulation::shuffle<emulation::INDEX>(EMULATION_HERE, __VA_ARGS__)
#define __syncwarp(...) emulation::syncwarp(EMULATION_HERE __VA_OPT__(,) __VA_ARGS__)
#define __ballot_sync(m, p) emulation::warp_vote((m), (p), EMULATION_HERE)
#define __any_sync(m, p) (emulation::warp_vote((m), (p), EMULATION_HERE) != 0)
#define __all_sync(m, p) (emulation::warp_vote((m), (p), EMULATION_HERE) == (m))

inline float __int_as_float(int i) { float f; memcpy(&f, &i, 4); return f; }
inline double __longlong_as_double(long long i) { double f; memcpy(&f, &i, 8); return f; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline int __clzll(long long i) { return i ? __builtin_clzll((unsigned long long)i) : 64; }
using std::max;
using std::min;
