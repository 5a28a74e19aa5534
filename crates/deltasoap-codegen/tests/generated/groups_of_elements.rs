//! Choices between groups of elements: each branch is read and written; two branches are an error.

use crate::groups::*;
use crate::{body, round_trip};
use deltasoap::schema::Use;
use deltasoap::soap::decode_request;

const ID: &str = "<id>1</id>";

fn ask(content: &str) -> Vec<u8> {
    body(&format!("<Ask xmlns='urn:groups'>{ID}{content}</Ask>"))
}

fn answer(content: &str) -> Vec<u8> {
    body(&format!("<AskResponse xmlns='urn:groups'>{content}</AskResponse>"))
}

#[test]
fn every_branch() {
    let choice = |content: &str| round_trip::<Ask>(&ask(content), Use::Literal).choice;
    let from = |content: &str| match choice(&format!("<from>2026-01-02</from>{content}")) {
        AskChoice::From(AskFrom { choice_2, .. }) => choice_2,
        other => panic!("{other:?}"),
    };
    assert_eq!(from(""), None);
    assert_eq!(from("<days>3</days>"), Some(AskChoice2::Days(AskDays { days: 3, hours: None })));
    assert_eq!(from("<days>3</days><hours>4</hours>"), Some(AskChoice2::Days(AskDays { days: 3, hours: Some(4) })));
    assert!(matches!(from("<to>2026-01-03</to>"), Some(AskChoice2::To(_))));
    assert_eq!(choice("<number>1</number><number>2</number>"), AskChoice::Number(vec![1, 2]));
    let AskChoice::Name(named) = choice("<name>n</name><alias>a</alias><alias>b</alias>") else { panic!("no name") };
    assert_eq!((&*named.name, named.alias.len()), ("n", 2));
    let pair = round_trip::<Ask>(&ask("<number>1</number><key>k</key><value>v</value><note>x</note>"), Use::Literal);
    assert!(matches!(pair.choice_3, Some(AskChoice3::Key(_))), "{pair:?}");
    let measure = round_trip::<Ask>(&ask("<number>1</number><value>v</value><unit>u</unit>"), Use::Literal);
    assert!(matches!(measure.choice_3, Some(AskChoice3::Value(_))), "{measure:?}");
}

#[test]
fn a_type_that_holds_itself_and_a_repeated_sequence() {
    let good = "<Success><left><leaf>1</leaf></left><right><leaf>2</leaf></right></Success><Warning/><X>x</X><Y>y</Y><X>z</X><Y/>";
    let AskResponse { choice: AskResponseChoice::Success(good) } = round_trip(&answer(good), Use::Literal) else {
        panic!("no success")
    };
    let pairs: Vec<_> = good.sequence_2.iter().map(|pair| (&*pair.x, &*pair.y)).collect();
    assert_eq!((pairs, good.warning.as_deref()), (vec![("x", "y"), ("z", "")], Some("")));
    let bad: AskResponse = round_trip(&answer("<Errors>e</Errors>"), Use::Literal);
    assert_eq!(bad.choice, AskResponseChoice::Errors("e".to_owned()));
}

#[test]
fn lists_have_as_many_elements_as_they_may() {
    let pick = |content: &str| body(&format!("<Pick xmlns='urn:groups'>{content}</Pick>"));
    let pairs = "<p>1</p><q>2</q><p>3</p><q>4</q>";
    let branch = "<g>1</g><h>2</h><h>3</h>";
    for (content, counts) in [
        (format!("{branch}{pairs}"), (0, 2, 0)),
        (format!("<i>1</i><i>2</i><last>3</last><last>4</last><last>5</last>{pairs}<u>1</u><v>2</v>"), (3, 2, 2)),
        (format!("{branch}{pairs}<p>5</p><q>6</q>"), (0, 3, 0)),
    ] {
        let Pick { last, sequence_2, choice_3, .. } = round_trip(&pick(&content), Use::Literal);
        assert_eq!((last.len(), sequence_2.len(), choice_3.len()), counts, "{content}");
    }
    for (content, expected) in [
        (format!("<g>1</g><h>2</h>{pairs}"), "expected <{urn:groups}h>"),
        (format!("<i>1</i>{pairs}"), "expected <{urn:groups}i>"),
        (format!("{branch}<h>4</h><h>5</h>{pairs}"), "unexpected element <{urn:groups}h>"),
        (format!("<i>1</i><i>2</i><i>3</i>{pairs}"), "unexpected element <{urn:groups}i>"),
        (format!("{branch}<last>1</last><last>2</last><last>3</last><last>4</last>{pairs}"), "<{urn:groups}last>"),
        (format!("{branch}<p>1</p><q>2</q>"), "missing element"),
        (format!("{branch}{pairs}{pairs}"), "unexpected element <{urn:groups}p>"),
        (format!("{branch}{pairs}<u>1</u><u>2</u><v>3</v>"), "unexpected element <{urn:groups}v>"),
    ] {
        let error = decode_request::<Pick>(&pick(&content)).expect_err(&content).to_string();
        assert!(error.contains(expected), "{content}: {error}");
    }
}

