use super::portable::quantile;

/// The generator of a request's seed: PCG-DXSM, whose numbers are the same on every
/// machine and in every SDK.
#[derive(Clone, Debug)]
pub struct Rng {
    state: u128,
}

impl Rng {
    /// The generator of a seed ([`Request::seed`](crate::Request::seed)).
    pub fn new(seed: u64) -> Rng {
        Rng { state: u128::from(seed) << 64 | 0x7475_6e65_686f_7374 }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        const MULTIPLIER: u128 = 2549297995355413924 << 64 | 4865540595714422341;
        const INCREMENT: u128 = 6364136223846793005 << 64 | 1442695040888963407;
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT);
        let (mut hi, lo) = ((self.state >> 64) as u64, self.state as u64);
        hi ^= hi >> 32;
        hi = hi.wrapping_mul(0xda94_2042_e4dd_58b5);
        hi ^= hi >> 48;
        hi.wrapping_mul(lo | 1)
    }

    /// A number in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        (self.bits() << 11 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number of the standard normal distribution.
    pub fn normal(&mut self) -> f64 {
        quantile(self.uniform().max(f64::EPSILON / 4.0))
    }

    /// One of the indices below `n`, which is not 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.uniform() * n as f64) as usize
    }
}
