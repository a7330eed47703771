//! Programs written to exhaust the checker: each must end, with a verdict, on a thread with an ordinary stack.

use codecell_ts_transform::{
    Language::{self, JavaScript, TypeScript},
    MAX_SOURCE_BYTES, Prepared, Refusal, prepare,
};

/// A program that nests: `head`, then `open` many times, `middle`, `close` as often, `tail`.
struct Nest {
    head: &'static str,
    open: &'static str,
    middle: &'static str,
    close: &'static str,
    tail: &'static str,
}

impl Nest {
    fn times(&self, n: usize) -> String {
        [
            self.head,
            &self.open.repeat(n),
            self.middle,
            &self.close.repeat(n),
            self.tail,
        ]
        .concat()
    }
}

const fn nest(open: &'static str, middle: &'static str, close: &'static str) -> Nest {
    within("", open, middle, close, "")
}

const fn within(
    head: &'static str,
    open: &'static str,
    middle: &'static str,
    close: &'static str,
    tail: &'static str,
) -> Nest {
    Nest {
        head,
        open,
        middle,
        close,
        tail,
    }
}

/// Forms that recurse in the parser, in the checks behind it, or in both.
const NESTS: &[Nest] = &[
    nest("(", "1", ")"),
    nest("(", "", ""),
    nest("[", "1", "]"),
    nest("{", "", "}"),
    nest("{", "", ""),
    nest("({a:", "1", "})"),
    nest("({[", "1", "]:1})"),
    nest("({...", "a", "})"),
    nest("({m(){return ", "1", "}})"),
    nest("({get a(){return ", "1", "}})"),
    nest("a=>", "1", ""),
    nest("(a)=>", "1", ""),
    nest("(a=", "1", ")=>1"),
    nest("(a=", "1", ")"),
    nest("(a,", "1", ")"),
    nest("({a=", "1", "})=>1"),
    nest("()=>{", "", "}"),
    nest("async(a=", "1", ")=>1"),
    nest("async(a,", "1", ")"),
    nest("async a=>", "1", ""),
    nest("async ", "a", ""),
    nest("!", "a", ""),
    nest("- ", "a", ""),
    nest("-(", "a", ")"),
    nest("typeof ", "a", ""),
    nest("void ", "a", ""),
    nest("await ", "a", ""),
    nest("await (", "a", ")"),
    within("function* g(){", "yield ", "a", "", "}"),
    nest("a?b:", "c", ""),
    nest("a?", "b", ":c"),
    nest("a?(b):", "c", ""),
    nest("a?(b)=>", "c", ":d"),
    nest("a?(b):c=>", "d", ""),
    nest("if(a)", "b", ""),
    nest("if(a)", "b", ";else c"),
    nest("if(a)b;else ", "c", ""),
    nest("if(a){}else ", "b", ""),
    nest("while(a)", "b", ""),
    nest("for(;;)", "b", ""),
    nest("for(a of b)", "c", ""),
    nest("do ", "b", ";while(a)"),
    nest("with(a)", "b", ""),
    nest("a:", "b", ""),
    nest("switch(a){case 1:", "", "}"),
    nest("try{", "", "}catch{}"),
    nest("new ", "a", ""),
    nest("new (", "a", ")"),
    nest("`${", "a", "}`"),
    nest("`${", "", ""),
    nest("a`${", "b", "}`"),
    nest("a=", "1", ""),
    nest("a**", "a", ""),
    nest("a+", "a", ""),
    nest("a.", "a", ""),
    nest("a?.", "a", ""),
    nest("a??", "a", ""),
    nest("a in ", "a", ""),
    within("f", "()", "", "", ""),
    within("a", "[0]", "", "", ""),
    within("a", "``", "", "", ""),
    nest("f(...", "a", ")"),
    nest("function f(){", "", "}"),
    nest("(function(){", "", "})"),
    nest("class A{m(){", "", "}}"),
    nest("class A{static{", "", "}}"),
    nest("class A{[", "a", "]}"),
    nest("(class extends ", "B", "{})"),
    nest("class A extends ", "B", "{}"),
    within("let ", "[", "a", "]", "=x"),
    within("let ", "[a=", "b", "]", "=x"),
    within("let ", "{a:", "a", "}", "=x"),
    within("(", "{a=", "b", "}", "=x)"),
    nest("a<", "x", ">"),
    nest("a<", "x", ""),
    nest("a<(", "b", ")"),
    nest("a<{[", "1", "]:x}>"),
    nest("a<{[", "1", "]"),
    nest("a<{[", "1", "]:1}"),
    nest("a<(b=", "1", ")=>c"),
    nest("a<b>(", "x", ")"),
    nest("a<b<", "c", ">>"),
    nest("(class extends a<{[", "1", "]:x}>{})"),
    nest("interface A extends B<{[function(){", "", "}]:x}> 1 {}"),
    nest("<A>", "x", ""),
    nest("<A>(", "x", ")"),
    nest("<T,>(a=", "1", ")=>1"),
    nest("<T extends {[", "1", "]:x}>(a)=>1"),
    nest("(a):A=>", "1", ""),
    nest("(a:", "b", ")=>1"),
    nest("a?(b):{[", "1", "]:x}=>c:d"),
    within("a", " as any", "", "", ""),
    within("a", "!", "", "", ""),
    within("type T=", "(", "a", ")", ""),
    within("type T=", "({a=", "1", "})=>b", ""),
    within("type T=", "({a=b as ", "c", "})=>b", ""),
    within("type T=", "(a:", "b", ")=>c", ""),
    within("type T=", "[", "a", "]", ""),
    within("type T=", "{a:", "b", "}", ""),
    within("type T=", "{[K in ", "A", "]:B}", ""),
    within("type T=", "A<", "x", ">", ""),
    within("type T=", "A extends B?C:", "D", "", ""),
    within("type T=", "infer U extends [", "A", "]?B:C", ""),
    within("type T=", "infer U extends ", "A", "", ""),
    within("type T=", "keyof ", "A", "", ""),
    within("type T=", "()=>", "A", "", ""),
    within("type T=", "new()=>", "A", "", ""),
    within("type T=", "`${", "A", "}`", ""),
    within("type T=", "typeof a<", "x", ">", ""),
    within("type T=", "A|", "B", "", ""),
    within("type T=A", "[]", "", "", ""),
    within("type T=A", "['a']", "", "", ""),
    nest("namespace N{", "", "}"),
    within("namespace ", "a.", "b", "", "{}"),
    nest("@a ", "class A{}", ""),
    nest("@(", "a", ") class A{}"),
    within("/", "(", "a", ")", "/"),
    within("/", "(?:", "a", ")", "/v"),
    within("/", "[", "a", "]", "/v"),
];

