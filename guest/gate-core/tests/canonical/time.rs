//! Hostile shapes take no more than about n log n. Each is read at one size eight times and at eight times that size once:
//! in linear time both take as long, in quadratic time the second takes eight times as long.

use std::time::{Duration, Instant};

use counterfoil_gate_core::canonical::{Limits, compact, read};

const TIMES: usize = 8;
const TIMES_AS_LONG: f64 = 4.0;
/// For a whole 256 KiB, in an unoptimised build on a busy machine. Optimised it is some milliseconds.
const AT_MOST: Duration = Duration::from_secs(4);

fn limits() -> Limits {
    Limits { max_bytes: u32::MAX, max_depth: u32::MAX, ..Limits::default() }
}

fn time(text: &str, times: usize) -> Duration {
    let start = Instant::now();
    for _ in 0..times {
        let _ = std::hint::black_box(read(std::hint::black_box(text), "confirm_token", &limits()));
        let _ = std::hint::black_box(compact(std::hint::black_box(text), &limits()));
    }
    start.elapsed()
}

/// `shape` makes a text of about so many bytes.
#[track_caller]
fn check(shape: impl Fn(usize) -> String) {
    let (small, large) = (shape(20_000), shape(20_000 * TIMES));
    assert!((15_000..30_000).contains(&small.len()), "{} bytes", small.len());
    let (mut least_small, mut least_large) = (Duration::MAX, Duration::MAX);
    // The shortest of some is what the reader needs; the rest is the machine's.
    for _ in 0..30 {
        least_small = least_small.min(time(&small, TIMES));
        least_large = least_large.min(time(&large, 1));
        if least_large.as_secs_f64() < TIMES_AS_LONG * least_small.as_secs_f64() {
            let whole = time(&shape(256 * 1024), 1);
            assert!(whole < AT_MOST, "{whole:?} for 256 KiB");
            return;
        }
    }
    panic!("{TIMES} times {} bytes in {least_small:?}, {} bytes in {least_large:?}", small.len(), large.len());
}

fn joined(count: usize, member: impl Fn(usize) -> String) -> String {
    format!("{{{}}}", (0..count).map(member).collect::<Vec<_>>().join(","))
}

#[test]
fn wide_objects_in_reverse_order() {
    check(|bytes| {
        let count = bytes / 11;
        joined(count, |i| format!("\"{:06}\":1", count - i))
    });
}

#[test]
fn wide_objects_in_no_order() {
    check(|bytes| {
        let count = bytes / 11;
        joined(count, |i| format!("\"{:06}\":1", i * 7919 % count))
    });
}

#[test]
fn wide_objects_in_two_interleaved_orders() {
    check(|bytes| {
        let count = bytes / 11;
        joined(count, |i| format!("\"{:06}\":1", if i % 2 == 0 { i } else { 2 * count - i }))
    });
}

#[test]
fn long_keys_with_a_common_prefix_beyond_the_surrogates() {
    for character in ["\u{10400}", "\u{fffd}", "\u{e9}", "\\ud801\\udc00"] {
        check(|bytes| {
            let prefix = character.repeat(bytes / 100 / character.len());
            joined(100, |i| format!("\"{prefix}{:03}\":1", i * 37 % 100))
        });
    }
}

#[test]
fn keys_that_are_all_prefixes_of_each_other() {
    check(|bytes| {
        let count = (2.0 * bytes as f64).sqrt() as usize;
        joined(count, |i| format!("\"{}\":1", "a".repeat(count - i)))
    });
}

#[test]
fn deep_objects_whose_first_member_is_the_deep_one() {
    check(|bytes| {
        let depth = bytes / 12;
        format!("{}1{}", "{\"b\":".repeat(depth), ",\"a\":1}".repeat(depth))
    });
}

#[test]
fn deep_objects_whose_last_member_is_the_deep_one() {
    check(|bytes| {
        let depth = bytes / 12;
        format!("{}1{}", "{\"b\":2,\"a\":".repeat(depth), "}".repeat(depth))
    });
}

#[test]
fn deep_objects_around_a_long_string() {
    check(|bytes| {
        let depth = bytes / 24;
        let text = "x".repeat(bytes / 2);
        format!("{}\"{text}\"{}", "{\"b\":".repeat(depth), ",\"a\":1}".repeat(depth))
    });
}

#[test]
fn many_small_unsorted_objects() {
    check(|bytes| format!("{{\"a\":[{}0]}}", "{\"b\":1,\"a\":{\"d\":1,\"c\":2}},".repeat(bytes / 27)));
}

#[test]
fn deep_arrays() {
    check(|bytes| format!("{{\"a\":{}{}}}", "[".repeat(bytes / 2), "]".repeat(bytes / 2)));
}

#[test]
fn what_is_almost_a_token() {
    check(|bytes| format!("{{\"a\":\"{}\"}}", "cfm_".repeat(bytes / 4)));
    check(|bytes| format!("{{\"a\":\"{}\"}}", "a".repeat(bytes)));
    check(|bytes| format!("{{\"a\":\"{}\"}}", "cfm_abcdefghijklmnopqrstuv2.".repeat(bytes / 28)));
    check(|bytes| format!("{{\"a\":\"{}fm_{}\"}}", "\\\\".repeat(bytes / 2), "a".repeat(30)));
    check(|bytes| format!("{{\"a\":\"{}\"}}", "\\u001cfm_aaaaaaaaaaaaaaaaaaaaaaaa".repeat(bytes / 33)));
}

#[test]
fn escapes_zeros_digits_and_space() {
    check(|bytes| format!("{{\"a\":\"{}\"}}", "\\u0000".repeat(bytes / 6)));
    check(|bytes| format!("{{\"{}\":1,\"a\":2}}", "\\n".repeat(bytes / 2)));
    check(|bytes| format!("{{\"a\":0.{}1}}", "0".repeat(bytes)));
    check(|bytes| format!("{{\"a\":1e{}}}", "0".repeat(bytes)));
    check(|bytes| format!("{{\"a\":[{}1]}}", "1e20,".repeat(bytes / 5)));
    check(|bytes| format!("{{\"a\":{}1}}", " ".repeat(bytes)));
}

#[test]
fn a_hostile_value_of_the_confirm_parameter() {
    check(|bytes| {
        let depth = bytes / 12;
        format!("{{\"confirm_token\":{}1{},\"a\":1}}", "{\"b\":".repeat(depth), ",\"a\":1}".repeat(depth))
    });
}
