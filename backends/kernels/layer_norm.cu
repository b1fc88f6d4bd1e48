// Layer normalization of the rows of an array, and its adjoints.
#include "common.cuh"

// GROUP threads, a warp or the block of 256, share a row. weight and bias may be null. Grid: rows / (256 / GROUP).
template <class T, int GROUP>
__global__ void __launch_bounds__(256)
layer_norm(const T *__restrict__ x, const acc<T> *__restrict__ weight, const acc<T> *__restrict__ bias, double eps,
           i64 rows, i64 columns, T *__restrict__ y, acc<T> *__restrict__ mean, acc<T> *__restrict__ rstd) {
  typedef acc<T> A;
  __shared__ A shared[8];
  const i64 row = (i64)blockIdx.x * (256 / GROUP) + threadIdx.x / GROUP, start = threadIdx.x % GROUP;
  const i64 end = row < rows ? columns : 0, step = GROUP;
  const auto load = [&](i64 i) { return up(x[row * columns + i]); };

  A sum = A(0);
  each(start, end, step, load, [&](i64, A v) { sum += v; });
  const A m = group_join<Sum, GROUP>(sum, shared) / (A)columns;
  A squares = A(0);
  each(start, end, step, load, [&](i64, A v) { squares += (v - m) * (v - m); });
  const A r = A(1) / sqrt_(group_join<Sum, GROUP>(squares, shared) / (A)columns + (A)eps);

  if (row >= rows) return;
  each(start, end, step, load, [&](i64 i, A v) {
    v = (v - m) * r;
    if (weight) v *= weight[i];
    if (bias) v += bias[i];
    y[row * columns + i] = down<T>(v);
  });
  if (start == 0) {
    mean[row] = m;
    rstd[row] = r;
  }
}

template <class A> struct Slope { A h, n; };

// With h = cotangent * weight and n the normalized rows: rstd (h - mean(h) - n mean(h n)).
template <class T, int GROUP>
__global__ void __launch_bounds__(256)
layer_norm_backward(const T *__restrict__ cotangent, const T *__restrict__ x, const acc<T> *__restrict__ weight,
                    const acc<T> *__restrict__ mean, const acc<T> *__restrict__ rstd, i64 rows, i64 columns,
                    T *__restrict__ out) {
  typedef acc<T> A;
  __shared__ A shared[8];
  const i64 row = (i64)blockIdx.x * (256 / GROUP) + threadIdx.x / GROUP, start = threadIdx.x % GROUP;
  const i64 end = row < rows ? columns : 0, step = GROUP;
  const A m = row < rows ? mean[row] : A(0), r = row < rows ? rstd[row] : A(0);
  const auto load = [&](i64 i) {
    const A h = up(cotangent[row * columns + i]) * (weight ? weight[i] : A(1));
    return Slope<A>{h, (up(x[row * columns + i]) - m) * r};
  };

  A along = A(0), across = A(0);
  each(start, end, step, load, [&](i64, Slope<A> v) {
    along += v.h;
    across += v.h * v.n;
  });
  along = group_join<Sum, GROUP>(along, shared) / (A)columns;
  across = group_join<Sum, GROUP>(across, shared) / (A)columns;
  each(start, end, step, load,
       [&](i64 i, Slope<A> v) { out[row * columns + i] = down<T>((v.h - along - v.n * across) * r); });
}

// The sums of cotangent * n and of cotangent over `chunk` rows each, (chunks, columns); either result may be null.
// Block (32, 8): columns, and rows taking turns. Grid: (tiles of 32 columns, chunks).
template <class T>
__global__ void __launch_bounds__(256)
layer_norm_parameters(const T *__restrict__ cotangent, const T *__restrict__ x, const acc<T> *__restrict__ mean,
                      const acc<T> *__restrict__ rstd, i64 rows, i64 columns, i64 chunk,
                      acc<T> *__restrict__ weight_sums, acc<T> *__restrict__ bias_sums) {
  typedef acc<T> A;
  __shared__ A of_weight[8][33], of_bias[8][33];
  const i64 col = (i64)blockIdx.x * 32 + threadIdx.x, first = blockIdx.y * chunk;
  const i64 last = rows - first < chunk ? rows : first + chunk;
  A w = A(0), b = A(0);
  if (col < columns)
    each(first + threadIdx.y, last, (i64)8,
         [&](i64 i) {
           const A g = up(cotangent[i * columns + col]);
           return Slope<A>{g, (up(x[i * columns + col]) - mean[i]) * rstd[i]};
         },
         [&](i64, Slope<A> v) {
           w += v.h * v.n;
           b += v.h;
         });
  of_weight[threadIdx.y][threadIdx.x] = w;
  of_bias[threadIdx.y][threadIdx.x] = b;
  __syncthreads();
  if (threadIdx.y || col >= columns) return;
#pragma unroll 1
  for (int k = 1; k < 8; ++k) {
    w += of_weight[k][threadIdx.x];
    b += of_bias[k][threadIdx.x];
  }
  if (weight_sums) weight_sums[blockIdx.y * columns + col] = w;
  if (bias_sums) bias_sums[blockIdx.y * columns + col] = b;
}