/// Forms that only repeat, and those that are no program from their first character on.
const REPEATS: &[Nest] = &[
    within("/", "(?<a>", "a", ")", "/"),
    within("", "'", "", "", ""),
    within("", "/*", "", "", ""),
    within("", "\\", "", "", ""),
    within("", "#", "", "", ""),
    within("", "await x,", "", "", "x"),
    within("[", "await x,", "", "", "]"),
    within("a=>", "x,", "", "", "x"),
    within("", "<<<<<<< a\n", "", "", ""),
    within("x = ", "/", "", "", ""),
    within("", "}", "", "{", ""),
    within("", ")", "", "(", ""),
    within("", "enum E{A=B}", "", "", ""),
    within("enum E{A='aaaaaaaa',", "A=A+A,", "", "", "}"),
    nest("a<b,", "c", ""),
];

fn both(program: &str) -> [Result<Prepared, Refusal>; 2] {
    [JavaScript, TypeScript].map(|language| prepare(program, language))
}

#[test]
fn nests_are_refused_where_they_would_be_too_deep_or_take_too_long() {
    for nest in NESTS {
        for n in [1, 20, 250] {
            // Some are errors, and some of these are refused at 20 already: what matters is that they end.
            drop(both(&nest.times(n)));
        }
        let mut program = nest.times(30_000);
        program.truncate(MAX_SOURCE_BYTES);
        for result in both(&program) {
            let refusal = result.err();
            let bounded = matches!(
                refusal,
                Some(Refusal::TooDeep { .. } | Refusal::TooComplex { .. } | Refusal::Syntax { .. })
            );
            assert!(bounded, "{}: {refusal:?}", nest.times(1));
        }
    }
}

#[test]
fn repetitions_end_with_a_verdict() {
    for nest in REPEATS {
        for n in [20, 30_000] {
            let mut program = nest.times(n);
            program.truncate(MAX_SOURCE_BYTES);
            drop(both(&program));
        }
    }
}

fn refusal(program: &str, language: Language) -> String {
    prepare(program, language).unwrap_err().to_string()
}

#[test]
fn brackets_nest_up_to_their_limit() {
    let parentheses = |n: usize| format!("return {}1{}", "(".repeat(n), ")".repeat(n));
    assert_accepted(&parentheses(256), JavaScript);
    assert_accepted(&parentheses(256), TypeScript);
    assert_eq!(
        refusal(&parentheses(5_000), JavaScript),
        "the program passes a limit at cell:1:264: more than 256 open brackets. \
         Split it into smaller statements that end with `;`, or into functions"
    );
}

