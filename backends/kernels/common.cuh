// Shared by all kernels: number types, reductions, loops and search.
//
// Conventions. Offsets, sizes and strides are int64 and count elements. A kernel is a template in the global namespace;
// its template arguments are operations first, then types, then integers; its parameters are inputs, sizes, outputs.
// float16 and bfloat16 are storage only: `up` widens to the accumulator, `down` rounds once, at the end. No kernel uses
// an atomic. So the order of additions follows from the launch alone, and results are repeatable bit for bit.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

typedef long long i64;
typedef unsigned long long u64;

// ---- types: storage T, accumulator acc<T>
template <class T> struct Acc { typedef i64 type; };
template <> struct Acc<__half> { typedef float type; };
template <> struct Acc<__nv_bfloat16> { typedef float type; };
template <> struct Acc<float> { typedef float type; };
template <> struct Acc<double> { typedef double type; };
template <class T> using acc = typename Acc<T>::type;

template <class T> __device__ __forceinline__ acc<T> up(T v) { return v; }
template <> __device__ __forceinline__ float up(__half v) { return __half2float(v); }
template <> __device__ __forceinline__ float up(__nv_bfloat16 v) { return __bfloat162float(v); }

template <class T> struct Down { static __device__ __forceinline__ T of(acc<T> v) { return (T)v; } };
template <> struct Down<__half> { static __device__ __forceinline__ __half of(float v) { return __float2half_rn(v); } };
template <> struct Down<__nv_bfloat16> {
  static __device__ __forceinline__ __nv_bfloat16 of(float v) { return __float2bfloat16_rn(v); }
};
template <> struct Down<bool> { static __device__ __forceinline__ bool of(i64 v) { return v != 0; } };
template <class T> __device__ __forceinline__ T down(acc<T> v) { return Down<T>::of(v); }

// The least and the greatest value of a type, in the type of its accumulator.
template <class T> struct Limits;
#define PYNESTED_LIMITS(T, LOWEST, HIGHEST)                                     \
  template <> struct Limits<T> {                                                \
    static __device__ __forceinline__ acc<T> lowest() { return LOWEST; }        \
    static __device__ __forceinline__ acc<T> highest() { return HIGHEST; }      \
  };
PYNESTED_LIMITS(float, __int_as_float(0xff800000), __int_as_float(0x7f800000))
PYNESTED_LIMITS(__half, __int_as_float(0xff800000), __int_as_float(0x7f800000))
PYNESTED_LIMITS(__nv_bfloat16, __int_as_float(0xff800000), __int_as_float(0x7f800000))
PYNESTED_LIMITS(double, __longlong_as_double(0xfff0000000000000ll), __longlong_as_double(0x7ff0000000000000ll))
PYNESTED_LIMITS(bool, 0, 1)
PYNESTED_LIMITS(signed char, -128, 127)
PYNESTED_LIMITS(unsigned char, 0, 255)
PYNESTED_LIMITS(short, -32768, 32767)
PYNESTED_LIMITS(int, -2147483647ll - 1, 2147483647ll)
PYNESTED_LIMITS(i64, -9223372036854775807ll - 1, 9223372036854775807ll)

__device__ __forceinline__ float exp_(float x) { return expf(x); }
__device__ __forceinline__ double exp_(double x) { return exp(x); }
__device__ __forceinline__ float log_(float x) { return logf(x); }
__device__ __forceinline__ double log_(double x) { return log(x); }
__device__ __forceinline__ float sqrt_(float x) { return sqrtf(x); }
__device__ __forceinline__ double sqrt_(double x) { return sqrt(x); }

// Integers wrap around. C++ defines that for unsigned ones only.
template <class A> __device__ __forceinline__ A plus(A a, A b) { return a + b; }
template <> __device__ __forceinline__ i64 plus(i64 a, i64 b) { return (i64)((u64)a + (u64)b); }
template <class A> __device__ __forceinline__ A times(A a, A b) { return a * b; }
template <> __device__ __forceinline__ i64 times(i64 a, i64 b) { return (i64)((u64)a * (u64)b); }

// ---- V neighbours, which one access moves
template <class T, int V> struct alignas(sizeof(T) * V) Pack { T v[V]; };

// ---- reductions: `identity` is the result for no elements of storage T, `join` the result for two parts
struct Sum {
  template <class T> static __device__ __forceinline__ acc<T> identity() { return acc<T>(0); }
  template <class A> static __device__ __forceinline__ A join(A a, A b) { return plus(a, b); }
};
struct Prod {
  template <class T> static __device__ __forceinline__ acc<T> identity() { return acc<T>(1); }
  template <class A> static __device__ __forceinline__ A join(A a, A b) { return times(a, b); }
};
struct Max {  // NaN wins
  template <class T> static __device__ __forceinline__ acc<T> identity() { return Limits<T>::lowest(); }
  template <class A> static __device__ __forceinline__ A join(A a, A b) { return (a > b || a != a) ? a : b; }
};
struct Min {
  template <class T> static __device__ __forceinline__ acc<T> identity() { return Limits<T>::highest(); }
  template <class A> static __device__ __forceinline__ A join(A a, A b) { return (a < b || a != a) ? a : b; }
};

enum : unsigned { FULL = 0xffffffffu };

// The value of the lane whose number differs in the bits of `o`. Structs of numbers overload it.
template <class A> __device__ __forceinline__ A from_lane(A a, int o) { return __shfl_xor_sync(FULL, a, o); }

// Joins the lanes of a warp whose numbers are equal modulo `width`, a power of two; each of them gets the result.
template <class Op, class A> __device__ __forceinline__ A warp_join(A a, int width) {
  for (int o = 16; o >= width; o >>= 1) a = Op::join(a, from_lane(a, o));
  return a;
}

// Joins GROUP threads, a warp or the block of 256; each of them gets the result. `shared` has 8 elements.
template <class Op, int GROUP, class A> __device__ __forceinline__ A group_join(A a, A *shared) {
  a = warp_join<Op>(a, 1);
  if constexpr (GROUP > 32) {
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = a;
    __syncthreads();
    a = shared[0];
#pragma unroll 1
    for (int k = 1; k < GROUP / 32; ++k) a = Op::join(a, shared[k]);
    __syncthreads();
  }
  return a;
}

// Calls use(i, load(i)) for i, i + step, ... below end, with four loads before the first use. If the compiler unrolled
// the loop, it would first compute the number of rounds, by a slow division of 64-bit integers.
template <class I, class Load, class Use>
__device__ __forceinline__ void each(I i, I end, I step, Load load, Use use) {
#pragma unroll 1
  for (; i + 3 * step < end; i += 4 * step) {
    const auto v0 = load(i), v1 = load(i + step), v2 = load(i + 2 * step), v3 = load(i + 3 * step);
    use(i, v0);
    use(i + step, v1);
    use(i + 2 * step, v2);
    use(i + 3 * step, v3);
  }
#pragma unroll 1
  for (; i < end; i += step) use(i, load(i));
}

// The segment of item i: starts[s] <= i < starts[s + 1]. It is the last one with starts[s] <= i.
__device__ __forceinline__ i64 find_segment(const i64 *starts, i64 count, i64 i) {
  i64 low = 0, high = count - 1;
  while (low < high) {
    const i64 middle = (low + high + 1) >> 1;
    if (starts[middle] <= i) low = middle;
    else high = middle - 1;
  }
  return low;
}
