//! Choices between groups of elements.

use crate::support::{decode, encode, fault, missing, round_trip, unexpected};
use deltasoap::Soap;
use deltasoap::engine::{ErrorKind, Typed};

types! {
    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Answer {
        id: i32,
        #[soap(group)]
        result: Outcome,
        #[soap(group)]
        more: Option<More>,
        end: Option<i32>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(group, rename_all = "camelCase")]
    enum Outcome {
        #[soap(group)]
        Good(Good),
        Numbers(Vec<i32>),
        #[soap(name = "error")]
        Bad(String),
        Nothing,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(group)]
    struct Good {
        value: f64,
        remark: Option<String>,
        #[soap(group)]
        when: Option<When>,
        tag: Vec<String>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(group, rename_all = "camelCase")]
    enum When {
        #[soap(group)]
        Span(Span),
        Year(i32),
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(group)]
    struct Span {
        from: i32,
        to: i32,
    }

    /// Both branches have an element of the same name.
    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(group)]
    enum More {
        #[soap(group)]
        Pair(Pair),
        #[soap(group)]
        Measure(Measure),
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(group)]
    struct Pair {
        key: String,
        text: String,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(group)]
    struct Measure {
        text: String,
        unit: String,
    }
}

fn answer(result: Outcome) -> Answer {
    Answer { id: 1, result, more: None, end: None }
}

fn good(when: Option<When>) -> Outcome {
    Outcome::Good(Good { value: 0.5, remark: None, when, tag: Vec::new() })
}

#[test]
fn every_branch() {
    round_trip(&answer(good(None)), "<r><id>1</id><value>0.5</value></r>");
    round_trip(&answer(good(Some(When::Year(7)))), "<r><id>1</id><value>0.5</value><year>7</year></r>");
    let span = good(Some(When::Span(Span { from: 1, to: 2 })));
    round_trip(&answer(span), "<r><id>1</id><value>0.5</value><from>1</from><to>2</to></r>");
    let tags = ["a", "b", "c"].map(str::to_owned).to_vec();
    let full = Good { value: 2.0, remark: Some(String::new()), when: Some(When::Year(-1)), tag: tags };
    let xml = "<r><id>1</id><value>2</value><remark></remark><year>-1</year><tag>a</tag><tag>b</tag><tag>c</tag><end>5</end></r>";
    round_trip(&Answer { end: Some(5), ..answer(Outcome::Good(full)) }, xml);
    let numbers = Outcome::Numbers((0..40).collect());
    let items: String = (0..40).map(|number| format!("<numbers>{number}</numbers>")).collect();
    round_trip(&answer(numbers), &format!("<r><id>1</id>{items}</r>"));
    round_trip(&answer(Outcome::Bad("no".to_owned())), "<r><id>1</id><error>no</error></r>");
    round_trip(&answer(Outcome::Nothing), "<r><id>1</id><nothing/></r>");
}

#[test]
fn branches_with_elements_of_one_name() {
    let with = |more| Answer { more: Some(more), ..answer(Outcome::Nothing) };
    let text = || "t".to_owned();
    let pair = with(More::Pair(Pair { key: text(), text: text() }));
    round_trip(&pair, "<r><id>1</id><nothing/><key>t</key><text>t</text></r>");
    let measure = with(More::Measure(Measure { text: text(), unit: text() }));
    round_trip(&measure, "<r><id>1</id><nothing/><text>t</text><unit>t</unit></r>");
}

types! {
    /// Lists with bounds: in a struct, in a branch of a choice, as a branch, and of groups.
    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Bounded {
        #[soap(min = 1, max = 2)]
        first: Vec<i32>,
        #[soap(group)]
        choice: Option<Counted>,
        #[soap(inline, min = 2, max = 3)]
        pairs: Vec<Pair>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(group, rename_all = "camelCase")]
    enum Counted {
        #[soap(group)]
        Group(CountedGroup),
        #[soap(min = 2)]
        Alone(Vec<i32>),
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(group)]
    struct CountedGroup {
        g: i32,
        #[soap(min = 2, max = 3)]
        h: Vec<i32>,
    }
}

