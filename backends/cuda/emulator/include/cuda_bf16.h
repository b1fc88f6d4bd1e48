// bfloat16 for the CPU emulation: storage only, arithmetic happens in float.
#pragma once
struct __nv_bfloat16 { unsigned short x; };
inline __nv_bfloat16 __float2bfloat16_rn(float f) {
  unsigned u; memcpy(&u, &f, 4); __nv_bfloat16 h;
  if ((u & 0x7fffffffu) > 0x7f800000u) h.x = 0x7fff;  // NaN: the one that the hardware makes of all of them
  else h.x = (unsigned short)((u + 0x7fffu + (u >> 16 & 1)) >> 16);
  return h;
}
inline __nv_bfloat16 __float2bfloat16(float f) { return __float2bfloat16_rn(f); }
inline float __bfloat162float(__nv_bfloat16 h) {
  unsigned u = (unsigned)h.x << 16; float f;
  memcpy(&f, &u, 4); return f;
}
