//! Numbers as bytes, to the bit.
//!
//! A real number is stored as the XOR of its bits with those of a prediction, without the zero bytes
//! of one end. A list of them is a half-byte each, then the bytes that are left:
//!
//! ```text
//! half-byte  0      1..8                       9..15
//! stored     none   so many bytes from below   1..7 bytes from above
//! ```
//!
//! Integers are LEB128: seven bits a byte, the low ones first, the top bit set on all but the last.

/// A mistake in packed bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Torn;

/// Writes a block of integers and reals.
#[derive(Debug, Default)]
pub(crate) struct Packer {
    integers: Vec<u8>,
    halves: Vec<u8>,
    reals: u32,
    bytes: Vec<u8>,
}

impl Packer {
    pub(crate) fn integer(&mut self, mut x: u64) {
        while x >= 0x80 {
            self.integers.push(x as u8 | 0x80);
            x >>= 7;
        }
        self.integers.push(x as u8);
    }

    /// An integer near `near`.
    pub(crate) fn near(&mut self, x: u64, near: u64) {
        let d = x.wrapping_sub(near) as i64;
        self.integer(((d << 1) ^ (d >> 63)) as u64);
    }

    pub(crate) fn real(&mut self, x: f64, prediction: f64) {
        let bits = x.to_bits() ^ prediction.to_bits();
        let low = 8 - bits.leading_zeros() as usize / 8;
        let high = 8 - bits.trailing_zeros() as usize / 8;
        // All eight bytes and then less is faster than so many bytes.
        let end = self.bytes.len();
        let half = if bits == 0 {
            0
        } else if high < low {
            self.bytes.extend_from_slice(&bits.to_be_bytes());
            self.bytes.truncate(end + high);
            8 + high as u8
        } else {
            self.bytes.extend_from_slice(&bits.to_le_bytes());
            self.bytes.truncate(end + low);
            low as u8
        };
        if self.reals.is_multiple_of(2) {
            self.halves.push(half);
        } else if let Some(last) = self.halves.last_mut() {
            *last |= half << 4;
        }
        self.reals += 1;
    }

    pub(crate) fn reals<const N: usize>(&mut self, x: [f64; N], predictions: [f64; N]) {
        x.into_iter()
            .zip(predictions)
            .for_each(|(x, p)| self.real(x, p));
    }

    /// The block; the packer is empty again and keeps its memory.
    pub(crate) fn take(&mut self, out: &mut Vec<u8>) {
        out.clear();
        out.extend((self.integers.len() as u32).to_le_bytes());
        out.extend(self.reals.to_le_bytes());
        out.extend(&self.integers);
        out.extend(&self.halves);
        out.extend(&self.bytes);
        self.integers.clear();
        self.halves.clear();
        self.bytes.clear();
        self.reals = 0;
    }
}

/// Reads a block in the order in which it was written.
#[derive(Debug)]
pub(crate) struct Unpacker<'a> {
    integers: &'a [u8],
    halves: &'a [u8],
    bytes: &'a [u8],
    next: usize,
    reals: usize,
}

impl<'a> Unpacker<'a> {
    pub(crate) fn new(block: &'a [u8]) -> Result<Self, Torn> {
        let (integers, rest) = block.split_first_chunk().ok_or(Torn)?;
        let (reals, rest) = rest.split_first_chunk().ok_or(Torn)?;
        let integers = u32::from_le_bytes(*integers) as usize;
        let reals = u32::from_le_bytes(*reals) as usize;
        let (integers, rest) = rest.split_at_checked(integers).ok_or(Torn)?;
        let (halves, bytes) = rest.split_at_checked(reals.div_ceil(2)).ok_or(Torn)?;
        Ok(Self {
            integers,
            halves,
            bytes,
            next: 0,
            reals,
        })
    }

