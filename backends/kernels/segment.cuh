// How the threads of a block share the rows and columns of segments.
#pragma once
#include "common.cuh"

// GROUP threads, a warp or the whole block of 256, share one segment: `width` = 1 << lg lanes (at most GROUP) stand
// side by side over the columns, V columns each, and the GROUP / width rows of lanes take turns over the rows.
// Grid: (segments / (256 / GROUP), tiles of width * V columns), the tiles on y and z together.
template <int GROUP, int V> struct Lanes {
  int t, lane, width, lg, step, turn;
  i64 segment, col;
  bool in;

  __device__ __forceinline__ Lanes(i64 count, i64 columns, int lg_) {
    lg = lg_;
    t = threadIdx.x % GROUP;
    width = 1 << lg;
    lane = t & (width - 1);
    step = GROUP >> lg;
    turn = t >> lg;
    segment = (i64)blockIdx.x * (256 / GROUP) + threadIdx.x / GROUP;
    col = (((i64)blockIdx.z * gridDim.y + blockIdx.y) * width + lane) * V;
    in = segment < count && col < columns;
  }
};

// Joins the values of all lanes of a column, for the V columns of each lane; every lane gets the result. `shared` has
// 256 * V elements.
template <class Op, int GROUP, int V, class A>
__device__ __forceinline__ void join_rows(A (&a)[V], const Lanes<GROUP, V> &at, A *shared) {
#pragma unroll
  for (int v = 0; v < V; ++v) a[v] = warp_join<Op>(a[v], at.width);
  if constexpr (GROUP > 32) {
    const int slots = at.width < 32 ? GROUP / 32 : at.step;  // partial results a column
    const int slot = at.width < 32 ? at.t / 32 : at.turn;
    if (at.width >= 32 || at.t % 32 < at.width) {
#pragma unroll
      for (int v = 0; v < V; ++v) shared[(slot * at.width + at.lane) * V + v] = a[v];
    }
    __syncthreads();
#pragma unroll
    for (int v = 0; v < V; ++v) {
      a[v] = shared[at.lane * V + v];
#pragma unroll 1
      for (int k = 1; k < slots; ++k) a[v] = Op::join(a[v], shared[(k * at.width + at.lane) * V + v]);
    }
  }
}
