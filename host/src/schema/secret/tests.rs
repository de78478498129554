#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::string_slice)]

use super::super::Schema;

/// A schema of one object with these properties.
fn of(properties: &str) -> String {
    format!(r#"{{"type":"object","properties":{properties}}}"#)
}

#[track_caller]
fn check(schema: &str, arguments: &str, expected: &str) {
    let compiled = Schema::compile(schema).unwrap();
    let found = compiled.masked(arguments);
    assert_eq!(found.as_deref().unwrap_or(arguments), expected, "{schema}");
    assert_eq!(found.is_none(), arguments == expected, "{schema}");
}

#[test]
fn what_is_not_marked_stays_as_it_was_written() {
    let plain = of(r#"{"a":{"type":"string"},"format":{"type":"string"},"writeOnly":{"type":"boolean"}}"#);
    check(
        &plain,
        r#"{"a":"x","format":"password","writeOnly":true}"#,
        r#"{"a":"x","format":"password","writeOnly":true}"#,
    );
    check(&of(r#"{"a":{"writeOnly":false},"b":{"format":"date"}}"#), r#"{"a":1,"b":2}"#, r#"{"a":1,"b":2}"#);
    check(&of(r#"{"a":{"default":{"writeOnly":true},"enum":[{"format":"password"}]}}"#), r#"{"a":{}}"#, r#"{"a":{}}"#);
    check(&of(r#"{"writeOnly":true,"p":{"writeOnly":true}}"#), r#"{"writeOnly":"x"}"#, r#"{"writeOnly":"x"}"#);
}

#[test]
fn a_marked_value_of_any_kind_is_taken_out_and_the_rest_keeps_its_spelling() {
    for mark in [r#""writeOnly":true"#, r#""format":"password""#, r#""format":"Password""#] {
        let schema = of(&format!(r#"{{"n":{{}},"p":{{{mark}}}}}"#));
        for secret in [
            r#""hunter2""#,
            r#""""#,
            "12345678901234567890",
            "null",
            "false",
            r#"{"a":[1,"x"]}"#,
            "[[]]",
            r#""\"\\ é🦀""#,
        ] {
            let arguments = |p: &str| format!(r#"{{"n":9007199254740993.00,"p":{p},"z":[1e999,"p",{{}}]}}"#);
            check(&schema, &arguments(secret), &arguments(r#""(secret)""#));
        }
        check(&schema, r#"{"n":1}"#, r#"{"n":1}"#);
    }
    check(&of(r#"{"é\n":{"writeOnly":true}}"#), r#"{"\u00e9\n":"x"}"#, r#"{"\u00e9\n":"(secret)"}"#);
    check(
        &of(r#"{"p":{"writeOnly":true}}"#),
        " { \"p\" : [ \"x\" ] , \"q\" : 1 } ",
        " { \"p\" : \"(secret)\" , \"q\" : 1 } ",
    );
}

#[test]
fn a_mark_is_found_through_every_keyword_that_leads_to_it() {
    let p = r#"{"properties":{"p":{"writeOnly":true}}}"#;
    let nested = r#"{"a":{"p":"x","q":1}}"#;
    let taken = r#"{"a":{"p":"(secret)","q":1}}"#;
    for way in [
        format!(r#"{{"allOf":[{{}},{p}]}}"#),
        format!(r#"{{"anyOf":[true,{p}]}}"#),
        format!(r#"{{"oneOf":[{p},{{"type":"object"}}]}}"#),
        format!(r#"{{"not":{p}}}"#),
        format!(r#"{{"if":{p}}}"#),
        format!(r#"{{"if":{{}},"then":{p}}}"#),
        format!(r#"{{"if":{{}},"else":{p}}}"#),
        format!(r#"{{"dependentSchemas":{{"q":{p}}}}}"#),
        format!(r#"{{"dependencies":{{"q":{p}}}}}"#),
        r#"{"additionalProperties":{"writeOnly":true},"properties":{"q":{}}}"#.to_owned(),
        r#"{"patternProperties":{"^p$":{"writeOnly":true}}}"#.to_owned(),
        r##"{"properties":{"p":{"$ref":"#/$defs/s"}}}"##.to_owned(),
        r##"{"$ref":"#/$defs/o"}"##.to_owned(),
    ] {
        let schema = format!(
            r#"{{"type":"object","properties":{{"a":{way}}},"$defs":{{"s":{{"format":"password"}},"o":{p}}}}}"#
        );
        check(&schema, nested, taken);
    }
}

#[test]
fn items_are_found_by_position_and_by_what_holds_for_all() {
    let list = r#"{"a":["x",["y"],{"k":1}]}"#;
    for (way, expected) in [
        (r#"{"items":{"writeOnly":true}}"#, r#"{"a":["(secret)","(secret)","(secret)"]}"#),
        (r#"{"contains":{"writeOnly":true}}"#, r#"{"a":["(secret)","(secret)","(secret)"]}"#),
        (r#"{"unevaluatedItems":{"writeOnly":true}}"#, r#"{"a":["(secret)","(secret)","(secret)"]}"#),
        (r#"{"prefixItems":[{},{"writeOnly":true}]}"#, r#"{"a":["x","(secret)",{"k":1}]}"#),
        (r#"{"items":{"items":{"writeOnly":true}}}"#, r#"{"a":["x",["(secret)"],{"k":1}]}"#),
        (r#"{"items":{"additionalProperties":{"writeOnly":true}}}"#, r#"{"a":["x",["y"],{"k":"(secret)"}]}"#),
    ] {
        check(&of(&format!(r#"{{"a":{way}}}"#)), list, expected);
    }
}

#[test]
fn a_schema_that_leads_back_to_itself_is_followed_as_deep_as_the_value_goes() {
    let tree =
        r##"{"type":"object","properties":{"p":{"writeOnly":true},"next":{"$ref":"#"},"all":{"items":{"$ref":"#"}}}}"##;
    check(
        tree,
        r#"{"all":[{"next":{"p":"x"}},{"p":"y"}],"next":{"next":{"next":{"p":"z"}}},"q":"x"}"#,
        r#"{"all":[{"next":{"p":"(secret)"}},{"p":"(secret)"}],"next":{"next":{"next":{"p":"(secret)"}}},"q":"x"}"#,
    );
}

#[test]
fn names_that_are_not_known_are_told_apart_from_those_that_are() {
    let rest = r#"{"type":"object","properties":{"a":{}},"patternProperties":{"^x":{}},"additionalProperties":{"writeOnly":true}}"#;
    check(rest, r#"{"a":1,"b":2,"x1":3}"#, r#"{"a":1,"b":"(secret)","x1":3}"#);
}

#[test]
fn in_doubt_more_is_taken_out() {
    // Names that are secret, and a string that holds a document with a secret.
    check(&of(r#"{"a":{"propertyNames":{"writeOnly":true}}}"#), r#"{"a":{"k":1}}"#, r#"{"a":"(secret)"}"#);
    let content = r#"{"a":{"contentSchema":{"properties":{"p":{"writeOnly":true}}}}}"#;
    check(&of(content), r#"{"a":"{\"p\":1}"}"#, r#"{"a":"(secret)"}"#);
    let unevaluated = r#"{"a":{"properties":{"q":{}},"unevaluatedProperties":{"writeOnly":true}}}"#;
    check(&of(unevaluated), r#"{"a":{"p":1,"q":2}}"#, r#"{"a":{"p":"(secret)","q":"(secret)"}}"#);
    // The whole is a secret: only names that the schema has stay.
    let whole = r#"{"type":"object","writeOnly":true,"properties":{"a":{},"b":{}}}"#;
    check(whole, r#"{"a":1,"b":{"c":2}}"#, r#"{"a":"(secret)","b":"(secret)"}"#);
    check(whole, r#"{"a":1,"b":2,"c":3}"#, r#"{"(secret)":"(secret)"}"#);
    check(r#"{"type":"object","propertyNames":{"writeOnly":true}}"#, r#"{"k":1,"l":2}"#, r#"{"(secret)":"(secret)"}"#);
    check(r#"{"type":"object","writeOnly":true}"#, "{}", "{}");
    // What is no object, or too deep to look into.
    let marked = of(r#"{"p":{"writeOnly":true}}"#);
    let deep = format!("{}1{}", r#"{"a":"#.repeat(200), "}".repeat(200));
    for broken in ["", "{", r#"{"p":"x""#, "[]", r#""x""#, "{} {}", r#"{"p":}"#, r#"{"\p":1}"#, &deep] {
        check(&marked, broken, r#""(secret)""#);
    }
    check(&of("{}"), "{", "{");
}

#[test]
fn many_values_beside_a_wide_schema_are_passed_over_in_time() {
    let properties: Vec<String> =
        (0..900).map(|n| format!(r#""k{n}":{{"anyOf":[{{}},{{"writeOnly":true}}]}}"#)).collect();
    let schema = of(&format!("{{{}}}", properties.join(",")));
    let arguments = format!(r#"{{"k1":"x","list":[{}0]}}"#, "1,".repeat(100_000));
    let compiled = Schema::compile(&schema).unwrap();
    let began = std::time::Instant::now();
    assert_eq!(compiled.masked(&arguments), Some(arguments.replace(r#""x""#, r#""(secret)""#)));
    assert!(began.elapsed() < std::time::Duration::from_secs(5));
}

/// A text that was cut, without secrets and without the beginning of one.
fn cut(taken: &super::Taken, text: &str) -> String {
    let text = taken.out_of(text);
    let begun = taken.begun(&text);
    format!("{}{}", &text[..text.len() - begun], if begun > 0 { super::MASK } else { "" })
}

/// What was taken out of arguments with these values under a marked key.
fn taken(values: &str) -> super::Taken {
    let schema = Schema::compile(&of(r#"{"p":{"writeOnly":true}}"#)).unwrap();
    let masked = schema.without_secrets(&format!(r#"{{"p":{values}}}"#)).unwrap();
    std::sync::Arc::into_inner(masked).unwrap().taken
}

#[track_caller]
fn told(values: &str, text: &str, expected: &str) {
    assert_eq!(taken(values).out_of(text), expected, "{values}");
}

#[test]
fn a_secret_of_six_characters_is_taken_out_wherever_it_stands() {
    told(
        r#""hunter2""#,
        "login hunter2 and xhunter2y, hunter2hunter2",
        "login (secret) and x(secret)y, (secret)(secret)",
    );
    told(r#""hunter2""#, "hunter1", "hunter1");
    told(r#"["hunter2","hunter2000"]"#, "hunter2000 hunter2", "(secret) (secret)");
    told(r#"{"deep":[{"k":"abcdef"},123456]}"#, "abcdef 123456 k deep", "(secret) (secret) k (secret)");
    told(r#""  padded one \n""#, "with padded one.", "with (secret).");
    told(r#""a\"b\\cd""#, r#"as it is a"b\cd, in JSON a\"b\\cd"#, "as it is (secret), in JSON (secret)");
    told(r#""-----BEGIN-----\nMIIBsecretlineofkey\n-----END-----""#, "MIIBsecretlineofkey", "(secret)");
    told(r#""abcdef\n  ghijkl\r\nmnop""#, "abcdef, ghijkl, mnop", "(secret), (secret), mnop");
    told(r#""ÄÖÜäöü""#, "xÄÖÜäöüx", "x(secret)x");
    told("true", "true", "true");
    told("null", "null", "null");
}

#[test]
fn names_below_a_mark_are_secret_but_for_those_that_the_schema_has() {
    let text = r#"hunter2, login, {"hunter2":{"pin":1}} and plain"#;
    let gone = r#"(secret), login, {"(secret)":{"(secret)":1}} and plain"#;
    let login = r#""properties":{"login":{}}"#;
    for (way, expected) in [
        (format!(r#"{{"o":{{"type":"object","writeOnly":true,{login}}}}}"#), gone),
        (format!(r#"{{"o":{{"propertyNames":{{"format":"password"}},{login}}}}}"#), gone),
        (format!(r#"{{"o":{{"items":{{"writeOnly":true}},"anyOf":[{{"writeOnly":true}},{{{login}}}]}}}}"#), gone),
        // Of a member that is marked by itself its name is not.
        (
            format!(r#"{{"o":{{"additionalProperties":{{"writeOnly":true}},{login}}}}}"#),
            &text.replace("pin", "(secret)"),
        ),
    ] {
        let schema = Schema::compile(&of(&way)).unwrap();
        let masked = schema.without_secrets(r#"{"o":{"hunter2":{"pin":7},"login":["x"]},"plain":1}"#).unwrap();
        assert_eq!(masked.taken.out_of(text), expected, "{way}");
        assert!(!masked.arguments.contains("pin"), "{}", masked.arguments);
    }
    for root in [r#""writeOnly":true"#, r#""propertyNames":{"writeOnly":true}"#] {
        let schema = Schema::compile(&format!(r#"{{"type":"object",{root},{login}}}"#)).unwrap();
        let masked = schema.without_secrets(r#"{"hunter2":{"pin":7},"login":1}"#).unwrap();
        assert_eq!(masked.taken.out_of(text), gone, "{root}");
        assert_eq!(masked.arguments, r#"{"(secret)":"(secret)"}"#);
    }
}

#[test]
fn a_shorter_one_is_taken_out_as_a_word_and_the_shortest_only_as_the_whole() {
    told(r#""1234""#, "pin 1234, 12345, a1234 and :1234;", "pin (secret), 12345, a1234 and :(secret);");
    told(r#""a-b""#, "a-b a-b-c xa-b", "(secret) (secret)-c xa-b");
    told(r#""été""#, "été étés", "(secret) étés");
    told(r#""ab""#, "ab is ab", "ab is ab");
    told(r#""ab""#, "ab", "(secret)");
    told(r#""""#, "", "");
}

#[test]
fn a_text_that_was_cut_does_not_end_with_the_beginning_of_a_secret() {
    let taken = taken(r#"["hunter2","été"]"#);
    let check = |text: &str, expected: &str| assert_eq!(cut(&taken, text), expected);
    check("pw hunter2 hunte", "pw (secret) (secret)");
    check("pw h", "pw (secret)");
    check("pw ét", "pw (secret)");
    check("pw", "pw");
    check("", "");
    // Of a line of one, and where it begins several times.
    let taken = self::taken(r#"["first line\nsecond line","aabaabaac"]"#);
    let check = |text: &str, expected: &str| assert_eq!(cut(&taken, text), expected);
    check("is second li", "is (secret)");
    check("is aabaabaabaa", "is aab(secret)");
    check("is aabaabx", "is aabaabx");
}

#[test]
fn the_beginning_of_a_long_secret_is_found_in_time() {
    let long = "a".repeat(1 << 18);
    let taken = taken(&format!("\"{long}b\""));
    let began = std::time::Instant::now();
    assert_eq!(cut(&taken, &format!("x{long}")), "x(secret)");
    assert_eq!(cut(&taken, &format!("{long}x")), format!("{long}x"));
    assert!(began.elapsed() < std::time::Duration::from_secs(5));
}

#[test]
fn a_precondition_may_hold_no_secret_however_short_or_spelt_in_json() {
    let check = |values: &str, text: &str, expected: bool| assert_eq!(taken(values).is_in(text), expected, "{text}");
    check(r#""pin7""#, "was pin7", true);
    check(r#""pin7""#, "was pin77", false);
    check(r#""ab""#, "ab", true);
    check(r#""hunter2""#, r#"{"p":"hunt\u0065r2"}"#, true);
    check(r#""hunter2""#, r#"{"p":"hunter3"}"#, false);
}

#[test]
fn what_overlaps_is_taken_out_together() {
    told(r#"["a-b-c","b-c"]"#, "x a-b-c y", "x (secret) y");
    told(r#"["abcdefgh","xyz"]"#, "abcdefgh-xyz", "(secret)-(secret)");
}

#[track_caller]
fn shown(values: &str, json: &str, expected: &str) {
    let found = taken(values).out_of_json(json).into_owned();
    assert_eq!(found, expected, "{values}");
    if let Ok(value) = serde_json::from_str::<serde_json::Value>(json) {
        assert!(value.is_object() && serde_json::from_str::<serde_json::Value>(&found).unwrap().is_object());
    }
}

#[test]
fn json_loses_its_secrets_at_any_depth_and_nothing_else() {
    shown(
        r#""hunter2""#,
        r#"{ "n":9007199254740993.0, "a":["hunt\u0065r2",{"url":"smtp://u:hunter2@h"}],"hunter2":1,"k":"x\u0041" }"#,
        r#"{ "n":9007199254740993.0, "a":["(secret)",{"url":"smtp://u:(secret)@h"}],"(secret)":1,"k":"x\u0041" }"#,
    );
    shown(
        r#"["hunter2","hunter3"]"#,
        r#"{"hunter2":1,"hunter3":{"hunter3":2}}"#,
        r#"{"(secret)":1,"(secret) 2":{"(secret)":2}}"#,
    );
    shown(
        "123456",
        r#"{"a":123456,"b":"123456","c":91234567,"d":12345}"#,
        r#"{"a":"(secret)","b":"(secret)","c":"(secret)","d":12345}"#,
    );
    shown("12", r#"{"a":12,"b":"12"}"#, r#"{"a":12,"b":"(secret)"}"#);
    shown("123", r#"{"a":123,"b":"123","c":123.5}"#, r#"{"a":"(secret)","b":"(secret)","c":123.5}"#);
    shown(r#""hunter2""#, "{\"a\":hunter2", "{\"a\":(secret)");
    shown(r#""hunter2""#, "{\"a\":\"hunter2", "{\"a\":\"(secret)");
    shown(r#""hunter2""#, "{}", "{}");
}

#[test]
fn many_secrets_are_taken_out_of_a_long_text_in_time() {
    let values: Vec<String> = (0..20_000).map(|n| format!("\"aaaaaa{n}\"")).collect();
    let taken = taken(&format!("[{}]", values.join(",")));
    let began = std::time::Instant::now();
    let text = "a".repeat(1 << 20);
    assert_eq!(taken.out_of(&text), text);
    assert!(taken.is_in("xaaaaaa7") && !taken.is_in("aaaaaa"));
    assert!(began.elapsed() < std::time::Duration::from_secs(5));
}