    pub(crate) fn integer(&mut self) -> Result<u64, Torn> {
        let mut x = 0;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.integers.split_first().ok_or(Torn)?;
            self.integers = rest;
            x |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(x);
            }
        }
        Err(Torn)
    }

    pub(crate) fn near(&mut self, near: u64) -> Result<u64, Torn> {
        let z = self.integer()?;
        let d = (z >> 1) as i64 ^ -((z & 1) as i64);
        Ok(near.wrapping_add(d as u64))
    }

    /// An integer near `near` that fits 32 bits.
    pub(crate) fn near_u32(&mut self, near: u32) -> Result<u32, Torn> {
        u32::try_from(self.near(u64::from(near))?).map_err(|_| Torn)
    }

    pub(crate) fn real(&mut self, prediction: f64) -> Result<f64, Torn> {
        if self.next == self.reals {
            return Err(Torn);
        }
        let pair = self.halves[self.next / 2];
        let half = usize::from(if self.next.is_multiple_of(2) {
            pair & 15
        } else {
            pair >> 4
        });
        self.next += 1;
        let mut all = [0; 8];
        let count = if half > 8 { half - 8 } else { half };
        let (kept, rest) = self.bytes.split_at_checked(count).ok_or(Torn)?;
        self.bytes = rest;
        all[..count].copy_from_slice(kept);
        let bits = if half > 8 {
            u64::from_be_bytes(all)
        } else {
            u64::from_le_bytes(all)
        };
        Ok(f64::from_bits(bits ^ prediction.to_bits()))
    }

    pub(crate) fn reals<const N: usize>(
        &mut self,
        predictions: [f64; N],
    ) -> Result<[f64; N], Torn> {
        let mut out = predictions;
        for x in &mut out {
            *x = self.real(*x)?;
        }
        Ok(out)
    }

    /// Whether all of the block was read.
    pub(crate) fn finish(self) -> Result<(), Torn> {
        let all = self.integers.is_empty() && self.bytes.is_empty() && self.next == self.reals;
        if all { Ok(()) } else { Err(Torn) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REALS: [f64; 12] = [
        0.0,
        -0.0,
        1.0,
        -0.5,
        1.0 / 3.0,
        f64::MIN_POSITIVE,
        5e-324,
        f64::MAX,
        f64::INFINITY,
        9.81,
        1e-300,
        -1e22,
    ];
    const INTEGERS: [u64; 6] = [0, 1, 127, 128, u32::MAX as u64, u64::MAX];

    #[test]
    fn every_number_comes_back_to_the_bit_from_any_prediction() {
        let (mut packer, mut block) = (Packer::default(), Vec::new());
        for _ in 0..2 {
            for x in REALS {
                REALS.into_iter().for_each(|p| packer.real(x, p));
            }
            packer.real(f64::NAN, 1.0);
            for x in INTEGERS {
                packer.integer(x);
                INTEGERS.into_iter().for_each(|p| packer.near(x, p));
            }
            packer.take(&mut block);
            let mut reader = Unpacker::new(&block).unwrap();
            for x in REALS {
                for p in REALS {
                    let back = reader.real(p).unwrap();
                    assert_eq!(back.to_bits(), x.to_bits(), "{x:?} from {p:?}");
                }
            }
            assert_eq!(reader.real(1.0).unwrap().to_bits(), f64::NAN.to_bits());
            for x in INTEGERS {
                assert_eq!(reader.integer(), Ok(x));
                for p in INTEGERS {
                    assert_eq!(reader.near(p), Ok(x), "from {p}");
                }
            }
            reader.finish().unwrap();
        }
    }

    #[test]
    fn what_was_predicted_takes_half_a_byte() {
        let (mut packer, mut block) = (Packer::default(), Vec::new());
        (0..100).for_each(|i| packer.real(f64::from(i), f64::from(i)));
        packer.take(&mut block);
        assert_eq!(block.len(), 8 + 50);
        // One and a half: only the two top bytes differ from zero.
        (0..100).for_each(|_| packer.real(1.5, 0.0));
        packer.take(&mut block);
        assert_eq!(block.len(), 8 + 50 + 200);
    }

    #[test]
    fn cut_blocks_are_refused() {
        let (mut packer, mut block) = (Packer::default(), Vec::new());
        REALS.into_iter().for_each(|x| packer.real(x, 0.0));
        INTEGERS.into_iter().for_each(|x| packer.integer(x));
        packer.take(&mut block);
        let read = |block: &[u8]| {
            let mut reader = Unpacker::new(block)?;
            for _ in REALS {
                reader.real(0.0)?;
            }
            for _ in INTEGERS {
                reader.integer()?;
            }
            reader.finish()
        };
        assert_eq!(read(&block), Ok(()));
        for length in 0..block.len() {
            assert_eq!(read(&block[..length]), Err(Torn), "{length} bytes");
        }
        block.push(0);
        assert_eq!(read(&block), Err(Torn));
    }
}