#[test]
fn lists_have_as_many_elements_as_they_may() {
    let pair = || Pair { key: "k".to_owned(), text: "t".to_owned() };
    let pairs = "<key>k</key><text>t</text><key>k</key><text>t</text>";
    let bounded = Bounded { first: vec![1], choice: None, pairs: vec![pair(), pair()] };
    round_trip(&bounded, &format!("<r><first>1</first>{pairs}</r>"));
    let group = Counted::Group(CountedGroup { g: 1, h: vec![2, 3] });
    let grouped = Bounded { choice: Some(group), ..bounded.clone() };
    round_trip(&grouped, &format!("<r><first>1</first><g>1</g><h>2</h><h>3</h>{pairs}</r>"));
    let alone = Bounded { choice: Some(Counted::Alone(vec![1, 2, 3])), ..bounded };
    round_trip(&alone, &format!("<r><first>1</first><alone>1</alone><alone>2</alone><alone>3</alone>{pairs}</r>"));
    for (wrong, found, expected) in [
        (pairs, "key", "<first>"),
        (
            "<first>1</first><first>2</first><first>3</first>",
            "first",
            "<g> or <h> or <alone> or <pairs>, and <first> at most 2 times",
        ),
        ("<first>1</first><g>1</g><h>2</h><key>", "key", "<h>"),
        ("<first>1</first><g>1</g><key>", "key", "<h>"),
        (
            "<first>1</first><g>1</g><h>2</h><h>3</h><h>4</h><h>5</h>",
            "h",
            "<alone> or <pairs>, and <h> at most 3 times",
        ),
        ("<first>1</first><alone>1</alone><key>", "key", "<alone>"),
        (&format!("<first>1</first>{pairs}{pairs}"), "key", "the end of the element"),
    ] {
        assert_eq!(fault::<Bounded>(&format!("<r>{wrong}</r>")), unexpected(found, expected), "{wrong}");
    }
    assert_eq!(fault::<Bounded>("<r><first>1</first><key>k</key><text>t</text></r>"), missing("pairs"));
    assert_eq!(fault::<Bounded>("<r><first>1</first><alone>1</alone></r>"), missing("pairs"));
}

#[test]
fn one_branch_and_all_of_it() {
    let one = "one of <value> or <numbers> or <error> or <nothing>";
    assert_eq!(fault::<Answer>("<r><id>1</id></r>"), missing(one));
    assert_eq!(fault::<Answer>("<r><id>1</id><end>1</end></r>"), unexpected("end", one));
    let only = format!("only {one}");
    for (both, found) in [
        ("<value>1</value><error>x</error>", "error"),
        ("<value>1</value><tag>a</tag><nothing/>", "nothing"),
        ("<numbers>1</numbers><numbers>2</numbers><error>x</error>", "error"),
    ] {
        assert_eq!(fault::<Answer>(&format!("<r><id>1</id>{both}</r>")), unexpected(found, &only), "{both}");
    }
    for (wrong, found, expected) in [
        ("<remark/>", "remark", "<value>"),
        ("<value>1</value><to>2</to>", "to", "<from>"),
        ("<value>1</value><from>1</from><to>2</to><year>1</year>", "year", "only one of <from> or <year>"),
        ("<value>1</value><from>1</from><tag>a</tag>", "tag", "<to>"),
        ("<nothing/><key>a</key><unit>c</unit>", "unit", "only one of <key> or <text>"),
    ] {
        assert_eq!(fault::<Answer>(&format!("<r><id>1</id>{wrong}</r>")), unexpected(found, expected), "{wrong}");
    }
    for (short, expected) in [
        ("<value>1</value><from>1</from>", "to"),
        ("<nothing/><key>a</key>", "text"),
        ("<nothing/><text>a</text>", "unit"),
    ] {
        let ErrorKind::MissingElement { expected: found, .. } = fault::<Answer>(&format!("<r><id>1</id>{short}</r>"))
        else {
            panic!("{short}")
        };
        assert_eq!(found, expected, "{short}");
    }
    assert!(matches!(
        fault::<Answer>("<r><id>1</id><error>x</error><value>1</value></r>"),
        ErrorKind::UnexpectedElement { .. }
    ));
}

types! {
    /// A type that contains itself.
    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Tree {
        #[soap(group)]
        node: Option<Node>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(group, rename_all = "camelCase")]
    enum Node {
        #[soap(group)]
        Branch(Branch),
        Leaf(i32),
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(group)]
    struct Branch {
        left: Option<Box<Tree>>,
        right: Option<Box<Tree>>,
    }
}

