// Components that each have sizes, strides and an offset, visited tile by tile.
#pragma once
#include "common.cuh"

enum { TILE = 1024 };  // elements of a tile; a block computes a tile, however many tiles a component has

// Where the elements of one component lie in M arrays. Its row of `meta`, int64, is
//   sizes[ND] | strides in array 0 [ND], offset | strides in array 1 [ND], offset | ...
// Positions within a component are of type I. Division of 32 bits is fast; the host chooses 64 bits if they are needed.
template <int ND, int M, class I> struct Component {
  I size[ND], stride[M][ND], count;
  i64 offset[M];

  __device__ __forceinline__ explicit Component(const i64 *row) {
    count = 1;
#pragma unroll
    for (int d = 0; d < ND; ++d) {
      size[d] = (I)row[d];
      count *= size[d];
    }
#pragma unroll
    for (int m = 0; m < M; ++m) {
      const i64 *part = row + ND + m * (ND + 1);
#pragma unroll
      for (int d = 0; d < ND; ++d) stride[m][d] = (I)part[d];
      offset[m] = part[ND];
    }
  }

  // Calls use(positions in the arrays) for the elements of a tile that belong to this thread.
  template <class Use> __device__ __forceinline__ void visit(i64 tile, Use use) const {
    const I begin = (I)(tile * TILE), end = count - begin < (I)TILE ? count : begin + (I)TILE;
#pragma unroll
    for (int u = 0; u < TILE / 256; ++u) {
      const I i = begin + u * 256 + threadIdx.x;
      if (i >= end) break;
      I rest = i, place[M] = {};
#pragma unroll
      for (int d = ND - 1; d >= 0; --d) {
        const I above = d ? rest / size[d] : 0, along = rest - above * size[d];
#pragma unroll
        for (int m = 0; m < M; ++m) place[m] += along * stride[m][d];
        rest = above;
      }
      i64 at[M];
#pragma unroll
      for (int m = 0; m < M; ++m) at[m] = offset[m] + (i64)place[m];
      use(at);
    }
  }
};
