// The maximum of numbers and the sum of exp(number - maximum), in one pass.
#pragma once
#include "common.cuh"

// -inf adds nothing, so a masked prefix cannot poison the sum; NaN and +inf make the sum NaN, and -inf alone leaves 0.
template <class A> struct Online {
  A m, s;
  __device__ __forceinline__ void add(A x) {
    if (x > m) {
      s = s * exp_(m - x) + (A(1) + (x - x));  // x - x is NaN for +inf
      m = x;
    } else if (x != Limits<A>::lowest()) {
      s += exp_(x - m);
    }
  }
};

template <class A> __device__ __forceinline__ Online<A> nothing() { return {Limits<A>::lowest(), A(0)}; }

template <class A> __device__ __forceinline__ Online<A> from_lane(Online<A> a, int o) {
  return {__shfl_xor_sync(FULL, a.m, o), __shfl_xor_sync(FULL, a.s, o)};
}

struct Merge {
  template <class A> static __device__ __forceinline__ Online<A> join(Online<A> a, Online<A> b) {
    const A top = a.m > b.m ? a.m : b.m;
    const A first = a.m == top ? a.s : a.s * exp_(a.m - top);
    return {top, first + (b.m == top ? b.s : b.s * exp_(b.m - top))};
  }
};
