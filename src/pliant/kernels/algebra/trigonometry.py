"""cos and sin of one angle, or of eight at once: the same arithmetic, so the same bits; within one unit in the last
place. No call and no branch for ordinary angles: a chain of three spends a sixth of its time on those of libm, eight
states at once half of it.

Reference: Cody and Waite, Software Manual for the Elementary Functions, chapter 8 (reduction)."""

from pliant.kernels._jit import kernel
from pliant.kernels.algebra.lanes import cos_sin_of_each, fused, is_smaller, turn_quarters, where_smaller

LARGEST = 2.0**17  # [rad] that the reduction serves; beyond, libm
QUARTERS = 0.6366197723675814  # 2 / pi
ROUNDER = 1.5 * 2.0**52  # added to a number: its last bits are the nearest integer
# pi / 2 in three parts; integers below 2^20 times one of the first two are exact
HALF_PI_1 = 1.5707963267341256
HALF_PI_2 = 6.077100506303966e-11
HALF_PI_3 = 2.0222662487959506e-21
# minimax in z = r^2 on |r| <= pi / 4: sin r = r + r z S(z) to 2^-57 of it, cos r = 1 - z / 2 + z^2 C(z) to 2^-62
S = (-0.16666666666666644, 0.008333333333323673, -0.00019841269830153264)
S += (2.7557313655183934e-06, -2.5050735118140763e-08, 1.589474325116337e-10)
C = (0.04166666666666665, -0.0013888888888882846, 2.4801587294633554e-05)
C += (-2.755731574069722e-07, 2.0875898080970243e-09, -1.136800232100844e-11)


@kernel
def polynomial(a, z, z2):
    """a[0] + a[1] z + .. + a[5] z^5, in pairs: half as long a chain of operations as Horner's."""
    low, middle, high = fused(z, a[1], a[0]), fused(z, a[3], a[2]), fused(z, a[5], a[4])
    return fused(z2, fused(z2, high, middle), low)


@kernel
def cos_sin(angle):
    """Of a float, or of lanes."""
    rounded = fused(angle, QUARTERS, ROUNDER)
    k = ROUNDER - rounded
    # angle + k pi / 2 = r + rest, in which sine and cosine are linear; what t and t - r lose is zero
    t = fused(k, HALF_PI_1, angle)
    r = fused(k, HALF_PI_2, t)
    rest = fused(k, HALF_PI_3, fused(k, HALF_PI_2, t - r))
    z = r * r
    z2, half = z * z, 0.5 * z
    one = 1.0 - half
    sine = r + fused(r * z, polynomial(S, z, z2), fused(-half, rest, rest))
    cosine = one + fused(z2, polynomial(C, z, z2), fused(-r, rest, (1.0 - one) - half))
    c, s = turn_quarters(rounded, cosine, sine)
    if is_smaller(angle, LARGEST):
        return c, s
    of_libm = cos_sin_of_each(angle)
    return where_smaller(angle, LARGEST, c, of_libm[0]), where_smaller(angle, LARGEST, s, of_libm[1])
