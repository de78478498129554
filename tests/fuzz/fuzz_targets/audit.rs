#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    counterfoil_fuzz::audit::check(bytes);
});
