// Layer normalization of the rows of an array, and its adjoints.
#include "common.cuh"

// ROUNDING is the distance from 1 to the next number, GREATEST the largest number, LEAST the smallest positive one,
// MOST the largest exponent of a scale. ROOT is a power of two. Numbers whose squares overflow have squares once they are
// multiplied by the square of ROOT; numbers whose squares vanish, once they are divided by it.
template <class A> struct Powers;
template <> struct Powers<float> {
  static constexpr float ROUNDING = 0x1p-23f, GREATEST = 0x1.fffffep127f, ROOT = 0x1p-40f;
  static constexpr float LEAST = 0x1p-149f;
  static constexpr int MOST = 126;
};
template <> struct Powers<double> {
  static constexpr double ROUNDING = 0x1p-52, GREATEST = 0x1.fffffffffffffp1023, ROOT = 0x1p-300;
  static constexpr double LEAST = 0x1p-1074;
  static constexpr int MOST = 1022;
};

// GROUP threads, a warp or the block of 256, share a row. weight and bias may be null. Grid: rows / (256 / GROUP).
template <class T, int GROUP>
__global__ void __launch_bounds__(256)
layer_norm(const T *__restrict__ x, const acc<T> *__restrict__ weight, const acc<T> *__restrict__ bias, double eps,
           i64 rows, i64 columns, T *__restrict__ y, acc<T> *__restrict__ mean, acc<T> *__restrict__ std) {
  typedef acc<T> A;
  __shared__ A shared[8];
  const i64 row = (i64)blockIdx.x * (256 / GROUP) + threadIdx.x / GROUP, start = threadIdx.x % GROUP;
  const i64 end = row < rows ? columns : 0, step = GROUP;
  const auto load = [&](i64 i) { return up(x[row * columns + i]); };

  // Computed once more, on another scale and from the distances to the first element, if squares overflow or vanish, or
  // if the variance may be the rounding error of equal elements, whose distances are 0.
  const A root = Powers<A>::ROOT * Powers<A>::ROOT;
  A scale = A(1), first = A(0), m, variance;
  for (int attempt = 0;; ++attempt) {
    A sum = A(0), squares = A(0);
    each(start, end, step, load, [&](i64, A v) { sum += v * scale - first; });
    m = group_join<Sum, GROUP>(sum, shared) / (A)columns;
    each(start, end, step, load, [&](i64, A v) {
      v = v * scale - first - m;
      squares += v * v;
    });
    variance = group_join<Sum, GROUP>(squares, shared) / (A)columns;
    const A error = (A)columns * Powers<A>::ROUNDING * m;
    const bool finite = variance < Limits<T>::highest(), small = variance < root && eps < (double)root;
    if (attempt || (variance >= error * error && finite && !small)) break;
    first = end ? load(0) : A(0);
    if (!finite) scale = root;
    else if (small && first < A(1) && first > A(-1)) scale = A(1) / root;  // equal elements may be large
    first *= scale;
  }
  const A s = sqrt_(variance + (A)(eps * (double)scale * (double)scale));
  const A r = s == A(0) ? A(1) : A(1) / s;  // all elements are equal

  if (row >= rows) return;
  each(start, end, step, load, [&](i64 i, A v) {
    v = (v * scale - first - m) * r;
    if (weight) v *= weight[i];
    if (bias) v += bias[i];
    y[row * columns + i] = down<T>(v);
  });
  if (start == 0) {
    mean[row] = (first + m) / scale;
    A kept = s / scale > Powers<A>::GREATEST ? Powers<A>::GREATEST : s / scale;
    if (variance == A(0)) {  // eps alone is left; without it infinity, which makes the gradient 0
      kept = eps > 0 ? (A)sqrt(eps) : Limits<T>::highest();
      if (kept == A(0)) kept = Powers<A>::LEAST;
    }
    std[row] = kept;
  }
}

// Normalizes the elements of a row. If the square of std would overflow or vanish, a power of two near 1 / std scales
// them: large elements before the mean is subtracted, small ones afterwards.
template <class A> struct Row {
  A before, after, m, r;

  __device__ __forceinline__ Row(A mean, A std) {
    const bool other = (std > A(1) / Powers<A>::ROOT && std <= Powers<A>::GREATEST) || std < Powers<A>::ROOT;
    const int exponent = other ? 1 - (int)log2((double)std) : 0;
    before = exponent < 0 ? (A)ldexp(1.0, exponent) : A(1);
    after = exponent > 0 ? (A)ldexp(1.0, exponent < Powers<A>::MOST ? exponent : Powers<A>::MOST) : A(1);
    m = mean * before;
    r = A(1) / (std * before * after);
  }
  __device__ __forceinline__ A normal(A v) const { return (v * before - m) * after * r; }
  __device__ __forceinline__ A divided(A v) const { return v * r * before * after; }
};

template <class A> struct Slope { A h, n; };

// With h = cotangent * weight and n the normalized rows: (h - mean(h) - n mean(h n)) / std.
template <class T, int GROUP>
__global__ void __launch_bounds__(256)
layer_norm_backward(const T *__restrict__ cotangent, const T *__restrict__ x, const acc<T> *__restrict__ weight,
                    const acc<T> *__restrict__ mean, const acc<T> *__restrict__ std, i64 rows, i64 columns,
                    T *__restrict__ out) {
  typedef acc<T> A;
  __shared__ A shared[8];
  const i64 row = (i64)blockIdx.x * (256 / GROUP) + threadIdx.x / GROUP, start = threadIdx.x % GROUP;
  const i64 end = row < rows ? columns : 0, step = GROUP;
  const Row<A> own(row < rows ? mean[row] : A(0), row < rows ? std[row] : A(1));
  const auto load = [&](i64 i) {
    const A h = up(cotangent[row * columns + i]) * (weight ? weight[i] : A(1));
    return Slope<A>{h, own.normal(up(x[row * columns + i]))};
  };

  A along = A(0), across = A(0);
  each(start, end, step, load, [&](i64, Slope<A> v) {
    along += v.h;
    across += v.h * v.n;
  });
  along = group_join<Sum, GROUP>(along, shared) / (A)columns;
  across = group_join<Sum, GROUP>(across, shared) / (A)columns;
  each(start, end, step, load,
       [&](i64 i, Slope<A> v) { out[row * columns + i] = down<T>(own.divided(v.h - along - v.n * across)); });
}

// The sums of cotangent * n and of cotangent over `chunk` rows each, (chunks, columns); `weight_sums` may be null.
// Block (32, 8): columns, and rows taking turns. Grid: (tiles of 32 columns, chunks).
template <class T>
__global__ void __launch_bounds__(256)
layer_norm_parameters(const T *__restrict__ cotangent, const T *__restrict__ x, const acc<T> *__restrict__ mean,
                      const acc<T> *__restrict__ std, i64 rows, i64 columns, i64 chunk,
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
           return Slope<A>{g, Row<A>(mean[i], std[i]).normal(up(x[i * columns + col]))};
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
  bias_sums[blockIdx.y * columns + col] = b;
}
