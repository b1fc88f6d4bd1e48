// Numbers of one dtype as numbers of another.
#include "cast.cuh"

template <class From, class To>
__global__ void __launch_bounds__(256)
cast(const From *__restrict__ x, i64 count, To *__restrict__ out) {
  each((i64)blockIdx.x * 256 + threadIdx.x, count, (i64)gridDim.x * 256, [&](i64 i) { return x[i]; },
       [&](i64 i, From v) { out[i] = converted<From, To>(v); });
}