#[test]
fn groups_that_hold_their_owner() {
    let leaf = |number| Some(Box::new(Tree { node: Some(Node::Leaf(number)) }));
    let tree = Tree { node: Some(Node::Branch(Branch { left: leaf(1), right: leaf(2) })) };
    round_trip(&tree, "<r><left><leaf>1</leaf></left><right><leaf>2</leaf></right></r>");
    assert_eq!(encode(&Tree { node: None }), "<r/>");
    assert_eq!(decode::<Tree>("<r/>"), Ok(Tree { node: None }));
}

#[test]
fn groups_are_fields_of_the_type_around_them() {
    let complex = Answer::view().complex().expect("a complex type");
    let names: Vec<_> = complex.fields.iter().map(|field| &*field.name.local).collect();
    let of_good = ["value", "remark", "from", "to", "year", "tag"];
    let expected =
        [&["id"][..], &of_good, &["numbers", "error", "nothing", "key", "text", "text", "unit", "end"]].concat();
    assert_eq!(names, expected);
    assert!(complex.has_sound_choices());
}

types! {
    /// Repeated groups: sequences, choices, one within the other.
    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Log {
        #[soap(inline)]
        days: Vec<Day>,
        #[soap(inline)]
        outcomes: Vec<Outcome>,
        end: Option<i32>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(group)]
    struct Day {
        day: i32,
        #[soap(inline)]
        hours: Vec<Hour>,
        note: Option<String>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(group)]
    struct Hour {
        hour: i32,
        minute: Vec<i32>,
        second: i32,
    }
}

fn day(day: i32, hours: &[(i32, usize)], note: Option<&str>) -> Day {
    let hours = hours.iter().map(|&(hour, count)| Hour { hour, minute: vec![7; count], second: 1 });
    Day { day, hours: hours.collect(), note: note.map(str::to_owned) }
}

#[test]
fn groups_that_are_repeated() {
    let days =
        vec![day(1, &[], None), day(2, &[(3, 0), (4, 20)], None), day(5, &[(6, 2)], Some("n")), day(7, &[], Some(""))];
    let minutes = |count| "<minute>7</minute>".repeat(count);
    let of_days = format!(
        "<day>1</day><day>2</day><hour>3</hour><second>1</second><hour>4</hour>{}<second>1</second>\
         <day>5</day><hour>6</hour>{}<second>1</second><note>n</note><day>7</day><note></note>",
        minutes(20),
        minutes(2)
    );
    let outcomes = vec![
        good(None),
        good(Some(When::Span(Span { from: 1, to: 2 }))),
        Outcome::Numbers(vec![1, 2]),
        Outcome::Nothing,
        Outcome::Nothing,
        Outcome::Bad("b".to_owned()),
    ];
    let of_outcomes = "<value>0.5</value><value>0.5</value><from>1</from><to>2</to><numbers>1</numbers><numbers>2</numbers>\
                       <nothing/><nothing/><error>b</error>";
    let log = Log { days, outcomes, end: Some(1) };
    round_trip(&log, &format!("<r>{of_days}{of_outcomes}<end>1</end></r>"));
    round_trip(&Log { end: None, ..log.clone() }, &format!("<r>{of_days}{of_outcomes}</r>"));
    round_trip(&Log { days: Vec::new(), ..log.clone() }, &format!("<r>{of_outcomes}<end>1</end></r>"));
    round_trip(&Log { days: Vec::new(), outcomes: Vec::new(), end: None }, "<r/>");
}

#[test]
fn each_repeated_group_is_whole() {
    for (wrong, found, expected) in [
        ("<note/>", "note", "<day>"),
        ("<day>1</day><hour>2</hour><day>2</day>", "day", "<second>"),
        ("<day>1</day><hour>2</hour><minute>1</minute><note/>", "note", "<second>"),
        ("<day>1</day><value>1</value><from>1</from><value>1</value>", "value", "<to>"),
        ("<day>1</day><value>1</value><from>1</from><end>1</end>", "end", "<to>"),
        ("<day>1</day><end>1</end><day>2</day>", "day", "the end of the element"),
    ] {
        assert_eq!(fault::<Log>(&format!("<r>{wrong}</r>")), unexpected(found, expected), "{wrong}");
    }
    assert_eq!(fault::<Log>("<r><day>1</day><hour>2</hour></r>"), missing("second"));
    assert_eq!(fault::<Log>("<r><value>1</value><from>1</from></r>"), missing("to"));
}
