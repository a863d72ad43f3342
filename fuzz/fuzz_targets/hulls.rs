#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| moreau_fuzz::hulls::check(data));
