//! One spelling for one value, every digit kept; limits.

use alloc::format;

use super::*;

#[test]
fn integers_keep_every_digit() {
    for same in ["0", "1", "-1", "10", "100", "9007199254740991", "9007199254740992", "9007199254740993"] {
        check_value(same, same);
    }
    check_value("18446744073709551616", "18446744073709551616");
    check_value("-9223372036854775809", "-9223372036854775809");
    check_value("100000000000000000000", "100000000000000000000");
    check_value("999999999999999999999", "999999999999999999999");
    check_value("1000000000000000000000", "1e+21");
    check_value("1000000000000000000001", "1.000000000000000000001e+21");
    check_value("-1234567890123456789012340", "-1.23456789012345678901234e+24");
    check_value("-0", "0");
}

#[test]
fn one_value_has_one_spelling() {
    for spelled in ["6.20", "6.2", "62e-1", "0.62e1", "6.2E0", "6.2e+0", "620E-2", "0.00062e+0004", "6.2e-0"] {
        check_value(spelled, "6.2");
    }
    for spelled in ["0", "-0", "0.0", "-0.0", "0e5", "0E-7", "-0.000e+9999", "0e-9999"] {
        check_value(spelled, "0");
    }
    for spelled in ["1e2", "100", "100.0", "1.00e2", "0.1e3", "10e1", "10000e-2"] {
        check_value(spelled, "100");
    }
    check_value("-1.50", "-1.5");
    check_value("0.1", "0.1");
    check_value("0.10000000000000000555", "0.10000000000000000555");
    check_value("3.141592653589793238462643383279", "3.141592653589793238462643383279");
    check_value("123456789012345678901.50", "123456789012345678901.5");
    check_value("1234567890123456789012.5", "1.2345678901234567890125e+21");
    check_value("1e20", "100000000000000000000");
    check_value("1e21", "1e+21");
    check_value("12E+20", "1.2e+21");
    check_value("0.000001", "0.000001");
    check_value("1e-6", "0.000001");
    check_value("0.00000123", "0.00000123");
    check_value("0.0000001", "1e-7");
    check_value("-0.00000012", "-1.2e-7");
    check_value("1e400", "1e+400");
    check_value("5e-324", "5e-324");
    check_value("1.7976931348623157E+308", "1.7976931348623157e+308");
}

#[test]
fn numbers_are_spelled_strictly() {
    let digit = |at| format!("a digit is expected at byte {at}: send strict JSON (RFC 8259)");
    for (number, at) in
        [("-", 6), ("-a", 6), ("--1", 6), ("1.", 7), ("1.e1", 7), ("-1.x", 8), ("1e", 7), ("1e+", 8), ("1E-x", 8)]
    {
        check_refused(&format!("{{\"a\":{number}}}"), &digit(at));
    }
    let zero = |at| format!("a number starts with a spare zero at byte {at}: send it without");
    check_refused(r#"{"a":01}"#, &zero(5));
    check_refused(r#"{"a":-01}"#, &zero(6));
    check_refused(r#"{"a":00}"#, &zero(5));
    check_refused(r#"{"a":00.5}"#, &zero(5));
    let value = "a value is expected at byte 5: send strict JSON (RFC 8259)";
    for number in ["+1", ".5", "e1", "\u{ff11}", "\u{661}"] {
        check_refused(&format!("{{\"a\":{number}}}"), value);
    }
    let comma = |at| format!("a comma or }} is expected at byte {at}: send strict JSON (RFC 8259)");
    for (number, at) in
        [("0x10", 6), ("1_000", 6), ("1.5.5", 8), ("1e5e5", 8), ("1e1.5", 8), ("10n", 7), ("1 0", 7), ("1f", 6)]
    {
        check_refused(&format!("{{\"a\":{number}}}"), &comma(at));
    }
}

#[test]
fn characters_of_a_number_are_limited_as_sent_and_in_canonical_form() {
    let digits = |count: usize| "7".repeat(count);
    check_value(&format!("0.{}", digits(1022)), &format!("0.{}", digits(1022)));
    check_refused(
        &format!("{{\"a\":0.{}}}", digits(1023)),
        "the number at byte 5 has 1025 characters: at most 1024 are allowed",
    );
    check_refused(
        &format!("{{\"a\":-0.{}}}", digits(1022)),
        "the number at byte 5 has 1025 characters: at most 1024 are allowed",
    );
    // 1,018 digits get a point and `e+1017`.
    check_value(&digits(1017), &format!("7.{}e+1016", digits(1016)));
    check_refused(
        &format!("{{\"a\":{}}}", digits(1018)),
        "the number at byte 5 has 1025 characters in canonical form: at most 1024 are allowed",
    );
    let limits = Limits { max_number: 3, ..Limits::default() };
    check_within(&limits, r#"{"a":-12,"b":1e2}"#, r#"{"a":-12,"b":100}"#);
    check_refused_within(&limits, r#"{"a":1234}"#, "the number at byte 5 has 4 characters: at most 3 are allowed");
    check_refused_within(&limits, r#"{"a":-123}"#, "the number at byte 5 has 4 characters: at most 3 are allowed");
    check_refused_within(
        &limits,
        r#"{"a":1e3}"#,
        "the number at byte 5 has 4 characters in canonical form: at most 3 are allowed",
    );
    check_refused_within(&limits, r#"{"a":1.00}"#, "the number at byte 5 has 4 characters: at most 3 are allowed");
}

#[test]
fn exponents_are_limited_as_sent_and_in_canonical_form() {
    check_value("1e9999", "1e+9999");
    check_value("1e-9999", "1e-9999");
    check_value("1E+0009999", "1e+9999");
    check_value("0.1e-9998", "1e-9999");
    check_value("10e9998", "1e+9999");
    let sent = "the number at byte 5 has an exponent beyond 9999: send a number of less magnitude";
    for number in
        ["1e10000", "1e-10000", "0e10000", "10e-10000", "1e99999999999999999999999", "-1e-18446744073709551616"]
    {
        check_refused(&format!("{{\"a\":{number}}}"), sent);
    }
    let canonical =
        "the number at byte 5 has an exponent beyond 9999 in canonical form: send a number of less magnitude";
    for number in ["10e9999", "0.1e-9999", "-12.5e9999"] {
        check_refused(&format!("{{\"a\":{number}}}"), canonical);
    }
    // However long an exponent is, it is beyond the largest limit and not beside it.
    let limits = Limits { max_exponent: u32::MAX, ..Limits::default() };
    check_within(&limits, r#"{"a":1e4294967295}"#, r#"{"a":1e+4294967295}"#);
    for number in ["1e4294967296", "1e-4294967296", "0e99999999999"] {
        check_refused_within(
            &limits,
            &format!("{{\"a\":{number}}}"),
            "the number at byte 5 has an exponent beyond 4294967295: send a number of less magnitude",
        );
    }
    let limits = Limits { max_exponent: 3, ..Limits::default() };
    check_within(&limits, r#"{"a":1e3,"b":1000000}"#, r#"{"a":1000,"b":1000000}"#);
    check_refused_within(
        &limits,
        r#"{"a":1e4}"#,
        "the number at byte 5 has an exponent beyond 3: send a number of less magnitude",
    );
    check_refused_within(
        &limits,
        r#"{"a":0.0000001}"#,
        "the number at byte 5 has an exponent beyond 3 in canonical form: send a number of less magnitude",
    );
}
