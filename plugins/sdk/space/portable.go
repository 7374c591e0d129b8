package space

import "math"

// The functions of this file give the same bits on every machine. Those of package math do not:
// some are written in assembly, and compilers may fuse x*y+z into one rounding. Here an explicit
// conversion rounds each product, which prevents this, and only exactly defined operations are
// used.

const (
	// ln2Hi has few enough bits that its product with an exponent is exact.
	ln2Hi = 6.93147180369123816490e-01
	ln2Lo = 1.90821492927058770002e-10
)

// ln returns the natural logarithm of a positive, finite x, accurate to about an ulp. With x =
// m·2^e and s = (m-1)/(m+1), ln m is the series 2(s + s³/3 + s⁵/5 …).
func ln(x float64) float64 {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, e = 2*m, e-1
	}
	s := (m - 1) / (m + 1)
	s2 := float64(s * s)
	sum := 0.0
	for k := 23; k >= 3; k -= 2 {
		sum = float64((sum + 1/float64(k)) * s2)
	}
	frac := float64(2*s) + float64(2*s*sum)
	return float64(float64(e)*ln2Hi) + (frac + float64(float64(e)*ln2Lo))
}

// exp returns e^x for finite x, accurate to about an ulp: Taylor's series around the nearest
// multiple of ln 2.
func exp(x float64) float64 {
	k := math.Floor(float64(x/math.Ln2) + 0.5)
	r := (x - float64(k*ln2Hi)) - float64(k*ln2Lo)
	sum := 1.0
	for n := 14.0; n >= 1; n-- {
		sum = 1 + float64(float64(sum*r)/n)
	}
	return math.Ldexp(sum, int(k))
}

// Coefficients of the rational approximations of quantile, lowest power first.
var (
	midTop = []float64{3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
		1.3731693765509461125e4,
		4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3}
	midBottom = []float64{1, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
		2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3}
	sideTop = []float64{1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
		3.64784832476320460504e0,
		1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4}
	sideBottom = []float64{1, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
		1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9}
	tailTop = []float64{6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
		2.96560571828504891230e-1,
		2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7}
	tailBottom = []float64{1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
		7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15}
)

// quantile returns the inverse of the standard normal distribution function for 0 < u < 1 (M. J.
// Wichura, Algorithm AS 241, Applied Statistics 37, 1988).
func quantile(u float64) float64 {
	q := u - 0.5
	if math.Abs(q) <= 0.425 {
		r := 0.180625 - float64(q*q)
		return q * (polynomial(midTop, r) / polynomial(midBottom, r))
	}
	r := math.Sqrt(-ln(math.Min(u, 1-u)))
	z := 0.0
	if r <= 5 {
		z = polynomial(sideTop, r-1.6) / polynomial(sideBottom, r-1.6)
	} else {
		z = polynomial(tailTop, r-5) / polynomial(tailBottom, r-5)
	}
	return math.Copysign(z, q)
}

// polynomial returns the value at x of the polynomial with these coefficients.
func polynomial(coefficients []float64, x float64) float64 {
	sum := 0.0
	for i := len(coefficients) - 1; i >= 0; i-- {
		sum = float64(sum*x) + coefficients[i]
	}
	return sum
}
