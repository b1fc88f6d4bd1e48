// Cross entropy of the rows of an array, and its adjoint; no array of probabilities is kept.
#include "online.cuh"

// With l_c = logsumexp - x_c, weights w and s = smoothing: (1 - s) w_t l_t + s / C * sum of w_c l_c; 0 where the target
// is `ignored`. The scale keeps the maximum and log sum exp(x - maximum): their sum would lose the small one.
// GROUP threads, a warp or the block of 256, share a row. weight may be null. Grid: rows / (256 / GROUP).
template <class T, int GROUP>
__global__ void __launch_bounds__(256)
cross_entropy(const T *__restrict__ x, const i64 *__restrict__ target, const acc<T> *__restrict__ weight, i64 ignored,
              double smoothing, i64 rows, i64 classes, T *__restrict__ loss, acc<T> *__restrict__ scale) {
  typedef acc<T> A;
  __shared__ Online<A> shared[8];
  __shared__ A sums[8];
  const i64 row = (i64)blockIdx.x * (256 / GROUP) + threadIdx.x / GROUP, start = threadIdx.x % GROUP;
  const i64 end = row < rows ? classes : 0, step = GROUP;
  const auto load = [&](i64 c) { return up(x[row * classes + c]); };

  Online<A> total = nothing<A>();
  each(start, end, step, load, [&](i64, A v) { total.add(v); });
  total = group_join<Merge, GROUP>(total, shared);
  const A m = total.m, log_sum = log_(total.s);
  A smooth = A(0);
  if (smoothing != 0) {
    each(start, end, step, load, [&](i64 c, A v) { smooth += (log_sum - (v - m)) * (weight ? weight[c] : A(1)); });
    smooth = group_join<Sum, GROUP>(smooth, sums);
  }
  if (row >= rows || start) return;
  const i64 t = target[row];
  A result = A(0);
  if (t != ignored && classes) {
    result = log_sum - (up(x[row * classes + t]) - m);
    if (weight) result *= weight[t];
    if (smoothing != 0) result = (A)(1 - smoothing) * result + (A)(smoothing / (double)classes) * smooth;
  }
  loss[row] = down<T>(result);
  scale[row] = m;
  scale[rows + row] = log_sum;
}

// With p the softmax: (1 - s) w_t (p_c - [c = t]) + s / C * (p_c sum(w) - w_c), times the row's cotangent.
// total_weight points to sum(w), and is null with weight. Block 256, a row; grid: (rows, tiles of classes).
template <class T>
__global__ void __launch_bounds__(256)
cross_entropy_backward(const T *__restrict__ cotangent, const T *__restrict__ x, const i64 *__restrict__ target,
                       const acc<T> *__restrict__ weight, const acc<T> *__restrict__ total_weight, i64 ignored,
                       double smoothing, const acc<T> *__restrict__ scale, i64 rows, i64 classes, T *__restrict__ out) {
  typedef acc<T> A;
  const i64 row = blockIdx.x, t = target[row];
  const i64 start = (i64)blockIdx.y * blockDim.x + threadIdx.x, step = (i64)gridDim.y * blockDim.x;
  x += row * classes;
  out += row * classes;
  if (t == ignored) {
    each(start, classes, step, [&](i64) { return A(0); }, [&](i64 c, A v) { out[c] = down<T>(v); });
    return;
  }
  const A m = scale[row], log_sum = scale[rows + row], g = up(cotangent[row]);
  const A part = (A)(smoothing / (double)classes), own = (A)(1 - smoothing) * (weight ? weight[t] : A(1));
  const A both = own + part * (total_weight ? total_weight[0] : (A)classes);
  each(start, classes, step, [&](i64 c) { return up(x[c]); }, [&](i64 c, A v) {
    A slope = exp_(v - m - log_sum) * both;
    if (c == t) slope -= own;
    if (smoothing != 0) slope -= weight ? part * weight[c] : part;
    out[c] = down<T>(slope * g);
  });
}
