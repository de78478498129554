//! Conditions against arguments: what holds, what does not, and what has no answer.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod start;

use super::made::Made;
use super::*;
use std::time::Instant;

fn ask(when: &str, arguments: &str) -> Result<bool, NoAnswer> {
    let condition = Condition::compile(when).unwrap_or_else(|e| panic!("{when}: {e}"));
    let facts = Facts::new("os:alice", "pay", arguments);
    let context = facts.context();
    condition.holds(&facts, &context)
}

#[track_caller]
fn check(when: &str, arguments: &str, expected: Result<bool, NoAnswer>) {
    assert_eq!(ask(when, arguments), expected, "{when} of {arguments}");
}

#[test]
fn a_condition_holds_or_does_not() {
    for (when, arguments, expected) in [
        ("true", "{}", true),
        ("args.amount > 100", r#"{"amount":100}"#, false),
        ("args.amount > 100", r#"{"amount":101}"#, true),
        ("args.amount > 100", r#"{"amount":100.01}"#, true),
        ("args.amount > 99.99", r#"{"amount":100}"#, true),
        ("args.amount == 5.0", r#"{"amount":5}"#, true),
        ("args.amount < 0", r#"{"amount":-0.5}"#, true),
        ("args.amount == 0.1", r#"{"amount":0.1}"#, true),
        ("args.amount * 2 >= 10", r#"{"amount":5}"#, true),
        ("double(args.amount) / 2.0 < 2.6", r#"{"amount":5}"#, true),
        ("has(args.to)", r#"{"to":null}"#, true),
        ("has(args.to)", "{}", false),
        ("has(args.to) && args.to == \"bob\"", "{}", false),
        ("has(args.a.b) && args.a.b", r#"{"a":{"b":true}}"#, true),
        ("args.to == null", r#"{"to":null}"#, true),
        ("args.path.startsWith(\"/files/prod/\")", r#"{"path":"/files/prod/a"}"#, true),
        ("!args.path.endsWith('.txt')", r#"{"path":"a.txt"}"#, false),
        ("args.path.contains('..')", r#"{"path":"a/../b"}"#, true),
        (r#"args.path.matches("^/files/[a-z]+$")"#, r#"{"path":"/files/abc"}"#, true),
        (r#"args.path.matches(r"\.txt$")"#, r#"{"path":"a.txt"}"#, true),
        (r#"args.path.matches("\\.txt$")"#, r#"{"path":"atxt"}"#, false),
        (r#"args.path.matches("^/files/[a-z]+$")"#, r#"{"path":"/files/ABC"}"#, false),
        ("args.to in [\"a\", \"b\"]", r#"{"to":"b"}"#, true),
        ("args.to in [\"a\", \"b\"]", r#"{"to":"c"}"#, false),
        ("\"x\" in args", r#"{"x":1}"#, true),
        ("size(args.to) > 1", r#"{"to":["a","b"]}"#, true),
        ("args.to.size() == 2", r#"{"to":"äö"}"#, true),
        ("args.to.exists(t, t.endsWith(\"@example.org\"))", r#"{"to":["a@x","b@example.org"]}"#, true),
        ("args.to.all(t, t.endsWith(\"@x\"))", r#"{"to":["a@x","b@y"]}"#, false),
        ("args.to.exists_one(t, t == 1)", r#"{"to":[1,2,1]}"#, false),
        ("args.to.filter(t, t > 1).size() == 2", r#"{"to":[1,2,3]}"#, true),
        ("args.to.map(t, t * 2) == [2, 4]", r#"{"to":[1,2]}"#, true),
        ("args.to.exists(row, row.cells.exists(cell, cell == 3))", r#"{"to":[{"cells":[1]},{"cells":[2,3]}]}"#, true),
        ("type(args.x) == int", r#"{"x":1}"#, true),
        ("type(args.x) == int", r#"{"x":1.5}"#, false),
        ("args[\"a-b\"] == 1", r#"{"a-b":1}"#, true),
        ("args.l[1] == 2", r#"{"l":[1,2]}"#, true),
        ("owner == \"os:alice\" && tool == \"pay\"", "{}", true),
        ("owner.startsWith(\"os:\") ? args.n > 1 : args.n > 5", r#"{"n":2}"#, true),
        ("args.n > 9223372036854775806", r#"{"n":9223372036854775807}"#, true),
        ("args.n == 9007199254740992", r#"{"n":9007199254740993}"#, false),
        ("args.t == \"\\u00e9\\n\"", r#"{"t":"é\n"}"#, true),
        // What does not matter need not be there.
        ("args.missing > 1 || true", "{}", true),
        ("args.missing > 1 && false", "{}", false),
        // Beside a null that the rule writes, anything is an answer.
        ("args.n == null", r#"{"n":1}"#, false),
        ("null != args.n", r#"{"n":"a"}"#, true),
        ("args.n in [null, \"a\"]", r#"{"n":null}"#, true),
        ("args.n in [null, \"a\"]", r#"{"n":"b"}"#, false),
        ("args.n in [\"a\", null]", r#"{"n":"a"}"#, true),
        // What is unequal anyway need not be comparable throughout.
        ("args.l == [1, \"2\"]", r#"{"l":[5,2]}"#, false),
        ("args.l == [\"1\"]", r#"{"l":[]}"#, false),
        ("args.o == {\"a\": 1}", r#"{"o":{"b":"x"}}"#, false),
        ("args.o == {\"a\": {\"b\": [1.5]}}", r#"{"o":{"a":{"b":[1.5]}}}"#, true),
        ("args.n in [\"1\", 1]", r#"{"n":1}"#, true),
        ("args.n == 1 && args.m == 1u", r#"{"m":1,"n":1.0}"#, true),
        ("args.b == true && args.b != false", r#"{"b":true}"#, true),
        ("args.b > false && args.t >= \"a\"", r#"{"b":true,"t":"a"}"#, true),
        ("keys(args) == [\"a\", \"b\"]", r#"{"a":1,"b":2}"#, true),
        ("args.keys().all(k, k in [\"a\", \"b\"])", r#"{"a":1,"b":2}"#, true),
        ("args.keys().all(k, k in [\"a\"])", r#"{"a":1,"b":2}"#, false),
        ("args.l + [3] == [1, 2, 3]", r#"{"l":[1,2]}"#, true),
        ("args.a + \"x\" == \"ax\"", r#"{"a":"a"}"#, true),
        // What is calculated is what is written.
        ("args.a + args.b == 0.3", r#"{"a":0.1,"b":0.2}"#, true),
        ("args.a * 3.0 <= 0.3", r#"{"a":0.1}"#, true),
        ("args.a - 0.1 == 0.2", r#"{"a":0.3}"#, true),
        ("args.a / 0.1 == 3.0", r#"{"a":0.3}"#, true),
        ("double(args.a) * 1.1 == 1.21", r#"{"a":"1.1"}"#, true),
        ("args.n > 9007199254740992.0", r#"{"n":9007199254740993}"#, true),
        ("args.n > args.m", r#"{"m":0.5,"n":9007199254740993}"#, true),
        ("args.n in [9007199254740992.0]", r#"{"n":9007199254740993}"#, false),
        ("owner == \"os:alice\"", r#"{"n":1e400}"#, true),
    ] {
        check(when, arguments, Ok(expected));
    }
}

#[test]
fn what_cannot_be_told_has_no_answer() {
    let missing = |name: &str| NoAnswer::Missing(Some(name.to_owned()));
    let unlike = |one, other| NoAnswer::Unlike(Unlike(one, other));
    for (when, arguments, expected) in [
        ("args.amount > 100", "{}", missing("amount")),
        ("args.a.b == 1", r#"{"a":{}}"#, missing("b")),
        ("args[\"a-b\"] == 1", "{}", missing("a-b")),
        ("args[args.key] == 1", r#"{"key":"hunter2"}"#, NoAnswer::Missing(None)),
        ("args.l[5] == 1", r#"{"l":[1]}"#, NoAnswer::Missing(None)),
        ("args.amount > 100", r#"{"amount":"200"}"#, unlike("a text", "a number")),
        ("args.amount > 100", r#"{"amount":null}"#, unlike("null", "a number")),
        ("args.amount > 100 && true", r#"{"amount":[1]}"#, unlike("a list", "a number")),
        ("args.amount > 100 || args.amount == \"x\"", r#"{"amount":"y"}"#, unlike("a text", "a number")),
        ("args.n == \"1\"", r#"{"n":1}"#, unlike("a number", "a text")),
        ("args.n != \"bob\"", r#"{"n":["bob"]}"#, unlike("a list", "a text")),
        ("args.n == \"bob\"", r#"{"n":null}"#, unlike("null", "a text")),
        ("args.n == \"true\"", r#"{"n":true}"#, unlike("a bool", "a text")),
        ("args.n == 0", r#"{"n":false}"#, unlike("a bool", "a number")),
        ("args.n == type(args.n)", r#"{"n":"a"}"#, unlike("a text", "a type")),
        ("args.n in [\"bob\", \"eve\"]", r#"{"n":7}"#, unlike("a number", "a text")),
        ("args.n in [null, \"bob\"]", r#"{"n":7}"#, unlike("a number", "a text")),
        ("\"bob\" in args.n", r#"{"n":["al",null]}"#, unlike("a text", "null")),
        ("\"bob\" in args.n", r#"{"n":"bob"}"#, NoAnswer::NoWhole),
        ("1 in args", r#"{"n":"bob"}"#, unlike("a number", "a text")),
        ("args.n in {1: true}", r#"{"n":"1"}"#, unlike("a text", "a number")),
        ("args.l == [1, \"2\"]", r#"{"l":[1,2]}"#, unlike("a number", "a text")),
        ("args.l == [[\"a\"]]", r#"{"l":[[1]]}"#, unlike("a number", "a text")),
        ("args.o == {\"a\": \"1\"}", r#"{"o":{"a":1}}"#, unlike("a number", "a text")),
        ("args.o == {1: 1}", r#"{"o":{"1":1}}"#, unlike("a text", "a number")),
        ("args.l.exists(x, x == \"bob\")", r#"{"l":[1,2]}"#, unlike("a number", "a text")),
        ("args.l.all(x, x != \"bob\")", r#"{"l":[["bob"]]}"#, unlike("a list", "a text")),
        ("args.l.exists_one(x, x == \"bob\")", r#"{"l":["bob",1]}"#, unlike("a number", "a text")),
        ("args.l.filter(x, x == \"bob\").size() > 0", r#"{"l":[1]}"#, unlike("a number", "a text")),
        ("args.l.map(x, x) == [\"1\"]", r#"{"l":[1]}"#, unlike("a number", "a text")),
        ("(args.a == \"1\") == false", r#"{"a":1}"#, unlike("a number", "a text")),
        // An object where a list is meant is not looped over by its keys.
        ("args.to.exists(t, t == \"bob\")", r#"{"to":{"0":"bob"}}"#, NoAnswer::NoList),
        ("args.to.filter(t, t == \"bob\").size() > 0", r#"{"to":{"0":"bob"}}"#, NoAnswer::NoList),
        ("args.to + [1] == [1]", r#"{"to":{}}"#, NoAnswer::Types),
        ("[1] + args.to == [1]", r#"{"to":{}}"#, NoAnswer::Types),
        ("keys(args.to) == []", r#"{"to":[]}"#, NoAnswer::Types),
        ("has(args.a.b) && args.a.b > 1", r#"{"a":"text"}"#, NoAnswer::Types),
        ("args.path.startsWith(\"/a\")", r#"{"path":7}"#, NoAnswer::Types),
        ("args.a * 2 > 1", r#"{"a":0.5}"#, NoAnswer::Types),
        ("args.to.exists(t, t > 1)", r#"{"to":7}"#, NoAnswer::NoList),
        ("args.to.all(t, t > 1)", r#"{"to":["a"]}"#, unlike("a text", "a number")),
        ("args.a * 2 > 1", r#"{"a":9223372036854775807}"#, NoAnswer::Arithmetic),
        ("-args.a > 1", r#"{"a":-9223372036854775808}"#, NoAnswer::Arithmetic),
        ("1 / args.a > 1", r#"{"a":0}"#, NoAnswer::Arithmetic),
        ("1 % args.a > 1", r#"{"a":0}"#, NoAnswer::Arithmetic),
        ("args.flag", r#"{"flag":1}"#, NoAnswer::NotBool),
        ("args.flag ? true : false", r#"{"flag":"yes"}"#, NoAnswer::Types),
        ("args.n > 1", r#"{"n":1e400}"#, NoAnswer::Number),
        ("args.n > 1", r#"{"n":12345678901234567890}"#, NoAnswer::Number),
        ("args.n > 1", r#"{"n":2,"other":0.30000000000000001}"#, NoAnswer::Number),
        // What a double would round has no answer.
        ("double(args.n) > 1.5", r#"{"n":9007199254740993}"#, NoAnswer::Number),
        ("double(args.n) > 1.5", r#"{"n":"0.30000000000000001"}"#, NoAnswer::Number),
        ("double(args.n) > 1.5", r#"{"n":"NaN"}"#, NoAnswer::Number),
        ("double(args.n) > 1.5", r#"{"n":"inf"}"#, NoAnswer::Number),
        ("double(args.n) > 1.5", r#"{"n":[1]}"#, NoAnswer::Types),
        ("args.n + 1.0 > 1.0", r#"{"n":0.1234567890123456}"#, NoAnswer::Inexact),
        ("args.n / 3.0 > 1.0", r#"{"n":0.5}"#, NoAnswer::Inexact),
        ("args.n / 0.0 > 1.0", r#"{"n":0.5}"#, NoAnswer::Inexact),
        ("args.n * 1e300 > 1.0", r#"{"n":1e300}"#, NoAnswer::Inexact),
        ("args.n + 1 > 1", r#"{"n":9223372036854775807}"#, NoAnswer::Arithmetic),
        ("int(args.s) > 1", r#"{"s":"x"}"#, NoAnswer::Failed),
    ] {
        check(when, arguments, Err(expected));
    }
}

#[track_caller]
fn wrong(when: &str, says: &str) {
    let fault = Condition::compile(when).err().unwrap_or_else(|| panic!("{when} is taken"));
    assert!(fault.to_string().contains(says), "{when}: {fault}");
}

#[test]
fn what_can_be_found_wrong_at_the_start_is() {
    for (when, says) in [
        ("", "it is empty"),
        ("  ", "it is empty"),
        ("args.", "wrong at 1:"),
        ("args.a >", "wrong at 1:"),
        ("args.a > 1)", "wrong at 1:"),
        ("args.a = 1", "wrong at 1:"),
        ("\"open", "wrong at 1:"),
        ("argz.a > 1", "there is no \"argz\""),
        ("amount > 1", "there is no \"amount\""),
        ("args.a.exists(x, y == 1)", "there is no \"y\""),
        ("args.a.exists(x, x == 1) && x == 1", "there is no \"x\""),
        ("args.a.exists(args, true)", "is taken"),
        ("args.a.lower() == \"a\"", "there is no function \"lower\""),
        ("now() > 1", "there is no function \"now\""),
        ("optional.of(args.a).hasValue()", "there is no function"),
        ("startsWith(args.a, \"x\")", "is called on a text"),
        ("args.a.startsWith(\"x\", \"y\")", "takes 2 values"),
        ("args.a.matches(args.pattern)", "in the rule itself"),
        ("args.a.matches(\"(\")", "no regular expression"),
        ("args.a.matches(\"(?:a{1000}){1000}\")", "no regular expression"),
        ("args.amount", ""),
        ("\"true\"", "never comes to true or false"),
        ("args.a + 1", "never comes to true or false"),
        ("[true]", "never comes to true or false"),
        ("google.protobuf.Duration{seconds: 1} == 1", "no type"),
        ("args.a.exists(x, x.exists(y, y.exists(z, z == 1)))", "more than 2 loops"),
        ("args.?a == 1", "wrong"),
        ("args.a in \"abc\"", "write args.x.contains"),
        ("args.a > 0.30000000000000001", "0.30000000000000001 cannot be held exactly"),
        ("keys(args)", "never comes to true or false"),
        ("args.path.matches(\"\\.txt$\")", "a backslash is written twice"),
    ] {
        if when == "args.amount" {
            // It may be a bool: only a call tells.
            assert!(Condition::compile(when).is_ok());
            continue;
        }
        wrong(when, says);
    }
    wrong(&format!("args.a == \"{}\"", "x".repeat(LENGTH)), "longer than 2000 bytes");
    wrong(&format!("{}args.a{} == 1", "[".repeat(30), "]".repeat(30)), "recursion");
    wrong(&format!("args{} == 1", ".a".repeat(100)), "nested too deeply");
    wrong(&format!("1 {}> 1", "+ 1 ".repeat(100)), "nested too deeply");
}

#[test]
fn the_largest_condition_fits_the_stack_that_it_is_asked_on() {
    // What may be nested deepest, on a thread as small as the runtime's.
    let deep = [
        format!("args{} == 1", ".a".repeat(60)),
        format!("1 {}> 1", "+ 1 ".repeat(60)),
        format!("{}true{}", "!(".repeat(20), ")".repeat(20)),
        // These are taken off one by one.
        format!("{}true{}", "(".repeat(900), ")".repeat(900)),
        format!("args.l.all(x, x.l.all(y, {}y{} == 1))", "[".repeat(12), "][0]".repeat(12)),
    ];
    let arguments = format!("{}1{}", "{\"a\":".repeat(500), "}".repeat(500));
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(move || {
        for when in deep {
            let _ = ask(&when, &arguments);
        }
    });
    thread.unwrap().join().unwrap();
}

#[test]
fn a_loop_over_large_arguments_is_stopped() {
    let list = format!(r#"{{"l":[{}]}}"#, vec!["1"; 100_000].join(","));
    for when in [
        "args.l.all(x, args.l.all(y, y == 1))",
        "args.l.exists(x, args.l.exists(y, y == 2))",
        "args.l.map(x, args.l.filter(y, y == 2)).size() > 0",
        "args.l.filter(x, args.l.exists_one(y, y == 2)).size() > 0",
        "args.l.all(x, args.l.all(y, y == 1)) || true",
    ] {
        let began = Instant::now();
        check(when, &list, Err(NoAnswer::Slow));
        assert!(began.elapsed() < PATIENCE * 20, "{when}: {:?}", began.elapsed());
    }
    check("args.l.all(x, x == 1)", r#"{"l":[1,1,1]}"#, Ok(true));
}

#[test]
fn a_condition_that_makes_too_much_of_its_arguments_is_stopped() {
    let (base, items) = ("x".repeat(100_000), vec!["\"\""; 1_000].join(","));
    let arguments = format!(r#"{{"base":"{base}","paths":[{items}]}}"#);
    for when in [
        r#"args.paths.map(p, args.base + "/" + p).exists(q, q.startsWith("/files/ledger"))"#,
        r#"args.paths.map(p, true, args.base + "/" + p).size() > 0"#,
        "args.paths.map(p, string(args.base)).size() > 0",
        "args.paths.map(p, args.paths).size() > 0",
        "args.paths.map(p, [args.base]).size() > 0",
        "args.paths.map(p, {\"a\": args.base}).size() > 0",
        "args.paths.exists(p, args.base + args.base == p)",
        "args.paths.exists(p, args.paths + args.paths == [p])",
        "args.paths.map(p, args.base + p).size() > 0 || true",
        "[args.base].map(x, x + x).map(x, x + x).map(x, x + x).map(x, x + x).map(x, x + x).map(x, x + x).size() > 0",
    ] {
        check(when, &arguments, Err(NoAnswer::Large));
    }
    // An ordinary number of ordinary paths, and every condition has all of it.
    let items = vec!["\"ledger/2026/a.txt\""; 5_000].join(",");
    let arguments = format!(r#"{{"base":"/files/of/somebody","paths":[{items}]}}"#);
    let when = r#"args.paths.map(p, args.base + "/" + p).exists(q, q.startsWith("/files/ledger"))"#;
    let condition = Condition::compile(when).unwrap();
    let facts = Facts::new("os:alice", "pay", &arguments);
    let context = facts.context();
    let made = |size| Made::default().takes(size);
    assert!(made(MADE) && !made(MADE + 1));
    for _ in 0..2 {
        let answer = condition.holds(&facts, &context);
        assert!(matches!(answer, Ok(false) | Err(NoAnswer::Slow)), "{answer:?}");
    }
}

#[test]
fn no_text_of_an_error_quotes_an_argument() {
    for when in [
        "args[args.secret] == 1",
        "args.secret > 1",
        "args.secret.exists(x, x == 1)",
        "args.secret + 1 == 2",
        "int(args.secret) == 1",
        "-args.secret == 1",
        "{args.secret: 1}[args.other] == 1",
        "args.list[args.secret] == 1",
    ] {
        let answer = ask(when, r#"{"list":[1],"other":"hunter3","secret":"hunter2"}"#);
        let text = answer.expect_err(when).to_string();
        assert!(!text.contains("hunter"), "{when}: {text}");
    }
}

#[track_caller]
fn misread(when: &str, words: &[&str]) {
    let Err(fault) = Condition::compile(when) else { panic!("{when} is taken") };
    for word in words {
        assert!(fault.what.contains(word), "{when}: {word:?} is missing in {fault}");
    }
}

#[test]
fn an_owner_is_compared_with_what_one_can_be() {
    for when in [
        "owner == \"ci\"",
        "\"ci\" != owner",
        "owner in [\"os:alice\", \"ci\"]",
        "args.n > 1 && !(owner == \"ci\")",
        "args.to.exists(t, t == 1 && owner == \"ci\")",
    ] {
        misread(when, &["owner is never \"ci\"", "\"name:ci\""]);
    }
    misread("owner == \"\"", &["owner is never"]);
    misread("owner == \"os:\"", &["owner is never"]);
    misread("owner == \"OS:alice\"", &["owner is never"]);
    for when in [
        "owner == \"name:ci\"",
        "owner in [\"os:alice\", \"key:a\"]",
        "owner == args.owner",
        "args.owner == \"ci\"",
        "owner.startsWith(\"name:c\")",
        "\"ci\" in args.owners",
    ] {
        assert!(Condition::compile(when).is_ok(), "{when}");
    }
}

#[test]
fn an_operator_of_another_language_gets_the_one_of_this() {
    misread("args.path = \"x\"", &["compared with =="]);
    misread("args.a > 1 and args.b == \"=\"", &["write && for and"]);
    misread("args.a > 1 OR args.b", &["write || for or"]);
    misread("not args.a", &["write ! for not"]);
    let Err(fault) = Condition::compile("args.a == \"b = c and d\" )") else { panic!("it is taken") };
    assert!(!fault.what.contains("write") && !fault.what.contains("compared"), "{fault}");
}
