#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| moreau_fuzz::pairs::check(data));
