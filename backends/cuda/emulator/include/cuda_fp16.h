// float16 for the CPU emulation: storage only, arithmetic happens in float.
#pragma once
struct __half { unsigned short x; };
inline __half __float2half_rn(float f) {
  unsigned u; memcpy(&u, &f, 4);
  unsigned sign = u >> 16 & 0x8000u, a = u & 0x7fffffffu; __half h;
  if (a > 0x7f800000u) h.x = (unsigned short)(sign | 0x7e00u | (a >> 13 & 0x3ffu));   // NaN
  else if (a >= 0x477ff000u) h.x = (unsigned short)(sign | 0x7c00u);                   // rounds to inf
  else if (a < 0x38800000u) {                                                          // subnormal
    float t; memcpy(&t, &a, 4); t += 0.5f; memcpy(&a, &t, 4);
    h.x = (unsigned short)(sign | (a - 0x3f000000u));
  } else { a += 0xc8000fffu + (a >> 13 & 1); h.x = (unsigned short)(sign | a >> 13); }
  return h;
}
inline __half __float2half(float f) { return __float2half_rn(f); }
inline float __half2float(__half h) {
  unsigned s = (h.x & 0x8000u) << 16, e = h.x >> 10 & 31, m = h.x & 0x3ff; float f; unsigned u;
  if (e == 0) { f = m * 5.9604644775390625e-8f; memcpy(&u, &f, 4); u |= s; }
  else if (e == 31) u = s | 0x7f800000u | m << 13;
  else u = s | (e + 112) << 23 | m << 13;
  memcpy(&f, &u, 4); return f;
}
