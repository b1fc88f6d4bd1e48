// Functions of one element, and their adjoints.
#include "functors.cuh"

template <class Op, class T>
__global__ void __launch_bounds__(256)
unary(const T *__restrict__ x, i64 count, T *__restrict__ out) {
  typedef acc<T> A;
  each((i64)blockIdx.x * 256 + threadIdx.x, count, (i64)gridDim.x * 256, [&](i64 i) { return up(x[i]); },
       [&](i64 i, A v) { out[i] = down<T>(Op::of(v)); });
}

template <class A> struct Two { A a, b; };

template <class Op, class T>
__global__ void __launch_bounds__(256)
binary(const T *__restrict__ a, const T *__restrict__ b, i64 count, T *__restrict__ out) {
  typedef acc<T> A;
  each((i64)blockIdx.x * 256 + threadIdx.x, count, (i64)gridDim.x * 256,
       [&](i64 i) { return Two<A>{up(a[i]), up(b[i])}; },
       [&](i64 i, Two<A> v) { out[i] = down<T>(Op::of(v.a, v.b)); });
}
