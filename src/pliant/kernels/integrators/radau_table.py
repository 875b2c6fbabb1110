"""Numbers of Radau IIA(5), correctly rounded: worked out in floating point, they would hang on the build of numpy.

Collocation at C on the cubic u, u(0) = y. The inverse of WEIGHTS (the matrix A) has one real eigenvalue GAMMA and a
pair ALPHA +- i BETA: with Z = T W the three stages fall apart into a real and a complex system, that of W2 + i W3
(Hairer and Wanner II, IV.8). The last components of the vectors in T are 1: changes of W are as large as changes of Z.
tests/kernels/integrators/test_implicit_integrators.py checks what defines them."""

C = (0.1550510257216822, 0.6449489742783178, 1.0)
WEIGHTS = (
    (0.1968154772236604, -0.06553542585019839, 0.02377097434822015),
    (0.3944243147390873, 0.2920734116652285, -0.04154875212599793),
    (0.37640306270046725, 0.5124858261884216, 0.1111111111111111),
)
GAMMA, ALPHA, BETA = 3.637834252744496, 2.6810828736277523, 3.0504301992474105
T = (
    (0.09443876248897524, -0.1412552950209542, -0.030029194105147424),
    (0.2502131229653333, 0.20412935229379994, 0.3829421127572619),
    (1.0, 1.0, 0.0),
)
T_INVERSE = (
    (4.178718591551905, 0.32768282076106237, 0.5233764454994495),
    (-4.178718591551905, -0.32768282076106237, 0.47662355450055044),
    (-0.5028726349457868, 2.571926949855605, -0.5960392048282249),
)
# f(y) + ERROR Z / h: by how much the slope of u at 0 misses the derivative there
ERROR = (-10.048809399827416, 1.382142733160749, -1.0 / 3.0)
# SLOPE Z / h: slope of u at its end
SLOPE = (5.531972647421808, -7.531972647421808, 5.0)
# one quartic more, theta (1 - theta) (BEND0 + theta (BEND1 + (1 - theta) BEND2)): its slope is 1 at 0, 0 at the nodes
BEND = (1.0, -1.0, -2.5)