#[test]
fn other_than_one_branch_is_refused() {
    let refused = |message: &[u8]| match decode_request::<AskResponse>(message) {
        Ok((_, value)) => panic!("{value:?}"),
        Err(error) => error.to_string(),
    };
    let leaf = "<Success><leaf>1</leaf></Success>";
    let both = refused(&answer(&format!("{leaf}<Errors>e</Errors>")));
    assert!(both.contains("only one of <{urn:groups}Success> or <{urn:groups}Errors>"), "{both}");
    assert!(both.contains("AskResponse"), "no place: {both}");
    let none = refused(&answer(""));
    assert!(none.contains("one of <{urn:groups}Success> or <{urn:groups}Errors>"), "{none}");
    let half = refused(&answer("<Warning>w</Warning>"));
    assert!(half.contains("<{urn:groups}Success>"), "{half}");
    for content in [
        "",
        "<from>2026-01-02</from><number>1</number>",
        "<number>1</number><key>k</key>",
        "<number>1</number><unit>u</unit>",
    ] {
        assert!(decode_request::<Ask>(&ask(content)).is_err(), "{content}");
    }
}

#[test]
fn elements_that_stand_again_behind_a_group() {
    let again = |content: &str| body(&format!("<Again xmlns='urn:groups'>{content}</Again>"));
    let read = |content: &str| round_trip::<Again>(&again(content), Use::Literal);
    assert_eq!(read("<b>1</b><f>2</f>"), Again { choice: None, choice_2: None, b: 1, d: None, f: 2 });
    let AgainChoice::A(pair) = read("<a>1</a><b>2</b><b>3</b><f>4</f>").choice.expect("a and b");
    assert_eq!(pair, AgainA { a: 1, b: 2 });
    let read = read("<c>1</c><f>2</f><b>3</b><d>4</d><f>5</f>");
    let AgainChoice2::C(group) = read.choice_2.expect("c and f");
    assert_eq!((group.choice_3, group.f, read.d), (None, 2, Some(4)));
    assert!(decode_request::<Again>(&again("<a>1</a><b>2</b><f>3</f>")).is_err());

    let often = |content: &str| body(&format!("<Often xmlns='urn:groups'>{content}</Often>"));
    let read = |content: &str| round_trip::<Often>(&often(content), Use::Literal);
    // The list takes the elements after it.
    let first = read("<x>1</x><y>2</y><y>3</y><w>4</w><y>5</y>");
    assert_eq!((first.choice.len(), first.y, first.y2), (3, None, 5));
    let second = read("<x>1</x><y>2</y><y>3</y><x>4</x><z>5</z><y>6</y>");
    assert_eq!((second.choice.len(), second.y, second.y2), (4, None, 6));
}

#[test]
fn groups_that_are_repeated() {
    let log = |content: &str| body(&format!("<Log xmlns='urn:groups'>{content}</Log>"));
    let of = "<a>1</a><b>x</b><c>2026-01-02</c><a>2</a><b/><from>2026-01-02</from><until>2026-01-03</until><at>2026-01-04</at>\
              <day>1</day><day>2</day><hour>3</hour><minute>4</minute><minute>5</minute><second>6</second><hour>7</hour>\
              <second>8</second><remark>r</remark><x>1</x><x>2</x><x>3</x><x>4</x><y>5</y>";
    let read: Log = round_trip(&log(of), Use::Literal);
    let [LogChoice::A(first), LogChoice::C(_), LogChoice::A(last)] = &read.choice[..] else {
        panic!("{:?}", read.choice)
    };
    assert_eq!((first.a, &*first.b, last.a, &*last.b), (1, "x", 2, ""));
    assert!(matches!(&read.choice_2[..], [LogChoice2::From(_), LogChoice2::At(_)]), "{:?}", read.choice_2);
    let days = read.sequence_3.iter();
    let days: Vec<_> = days.map(|day| (day.day, day.sequence_4.len(), day.remark.as_deref())).collect();
    assert_eq!(days, [(1, 0, None), (2, 2, Some("r"))]);
    assert_eq!(read.sequence_3[1].sequence_4[0].minute, [4, 5]);
    assert_eq!(read.choice_5.len(), 5);
    for (wrong, expected) in [
        ("<a>1</a>", "missing element <{urn:groups}b>"),
        ("<a>1</a><a>2</a><b/>", "expected <{urn:groups}b>"),
        ("<b/>", "expected <{urn:groups}a>"),
        ("<from>2026-01-02</from><at>2026-01-04</at>", "expected <{urn:groups}until>"),
        ("<day>1</day><minute>4</minute>", "expected <{urn:groups}hour>"),
    ] {
        let error = decode_request::<Log>(&log(wrong)).expect_err(wrong).to_string();
        assert!(error.contains(expected), "{wrong}: {error}");
    }
}
