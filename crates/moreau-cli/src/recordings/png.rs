//! An RGB picture as a PNG file.
//!
//! Signature, then IHDR, IDAT and IEND, each as length, name, data, CRC-32 of name and data; rows start
//! with filter 0 (PNG specification, third edition, 5 and 9).

use miniz_oxide::deflate::compress_to_vec_zlib;

/// `pixels` are rows from the top, three bytes a pixel.
pub(crate) fn encode(pixels: &[u8], width: u32, height: u32) -> Vec<u8> {
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut header = Vec::with_capacity(13);
    header.extend(width.to_be_bytes());
    header.extend(height.to_be_bytes());
    // 8 bits, RGB, the only compression and filter method, not interlaced.
    header.extend([8, 2, 0, 0, 0]);
    chunk(&mut out, b"IHDR", &header);
    let row = width as usize * 3;
    let mut rows = Vec::with_capacity(pixels.len() + height as usize);
    for pixels in pixels.chunks(row.max(1)) {
        rows.push(0);
        rows.extend(pixels);
    }
    chunk(&mut out, b"IDAT", &compress_to_vec_zlib(&rows, 9));
    chunk(&mut out, b"IEND", &[]);
    out
}

fn chunk(out: &mut Vec<u8>, name: &[u8; 4], data: &[u8]) {
    out.extend((data.len() as u32).to_be_bytes());
    let start = out.len();
    out.extend(name);
    out.extend(data);
    let crc = crc32(&out[start..]);
    out.extend(crc.to_be_bytes());
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
        }
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::*;
    use miniz_oxide::inflate::decompress_to_vec_zlib;

    #[test]
    fn the_check_value_of_the_crc() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(b"IEND"), 0xae42_6082);
    }

    #[test]
    fn the_pixels_are_in_the_file() {
        let pixels = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
        let file = encode(&pixels, 2, 2);
        assert_eq!(&file[16..24], [0, 0, 0, 2, 0, 0, 0, 2]);
        let at = 8 + 25;
        let length = u32::from_be_bytes(file[at..at + 4].try_into().unwrap()) as usize;
        assert_eq!(&file[at + 4..at + 8], b"IDAT");
        let rows = decompress_to_vec_zlib(&file[at + 8..at + 8 + length]).unwrap();
        assert_eq!(rows, [0, 1, 2, 3, 4, 5, 6, 0, 7, 8, 9, 10, 11, 12]);
        assert!(file.ends_with(b"\0\0\0\0IEND\xae\x42\x60\x82"));
    }
}
