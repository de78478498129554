//! What is known of a condition before any call: questions that nobody answers with yes, and parts that no call has an answer for.

use super::*;

#[test]
fn a_question_that_no_owner_answers_is_told_and_one_that_some_does_is_taken() {
    for (when, says) in [
        ("owner.startsWith(\"Nightly\")", "never begins with \"Nightly\""),
        ("!owner.startsWith(\"night-ly\")", "never begins with"),
        ("string(owner).startsWith(\"4\")", "never begins with"),
        ("owner.startsWith(\"OS:\")", "never begins with"),
        ("owner.endsWith(\"\\n\")", "never ends with"),
        ("owner.contains(\"\\t\")", "never contains"),
        ("owner.matches(\"^nightly$\")", "never matches \"^nightly$\""),
        ("matches(owner, \"^nightly$\")", "never matches"),
        ("owner.matches(\"^(nightly|weekly)$\")", "never matches"),
        ("owner.matches(\"^night-ly\")", "never matches"),
        ("owner.matches(\"^name:$\")", "never matches"),
        ("owner < \"a\"", "never less than"),
        ("\"a:\" >= owner", "never less than or equal"),
        ("owner > \"|\"", "never greater than"),
        ("\"nightly\".startsWith(owner)", "never the beginning of"),
        ("\"nightly\".endsWith(owner)", "never the end of"),
        ("\"nightly: \".contains(owner)", "never a part of"),
    ] {
        misread(when, &["owner ", says, "name:ci"]);
    }
    for when in [
        "owner.startsWith(\"nightly\")",
        "owner.startsWith(\"\")",
        "owner.startsWith(\"key:\")",
        "owner.startsWith(\"name: \")",
        "owner.endsWith(\":nightly\")",
        "owner.contains(\"Night ly\")",
        "owner.matches(\"nightly\")",
        "owner.matches(\"^(nightly|name:nightly)$\")",
        "owner.matches(\"^name:ci\")",
        "owner.matches(\"(?i)^NAME:ci$\")",
        "owner.matches(\"^[a-z]+:ci$\")",
        "owner.matches(\"^\")",
        "owner < \"os\"",
        "owner >= \"os:\"",
        "\"name:ci name:weekly\".contains(owner)",
        "\"name:ci2\".startsWith(owner)",
        "\"xos:alice\".endsWith(owner)",
    ] {
        assert!(Condition::compile(when).is_ok(), "{when}");
    }
    // Of the program's owners, which come from two places.
    let own = |when: &str| Condition::compile(when).unwrap().asked().all(|asked| asked.can_be_owner(&["os", "name"]));
    for when in [
        "owner.startsWith(\"nightly\")",
        "owner.startsWith(\"nam:\")",
        "owner.matches(\"^key:\")",
        "owner < \"name\"",
        "owner > \"ot\"",
        "\"key:ci\".contains(owner)",
        "\"key:ci\".startsWith(owner)",
    ] {
        assert!(!own(when), "{when}");
    }
    for when in
        ["owner.startsWith(\"na\")", "owner.matches(\"^os:\")", "owner > \"name:x\"", "\"-name:ci\".contains(owner)"]
    {
        assert!(own(when), "{when}");
    }
}

#[test]
fn what_no_call_would_have_an_answer_for_is_found_at_the_start() {
    for (when, says) in [
        ("args", "args is an object and is taken for true or false"),
        ("!owner", "owner is a text and is taken for true or false"),
        ("tool && true", "tool is a text"),
        ("args.a ? tool : true", "tool is a text"),
        ("args.a > 1 || size(args.b)", "size(…) is a number"),
        ("args.l.exists(x, \"a\")", "is a text and is taken for true"),
        ("args.l.filter(x, x > 1)", "is a list and is taken for true"),
        ("args.l.map(x, x > 1)", "is a list and is taken for true"),
        ("size(args.path) > \"3\"", "size(…) is a number and is compared"),
        ("\"3\" == size(args.path)", "is a text and is compared"),
        ("args.path + 1 == \"a1\"", "is a number and is compared"),
        ("\"a\" + 1 == args.a", "is a text and is added"),
        ("-tool == 1", "tool is a text and is calculated with"),
        ("owner > 5", "owner is a text and is compared"),
        ("tool in [1, 2]", "tool is a text and is looked for"),
        ("1 in owner", "asked what is in it"),
        ("owner.name == \"a\"", "owner is a text and is read as an object"),
        ("args[0] == 1", "args is an object and is asked for an item"),
        ("args.exists(k, k == \"a\")", "args is an object and is looped over"),
        ("keys(tool) == []", "asked for its keys"),
        ("args.contains(\"a\")", "args is an object and is read as a text"),
        ("args.a.contains(1)", "is a number and is read as a text"),
        ("has(args.a) == 1", "has(…) is a bool and is compared"),
    ] {
        wrong(when, says);
    }
    for when in [
        "args.a",
        "!args.a && args.b",
        "has(args.a) && has(args.a.b)",
        "has(args.a) == true",
        "dyn(args.a) == 1",
        "type(args.a) == int",
        "type(args.a) == type(1)",
        "args.l.map(x, x) == [1]",
        "args.l.exists_one(x, x)",
        "(args.a > 1 ? args.b : args.c) == \"x\"",
        "{1: true}[1]",
        "args.a + args.b == \"x\"",
        "args.l + [1] == [2, 1]",
        "owner == null || null in args.l",
        "args.l[0] && args[\"b\"]",
        "args[tool] == 1",
        "b\"a\" == args.a",
        "string(args.a) == \"1\"",
    ] {
        assert!(Condition::compile(when).is_ok(), "{when}: {:?}", Condition::compile(when).err());
    }
}