#[test]
fn statements_grow_up_to_their_limit() {
    let sum = |terms: usize| format!("return 1{}", " + 1".repeat(terms - 1));
    assert_accepted(&sum(9_999), JavaScript);
    assert_accepted(&sum(9_999), TypeScript);
    assert_eq!(
        refusal(&sum(10_001), TypeScript),
        "the program passes a limit at cell:1:40006: more than 20000 tokens in one statement. \
         Split it into smaller statements that end with `;`, or into functions"
    );
}

#[test]
fn ambiguities_that_double_the_reading_are_refused() {
    // Each level may be type arguments or a comparison, and to know which, the parser reads all the others.
    let program = format!("return {}1{}", "a<{[".repeat(30), "]:1}".repeat(30));
    assert_accepted(&program, JavaScript);
    assert_eq!(
        refusal(&program, TypeScript),
        "the program is too complex to check at cell:1:53: its nested parts would have to be read more than 6000000 \
         times. Split it into smaller statements or functions"
    );
}

#[test]
fn enum_constants_that_double_are_refused() {
    let members: String = (1..40)
        .map(|n| format!(", M{n} = M{} + M{}", n - 1, n - 1))
        .collect();
    assert_eq!(
        refusal(&format!("enum E {{ M0 = 'abcdefgh'{members} }}"), TypeScript),
        "the program passes a limit at cell:1:219: more than 65536 bytes of text in constant enum members. \
         Split it into smaller statements that end with `;`, or into functions"
    );
}

#[test]
fn regular_expressions_nest_up_to_their_limit() {
    let groups = |n: usize| format!("return /{}a{}/", "(".repeat(n), ")".repeat(n));
    assert_accepted(&groups(1_000), JavaScript);
    assert_eq!(
        refusal(&groups(1_001), JavaScript),
        "the program passes a limit at cell:1:8: more than 1000 brackets in one regular expression. \
         Split it into smaller statements that end with `;`, or into functions"
    );
}

#[test]
fn brackets_in_literals_and_comments_do_not_count() {
    let many = "([{".repeat(1_000);
    let program = format!("const a = '{many}', b = `{many}` // {many}\n/* {many} */ return a + b");
    assert_accepted(&program, JavaScript);
    assert_accepted(&program, TypeScript);
}

#[test]
fn a_division_cannot_hide_brackets_as_a_regular_expression() {
    // If the `/` behind the block were read as a division, the quote would seem to begin a string.
    let program = format!("{{}} /'/; {}", "(".repeat(30_000));
    assert!(matches!(
        prepare(&program, JavaScript),
        Err(Refusal::Syntax { .. })
    ));
}

#[test]
fn the_message_is_short_however_long_the_name_is() {
    let name = "a".repeat(100_000);
    assert!(
        refusal(&format!("let {name}, {name}"), JavaScript)
            .chars()
            .count()
            < 500
    );
}

#[track_caller]
fn assert_accepted(program: &str, language: Language) {
    if let Err(refusal) = prepare(program, language) {
        panic!(
            "{language}: {refusal}: {}",
            program.chars().take(60).collect::<String>()
        );
    }
}

#[test]
fn long_flat_programs_are_accepted() {
    let numbers = "1234, ".repeat(100_000);
    let records = "{ id: 1, name: \"a b c\", tags: [\"x\", \"y\"], ok: true }, ".repeat(15_000);
    let programs = [
        format!("return {}1", "1+".repeat(5_000)),
        format!("return {}'b'", "'a' +\n".repeat(5_000)),
        format!("return a{}", ".b(c => c.d)".repeat(500)),
        format!("return [{numbers}]"),
        format!("const data = [{records}]\nreturn data.length"),
        "const a = { b: [1, 2] }; if (a.b[0] < 3) { f(a, (x) => x + 1); }\n"
            .repeat(14_000)
            .replace("const a", "var a"),
        "var a = f({ b: [1, 2] })\nif (a.b[0] < 3 && a.b[1] < 4) { await f(a, (x) => x + 1) }\n".repeat(400),
        "if (a) { b() } else ".repeat(200) + "{ c() }",
        format!("// {}\nreturn 1", "comment ".repeat(100_000)),
        format!("return `{}`", "text ${a} ".repeat(5_000)),
    ];
    for program in &programs {
        for language in [JavaScript, TypeScript] {
            assert_accepted(program, language);
        }
    }
    let types = "interface A { b: Array<Map<string, number>>; c?: Record<string, { d: A[] }> }\n";
    assert_accepted(&types.repeat(5_000), TypeScript);
}

#[test]
fn two_megabytes_are_refused_for_their_size() {
    for program in ["A<".repeat(1 << 20), "(".repeat(2 << 20)] {
        for result in both(&program) {
            let expected = Refusal::TooLarge {
                actual: 2 << 20,
                limit: MAX_SOURCE_BYTES,
            };
            assert_eq!(result.err(), Some(expected));
        }
    }
}
