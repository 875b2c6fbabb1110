"""Who invented what: the citations of methods, by their keys; docs/bibliography.md says more."""

CITATIONS = {
    "featherstone2008": "R. Featherstone, Rigid Body Dynamics Algorithms, Springer 2008.",
    "boltzmannhamel": (
        'A. M. Khoshnood, E. Azad, S. M. A. Razavi, "Dynamics modeling of open-chain terrestrial and space '
        'robots using a form of Boltzmann-Hamel equations", 2016 (in Persian).'
    ),
    "denoc": (
        'A. Raoofian, A. Taghvaeipour, A. Kamali Eigoli, "A modification in the decoupled natural orthogonal '
        'complement method, using virtual spring concepts", Modares Mech. Eng. 17 (6), 2017, 377-384 (in '
        "Persian)."
    ),
    "gibbsappell": (
        '"Planar open-loop robots of n elastic links with multiple impacts: recursive Gibbs-Appell '
        'formulation, Timoshenko beams", J. Appl. Comput. Sci. Mech. 36 (4), 1403 (2024), doi '
        "10.22067/jacsm.2024.88007.1256 (in Persian)."
    ),
    "hollerbach1980": (
        'J. M. Hollerbach, "A recursive Lagrangian formulation of manipulator dynamics and a comparative study of '
        'dynamics formulation complexity", IEEE Trans. Syst. Man Cybern. 10 (1980) 730-736; flexible links: W. J. '
        'Book, "Recursive Lagrangian dynamics of flexible manipulator arms", Int. J. Robot. Res. 3 (3), 1984, 87-101.'
    ),
    "hairer1993": (
        "E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, 2nd ed., Springer 1993."
    ),
    "dormand1980": (
        'J. R. Dormand, P. J. Prince, "A family of embedded Runge-Kutta formulae", J. Comput. Appl. Math. 6 '
        "(1980) 19-26."
    ),
    "bogacki1996": (
        'P. Bogacki, L. F. Shampine, "An efficient Runge-Kutta (4,5) pair", Comput. Math. Appl. 32 (6) (1996) 15-28.'
    ),
    "fehlberg1969": (
        'E. Fehlberg, "Low-order classical Runge-Kutta formulas with stepsize control", NASA TR R-315, 1969.'
    ),
    "kutta1901": (
        'W. Kutta, "Beitrag zur naeherungsweisen Integration totaler Differentialgleichungen", Z. Math. Phys. '
        "46 (1901) 435-453."
    ),
    "hairer1996": "E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, 2nd ed., Springer 1996.",
    "kennedy2003": (
        'C. A. Kennedy, M. H. Carpenter, "Additive Runge-Kutta schemes for convection-diffusion-reaction equations", '
        "Appl. Numer. Math. 44 (2003) 139-181."
    ),
    "chung1993": (
        'J. Chung, G. M. Hulbert, "A time integration algorithm for structural dynamics with improved '
        'numerical dissipation: the generalized-alpha method", J. Appl. Mech. 60 (1993) 371-375.'
    ),
    "shampine1975": (
        "L. F. Shampine, M. K. Gordon, Computer Solution of Ordinary Differential Equations: The Initial Value "
        "Problem, Freeman 1975."
    ),
    "hilber1977": (
        'H. M. Hilber, T. J. R. Hughes, R. L. Taylor, "Improved numerical dissipation for time integration '
        'algorithms in structural dynamics", Earthq. Eng. Struct. Dyn. 5 (1977) 283-292.'
    ),
    "newmark1959": (
        'N. M. Newmark, "A method of computation for structural dynamics", J. Eng. Mech. Div. 85 (1959) 67-94.'
    ),
    "bathe1973": (
        'K.-J. Bathe, E. L. Wilson, "Stability and accuracy analysis of direct integration methods", Earthq. Eng. '
        "Struct. Dyn. 1 (1973) 283-291."
    ),
    "houbolt1950": (
        'J. C. Houbolt, "A recurrence matrix solution for the dynamic response of elastic aircraft", J. Aeronaut. Sci. '
        "17 (1950) 540-550."
    ),
    "transfermatrix": (
        "A thesis on the transfer matrix method for online control of flexible robot arms (in Persian; author and "
        "university are not in the text that was used)."
    ),
    "arnold2007": (
        'M. Arnold, O. Bruels, "Convergence of the generalized-alpha scheme for constrained mechanical '
        'systems", Multibody Syst. Dyn. 18 (2007) 185-202.'
    ),
    "johnson1985": "K. L. Johnson, Contact Mechanics, Cambridge University Press 1985.",
    "goldsmith1960": "W. Goldsmith, Impact: The Theory and Physical Behaviour of Colliding Solids, Edward Arnold 1960.",
    "hunt1975": (
        'K. H. Hunt, F. R. E. Crossley, "Coefficient of restitution interpreted as damping in vibroimpact", '
        "J. Appl. Mech. 42 (1975) 440-445."
    ),
    "herbert1977": (
        'R. G. Herbert, D. C. McWhannell, "Shape and frequency composition of pulses from an impact pair", J. '
        "Eng. Ind. 99 (1977) 513-518."
    ),
    "lee1983": (
        'T. W. Lee, A. C. Wang, "On the dynamics of intermittent-motion mechanisms, part 1", J. Mech. Transm. '
        "Autom. Des. 105 (1983) 534-540."
    ),
    "lankarani1990": (
        'H. M. Lankarani, P. E. Nikravesh, "A contact force model with hysteresis damping for impact analysis '
        'of multibody systems", J. Mech. Des. 112 (1990) 369-376.'
    ),
    "gonthier2004": (
        'Y. Gonthier, J. McPhee, C. Lange, J.-C. Piedboeuf, "A regularized contact model with asymmetric '
        'damping and dwell-time dependent friction", Multibody Syst. Dyn. 11 (2004) 209-233.'
    ),
    "zhang2006": (
        'Z. Qin, Q. Lu, "Analysis of impact process based on restitution coefficient", J. Dyn. Control 4 '
        "(2006) 294-298."
    ),
    "flores2011": (
        'P. Flores, M. Machado, M. T. Silva, J. M. Martins, "On the continuous contact force models for soft '
        'materials in multibody dynamics", Multibody Syst. Dyn. 25 (2011) 357-375.'
    ),
    "gharib2012": (
        'M. Gharib, Y. Hurmuzlu, "A new contact force model for low coefficient of restitution impact", J. '
        "Appl. Mech. 79 (2012) 064506."
    ),
    "hu2015": (
        'S. Hu, X. Guo, "A dissipative contact force model for impact analysis in multibody dynamics", '
        "Multibody Syst. Dyn. 35 (2015) 131-151."
    ),
    "marques2016": (
        'F. Marques, P. Flores, J. C. P. Claro, H. M. Lankarani, "A survey and comparison of several friction '
        'force models for dynamic analysis of multibody mechanical systems", Nonlinear Dyn. 86 (2016) '
        "1407-1443."
    ),
    "armstrong1994": (
        'B. Armstrong-Helouvry, P. Dupont, C. Canudas de Wit, "A survey of models, analysis tools and '
        'compensation methods for the control of machines with friction", Automatica 30 (1994) 1083-1138.'
    ),
    "karnopp1985": (
        'D. Karnopp, "Computer simulation of stick-slip friction in mechanical dynamic systems", J. Dyn. '
        "Syst. Meas. Control 107 (1985) 100-103."
    ),
    "bengisu1994": (
        'M. T. Bengisu, A. Akay, "Stability of friction-induced vibrations in multi-degree-of-freedom '
        'systems", J. Sound Vib. 171 (1994) 557-570.'
    ),
    "ambrosio2003": (
        'J. A. C. Ambrosio, "Impact of rigid and flexible multibody systems: deformation description and '
        'contact models", in Virtual Nonlinear Multibody Systems, Kluwer 2003, 57-81.'
    ),
    "dahl1976": 'P. R. Dahl, "Solid friction damping of mechanical vibrations", AIAA J. 14 (1976) 1675-1682.',
    "canudas1995": (
        'C. Canudas de Wit, H. Olsson, K. J. Astrom, P. Lischinsky, "A new model for control of systems with '
        'friction", IEEE Trans. Autom. Control 40 (1995) 419-425.'
    ),
    "luh1980": (
        'J. Y. S. Luh, M. W. Walker, R. P. C. Paul, "Resolved-acceleration control of mechanical manipulators", IEEE '
        "Trans. Autom. Control 25 (1980) 468-474."
    ),
    "astrom1995": (
        "K. J. Astrom, T. Hagglund, PID Controllers: Theory, Design, and Tuning, 2nd ed., Instrument Society of "
        "America 1995."
    ),
    "astrom1997": (
        "K. J. Astrom, B. Wittenmark, Computer-Controlled Systems: Theory and Design, 3rd ed., Prentice Hall 1997."
    ),
    "kalman1960": (
        'R. E. Kalman, "Contributions to the theory of optimal control", Bol. Soc. Mat. Mexicana 5 (1960) 102-119.'
    ),
    "branch1999": (
        'M. A. Branch, T. F. Coleman, Y. Li, "A subspace, interior, and conjugate gradient method for large-scale '
        'bound-constrained minimization problems", SIAM J. Sci. Comput. 21 (1999) 1-23.'
    ),
    "bates1988": "D. M. Bates, D. G. Watts, Nonlinear Regression Analysis and Its Applications, Wiley 1988.",
    "storn1997": (
        'R. Storn, K. Price, "Differential evolution: a simple and efficient heuristic for global optimization over '
        'continuous spaces", J. Global Optim. 11 (1997) 341-359.'
    ),
    "nelder1965": 'J. A. Nelder, R. Mead, "A simplex method for function minimization", Comput. J. 7 (1965) 308-313.',
    "powell1994": (
        'M. J. D. Powell, "A direct search optimization method that models the objective and constraint functions by '
        'linear interpolation", in Advances in Optimization and Numerical Analysis, Kluwer 1994, 51-67.'
    ),
    "kraft1988": "D. Kraft, A software package for sequential quadratic programming, DFVLR-FB 88-28, 1988.",
}
