//! Arrays whose items have explicit positions, arrays of several dimensions, and arrays of arrays.

use crate::support::{decode, decode_next, envelope, latin1};
use deltasoap::engine::decode::Decoder;
use deltasoap::engine::{Buffer, DecodeOptions, ErrorKind, Limits};
use deltasoap::schema::Use;
use deltasoap::soap::{Envelope, Version, decode_request};
use deltasoap::types::{AnySimple, MultiArray, Simple};
use deltasoap::{Nillable, Soap, SoapArray};
use deltasoap_test_support::utf16;
use proptest::prelude::*;

#[derive(Debug, Clone, PartialEq, Default, Soap)]
#[soap(message, element = "put", namespace = "urn:g")]
struct Put {
    ints: Option<SoapArray<i32>>,
    maybe: Option<SoapArray<Nillable<i32>>>,
    matrix: Option<MultiArray<i32, 2>>,
    cube: Option<MultiArray<String, 3>>,
    rows: Option<SoapArray<SoapArray<i32>>>,
    any: Option<SoapArray<AnySimple>>,
}

#[track_caller]
fn read(content: &str) -> Result<Put, deltasoap::Error> {
    let message = envelope(&format!("<g:put xmlns:g='urn:g'>{content}</g:put>"));
    let results = [usize::MAX, 100, 1].map(|chunk| decode::<Put>(message.as_bytes(), chunk));
    let [one, two, three] = results;
    assert_eq!((&one, &one), (&two, &three));
    one
}

fn ints(attributes: &str, items: &str) -> Result<Vec<i32>, deltasoap::Error> {
    read(&format!("<ints {attributes}>{items}</ints>")).map(|put| put.ints.expect("an array").0)
}

#[test]
fn partially_transmitted() {
    let ints = ints("e:arrayType='xsd:int[5]' e:offset='[2]'", "<i>3</i><i>4</i>");
    assert_eq!(ints.expect("read"), [0, 0, 3, 4]);
}

#[test]
fn sparse() {
    let type_of = "e:arrayType='xsd:int[10]'";
    let sparse = ints(type_of, "<i>1</i><i e:position='[3]'>4</i><i>5</i><i e:position='[1]'>2</i><i>3</i>");
    assert_eq!(sparse.expect("read"), [1, 2, 3, 4, 5]);
    let put = read("<maybe e:arrayType='xsd:int[10]'><i e:position='[2]'>7</i></maybe>").expect("read");
    assert_eq!(put.maybe, Some(SoapArray(vec![Nillable::Nil, Nillable::Nil, Nillable::Value(7)])));
    for twice in ["<i>1</i><i e:position='[0]'>1</i>", "<i e:position='[2]'>1</i><i e:position='[1]'>1</i><i>1</i>"] {
        assert!(matches!(ints(type_of, twice).expect_err(twice).kind(), ErrorKind::UnexpectedValue { .. }), "{twice}");
    }
}

#[test]
fn markup_with_a_place_is_learned_for_no_other_item() {
    let array = |items: &str| format!("<item e:arrayType='xsd:int[9]'>{items}</item>");
    let rows = |rows: &[&str]| {
        let put = read(&format!("<rows>{}</rows>", rows.iter().map(|&row| array(row)).collect::<String>()))?;
        Ok::<_, deltasoap::Error>(put.rows.expect("an array").0.into_iter().map(|row| row.0).collect::<Vec<_>>())
    };
    let at = |place: usize, value: i32| format!("<i e:position='[{place}]'>{value}</i>");
    assert_eq!(rows(&[&at(2, 5), &at(2, 6)]).expect("read"), [[0, 0, 5], [0, 0, 6]]);
    assert_eq!(rows(&[&at(1, 5), &(at(0, 6) + &at(1, 7))]).expect("read"), [[0, 5], [6, 7]]);
    let plain = "<i>1</i><i>2</i>";
    assert_eq!(rows(&[plain, &at(1, 5), plain, &at(1, 6)]).expect("read"), [[1, 2], [0, 5], [1, 2], [0, 6]]);
    let twice = rows(&[&(at(2, 5) + &at(2, 6))]).expect_err("the same place twice");
    assert!(matches!(twice.kind(), ErrorKind::UnexpectedValue { .. }), "{twice}");
}

/// In the second row the first item is read by known markup.
#[test]
fn paths_of_errors_count_items_however_they_were_read() {
    let row = |items: &str| format!("<item e:arrayType='xsd:int[9]'>{items}</item>");
    for rows in [row("<i>1</i><i e:position=''>2</i>"), row("<i>1</i>") + &row("<i>1</i><i e:position=''>2</i>")] {
        let error = read(&format!("<rows>{rows}</rows>")).expect_err("no place");
        assert!(error.to_string().contains("/i[2]"), "{error}");
    }
}

#[test]
fn errors_tell_the_place_of_an_item() {
    let taken = |place: usize| format!("<i>1</i><i>2</i><i>3</i><i e:position='[{place}]'>4</i>");
    let path = |content: &str| read(content).expect_err(content).path().to_owned();
    for place in 0..3 {
        let number = place + 1;
        let of_ints = path(&format!("<ints>{}</ints>", taken(place)));
        assert!(of_ints.ends_with(&format!("put/ints/i[{number}]")), "{of_ints}");
        // The items before it have the markup of those in the first row.
        let of_rows = path(&format!("<rows><item><i>1</i></item><item>{}</item></rows>", taken(place)));
        assert!(of_rows.ends_with(&format!("put/rows/item[2]/i[{number}]")), "{of_rows}");
    }
}

#[test]
fn room_for_items_that_are_left_out_is_bounded() {
    let limit = Limits::default().omitted_items;
    assert_eq!(ints("", &format!("<i e:position='[{limit}]'>1</i>")).expect("read").len(), limit + 1);
    for (attributes, items) in [
        ("", "<i e:position='[65537]'>1</i>"),
        ("", "<i e:position='[99999999999999999999999]'>1</i>"),
        ("e:offset='[4294967296]'", ""),
    ] {
        let error = ints(attributes, items).expect_err(items);
        assert_eq!(error.kind(), &ErrorKind::Limit { name: "omitted_items", limit: limit as u64 });
    }
    let all = "<i e:position='[40000]'>1</i>";
    let error = read(&format!("<ints>{all}</ints><maybe>{all}</maybe>")).expect_err("in all");
    assert!(matches!(error.kind(), ErrorKind::Limit { name: "omitted_items", .. }));
    let error = read("<matrix e:arrayType='xsd:int[1,999999999]'><i>1</i></matrix>").expect_err("a row");
    assert!(matches!(error.kind(), ErrorKind::Limit { name: "omitted_items", .. }));
}

#[test]
fn several_dimensions() {
    let items = "<i>1</i><i>2</i><i>3</i><i>4</i><i>5</i>";
    for size in ["e:arrayType='xsd:int[2,3]'", "e:arrayType='xsd:int[9,3]'", "e:arrayType='xsd:int[,3]'"] {
        let put = read(&format!("<matrix {size}>{items}</matrix>")).expect(size);
        assert_eq!(put.matrix, MultiArray::new([2, 3], vec![1, 2, 3, 4, 5, 0]), "{size}");
    }
    let put = read("<matrix e:arrayType='xsd:int[3,2]' e:offset='[1,0]'><i>1</i><i e:position='[2,1]'>2</i></matrix>");
    assert_eq!(put.expect("read").matrix, MultiArray::new([3, 2], vec![0, 0, 1, 0, 0, 2]));
    let put = read("<matrix e:arrayType='xsd:int[4,0]'/>").expect("rows without items");
    assert_eq!(put.matrix, MultiArray::new([4, 0], Vec::new()));
    for bad in ["xsd:int[2,]", "xsd:int[2,3"] {
        let error = read(&format!("<matrix e:arrayType='{bad}'>{items}</matrix>")).expect_err(bad);
        assert!(matches!(error.kind(), ErrorKind::ArrayType(_)), "{bad}: {error}");
    }
    let error = read(&format!("<matrix e:arrayType='xsd:int[2,0]'>{items}</matrix>")).expect_err("rows of size 0");
    assert!(error.to_string().starts_with("the array has items, but its rows have size 0"), "{error}");
    let size = "xmlns:f='http://www.w3.org/2003/05/soap-encoding' f:arraySize='2 *'";
    let error = read(&format!("<matrix {size}>{items}</matrix>")).expect_err("the last size is not known");
    assert!(error.to_string().contains("malformed arraySize \"2 *\", expected sizes"), "{error}");
}

/// Axis and others write matrices as arrays of arrays.
#[test]
fn arrays_of_another_form_are_reported() {
    let said = |content: &str| {
        let message = envelope(&format!("<g:put xmlns:g='urn:g'>{content}</g:put>"));
        let mut decoder = Decoder::new(DecodeOptions::default());
        decode_next::<Put>(&mut decoder, message.as_bytes(), 7, Box::default()).expect("read");
        decoder.deviations().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let row = "<r e:arrayType='xsd:int[2]'><i>1</i><i>2</i></r>";
    let name = "{http://schemas.xmlsoap.org/soap/encoding/}arrayType";
    let expected =
        |element: &str| [format!("array in a form other than declared by {name} in /Envelope/Body/put/{element}")];
    assert_eq!(said(&format!("<matrix e:arrayType='xsd:int[][2]'>{row}{row}</matrix>")), expected("matrix"));
    assert_eq!(said("<rows e:arrayType='xsd:int[1,2]'><i>1</i><i>2</i></rows>"), expected("rows"));
    assert!(said("<matrix e:arrayType='xsd:int[1,2]'><i>1</i><i>2</i></matrix>").is_empty());
    assert!(said(&format!("<rows e:arrayType='xsd:int[][1]'>{row}</rows>")).is_empty());
}

#[test]
fn matrices_as_arrays_of_arrays() {
    let row = |items: &[i32]| {
        let items: String = items.iter().map(|item| format!("<i>{item}</i>")).collect();
        format!("<r e:arrayType='xsd:int[9]'>{items}</r>")
    };
    let matrix = |of: &str, rows: &[&[i32]]| {
        let rows: String = rows.iter().map(|items| row(items)).collect();
        read(&format!("<matrix e:arrayType='{of}'>{rows}</matrix>")).map(|put| put.matrix.expect("a matrix"))
    };
    for of in ["xsd:int[][2]", "e:Array[2]", "xsd:int[][]"] {
        let expected = MultiArray::new([2, 3], vec![1, 2, 3, 4, 5, 6]).expect("a matrix");
        assert_eq!(matrix(of, &[&[1, 2, 3], &[4, 5, 6]]), Ok(expected), "{of}");
    }
    assert_eq!(matrix("xsd:int[][1]", &[&[7]]), Ok(MultiArray::new([1, 1], vec![7]).expect("a matrix")));
    for empty in [&[][..], &[&[][..]], &[&[][..], &[]]] {
        let expected = MultiArray::new([empty.len(), 0], Vec::new()).expect("a matrix");
        assert_eq!(matrix("xsd:int[][2]", empty), Ok(expected), "{empty:?}");
    }
    for ragged in [&[&[1, 2][..], &[3]], &[&[][..], &[3]], &[&[1][..], &[2, 3]]] {
        let error = matrix("xsd:int[][2]", ragged).expect_err("rows of different lengths");
        let text = error.to_string();
        assert!(text.contains("[][]") && text.contains("[,]") && text.contains("different lengths"), "{text}");
    }
    let cube = |of: &str, content: &str| {
        read(&format!("<cube e:arrayType='{of}'>{content}</cube>")).map(|put| put.cube.expect("a cube"))
    };
    let text = |items: &str| -> String { items.chars().map(|item| format!("<i>{item}</i>")).collect() };
    let rows = |of: &str, rows: &[&str]| -> String {
        rows.iter().map(|items| format!("<r e:arrayType='{of}'>{}</r>", text(items))).collect()
    };
    let expected = || {
        let items = "abcdefgh".chars().map(String::from).collect();
        MultiArray::new([2, 2, 2], items).expect("a cube")
    };
    let nested = [&["ab", "cd"][..], &["ef", "gh"]]
        .map(|it| format!("<p e:arrayType='xsd:string[][2]'>{}</p>", rows("xsd:string[2]", it)));
    assert_eq!(cube("xsd:string[][][2]", &nested.concat()), Ok(expected()));
    assert_eq!(cube("xsd:string[,][2]", &rows("xsd:string[2,2]", &["abcd", "efgh"])), Ok(expected()));
    assert_eq!(cube("xsd:string[][2,2]", &rows("xsd:string[2]", &["ab", "cd", "ef", "gh"])), Ok(expected()));
    for (of, bad) in [
        ("xsd:string[,][2]", rows("xsd:string[2,2]", &["abcd", "efg"])),
        ("xsd:string[,][2]", rows("xsd:string[2,2]", &["abcd"]) + &rows("xsd:string[1,4]", &["efgh"])),
        ("xsd:string[][2,2]", rows("xsd:string[2]", &["ab", "cd", "ef"])),
        ("xsd:string[][2,2]", rows("xsd:string[1,2]", &["ab", "cd", "ef", "gh"])),
        ("xsd:string[][2,0]", rows("xsd:string[2]", &["ab"])),
    ] {
        let error = cube(of, &bad).expect_err(of);
        assert!(matches!(error.kind(), ErrorKind::ArrayForm { .. }), "{of}: {error}");
    }
}

#[test]
fn arrays_of_arrays_as_matrices() {
    let items = |count: i32| (1..=count).map(|item| format!("<i>{item}</i>")).collect::<String>();
    let rows = |of: &str, count: i32| {
        let put = read(&format!("<rows e:arrayType='{of}'>{}</rows>", items(count)))?;
        Ok::<_, deltasoap::Error>(put.rows.expect("an array").0.into_iter().map(|row| row.0).collect::<Vec<_>>())
    };
    assert_eq!(rows("xsd:int[2,3]", 6), Ok(vec![vec![1, 2, 3], vec![4, 5, 6]]));
    assert_eq!(rows("xsd:int[,1]", 2), Ok(vec![vec![1], vec![2]]));
    assert_eq!(rows("xsd:int[2,3]", 0), Ok(vec![]));
    for (of, count) in [("xsd:int[2,3]", 5), ("xsd:int[2,0]", 1), ("xsd:int[1,2,3]", 6)] {
        let error = rows(of, count).expect_err(of).to_string();
        assert!(error.contains("[,") && error.contains("[][]"), "{of}: {error}");
    }
    assert!(matches!(rows("xsd:int[2,]", 2).expect_err("no row's length").kind(), ErrorKind::ArrayType(_)));
}

/// Rows that are elsewhere, and invalid forms.
#[test]
fn other_forms_with_references_and_places() {
    let rows = "<g:put xmlns:g='urn:g'><matrix e:arrayType='xsd:int[][2]'><r href='#a'/><r href='#a'/></matrix></g:put>\
        <multiRef id='a' e:arrayType='xsd:int[2]'><i href='#b'/><i>2</i></multiRef><multiRef id='b'>1</multiRef>";
    let put = decode::<Put>(envelope(rows).as_bytes(), 1).expect("read");
    assert_eq!(put.matrix, MultiArray::new([2, 2], vec![1, 2, 1, 2]));
    let rows = "<g:put xmlns:g='urn:g'><rows e:arrayType='xsd:int[2,2]'><i href='#b'/><i>2</i><i>3</i><i href='#b'/></rows>\
        </g:put><multiRef id='b'>1</multiRef>";
    let put = decode::<Put>(envelope(rows).as_bytes(), 1).expect("read");
    assert_eq!(put.rows, Some(SoapArray(vec![vec![1, 2].into(), vec![3, 1].into()])));
    for bad in [
        "<matrix e:arrayType='xsd:int[6]'><i>1</i></matrix>",
        "<matrix e:arrayType='xsd:int[][2]' e:offset='[1]'><r e:arrayType='xsd:int[1]'><i>1</i></r></matrix>",
        "<matrix e:arrayType='xsd:int[][2]'><r e:arrayType='xsd:int[1]' e:position='[1]'><i>1</i></r></matrix>",
        "<matrix e:arrayType='xsd:int[][2]'><r e:arrayType='xsd:int[1]'><i e:position='[0]'>1</i></r></matrix>",
        "<matrix e:arrayType='xsd:int[1,2,3]'/>",
        "<rows e:arrayType='xsd:int[2,2]' e:offset='[1,0]'/>",
        "<rows e:arrayType='xsd:int[2,2]'><i e:position='[0,0]'>1</i></rows>",
        "<ints e:arrayType='xsd:int[2,2]'><i>1</i></ints>",
    ] {
        let error = read(bad).expect_err(bad);
        assert!(matches!(error.kind(), ErrorKind::ArrayForm { .. }), "{bad}: {error}");
    }
    let error = read("<rows e:arrayType='xsd:int[2,2]'><i>1</i><i>2</i><i>x</i></rows>").expect_err("no number");
    assert!(error.path().ends_with("put/rows/i[3]"), "{error}");
    let error = read("<matrix e:arrayType='xsd:int[][]'><r e:arrayType='xsd:int[1]'><i>x</i></r></matrix>");
    assert!(error.expect_err("no number").path().ends_with("put/matrix/r[1]/i[1]"));
}

#[test]
fn soap_1_2_sizes() {
    let ns = "xmlns:f='http://www.w3.org/2003/05/soap-encoding'";
    for size in ["2 2", "* 2", " 7  2 "] {
        let put = read(&format!(
            "<matrix {ns} f:itemType='xsd:int' f:arraySize='{size}'><i>1</i><i>2</i><i>3</i><i>4</i></matrix>"
        ));
        assert_eq!(put.expect(size).matrix, MultiArray::new([2, 2], vec![1, 2, 3, 4]));
    }
}

#[test]
fn items_of_any_simple_type() {
    let put = read("<any e:arrayType='xsd:anyType[2]'><i xsi:type='xsd:int'>1</i><i href='#x'/></any><ints id='y'/>");
    assert!(put.is_err(), "#x is not there");
    let message = envelope(
        "<g:put xmlns:g='urn:g'><any e:arrayType='xsd:ur-type[2]'><i xsi:type='xsd:int'>1</i><i href='#x'/></any></g:put><m id='x' xsi:type='xsd:boolean'>true</m>",
    );
    let put = decode::<Put>(message.as_bytes(), 10).expect("read");
    assert_eq!(put.any, Some(SoapArray(vec![AnySimple(Simple::Int(1)), AnySimple(Simple::Boolean(true))])));
}

#[test]
fn sizes_and_items_agree() {
    assert_eq!(MultiArray::new([2, 2], vec![1, 2, 3]), None);
    assert_eq!(MultiArray::new([usize::MAX, usize::MAX], vec![1]), None);
    let matrix = MultiArray::new([2, 2], vec![1, 2, 3, 4]).expect("four");
    assert_eq!((matrix.get([1, 0]), matrix.get([0, 2]), matrix.get([2, 0])), (Some(&3), None, None));
}

fn matrices() -> impl Strategy<Value = MultiArray<i32, 2>> {
    (1..5_usize, 1..5_usize).prop_flat_map(|(rows, columns)| {
        proptest::collection::vec(any::<i32>(), rows * columns)
            .prop_map(move |items| MultiArray::new([rows, columns], items).expect("as many"))
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        matrix in matrices(),
        rows in proptest::collection::vec(proptest::collection::vec(any::<i32>(), 0..4), 0..4),
        is_12: bool,
    ) {
        let rows = rows.into_iter().map(SoapArray).collect();
        let cube = MultiArray::new([1, 2, 1], vec!["a".to_owned(), "b".to_owned()]);
        let put = Put { matrix: Some(matrix), rows: Some(rows), cube, ..Put::default() };
        let version = if is_12 { Version::Soap12 } else { Version::Soap11 };
        let envelope = Envelope::new(&put).version(version).encoding(Use::Encoded);
        let message = envelope.write(Buffer::new()).expect("writable");
        prop_assert_eq!(decode_request::<Put>(message.as_slice()).expect("valid").1, put);
    }

    /// Items with explicit positions, in any order, give the same result as items in order.
    #[test]
    fn positions_in_any_order(items in proptest::collection::vec(any::<i32>(), 1..9).prop_flat_map(|items| {
        let places: Vec<usize> = (0..items.len()).collect();
        (Just(items), Just(places).prop_shuffle())
    })) {
        let (items, places) = items;
        let one = |&place: &usize| format!("<i e:position='[{place}]'>{}</i>", items[place]);
        let text: String = places.iter().map(one).collect();
        prop_assert_eq!(ints("", &text).expect("read"), items);
    }
}

/// In UTF-16 and ISO-8859-1, a position is only known while it is in a window, or if it was marked.
#[test]
fn text_in_place_of_a_row_is_refused_at_its_tag() {
    let message = envelope("<!-- \u{e4} --><g:put xmlns:g='urn:g'><matrix e:arrayType='xsd:int[2]'><m>t");
    for message in [utf16(&message, false), latin1(&message)] {
        let whole = decode::<Put>(&message, usize::MAX).expect_err("cut off");
        assert!(matches!(whole.kind(), ErrorKind::ArrayForm { .. }), "{whole:?}");
        for chunk in [1, 2, 3, 7, message.len() - 2, message.len() - 1] {
            assert_eq!(decode::<Put>(&message, chunk), Err(whole.clone()), "{chunk}");
        }
    }
}

/// A referenced element is read when the message has ended, and its position is counted from there.
#[test]
fn a_fault_behind_a_reference_is_exact_in_a_byte_a_character() {
    let row = "<m id='r'><i>1</i><!-- \u{e4}\u{e4} --><i>|x</i></m><!-- \u{e4} -->";
    let body =
        format!("<g:put xmlns:g='urn:g'><matrix e:arrayType='xsd:int[][1]'><m href='#r'/></matrix></g:put>{row}");
    let message = envelope(&body);
    let (before, after) = message.split_once('|').expect("a mark");
    for (message, place) in [
        (latin1(&[before, after].concat()), latin1(before).len()),
        (utf16(&[before, after].concat(), false), utf16(before, false).len()),
        ([before, after].concat().into_bytes(), before.len()),
    ] {
        for chunk in [1, 7, usize::MAX] {
            let error = decode::<Put>(&message, chunk).expect_err("no number");
            assert_eq!(error.offset(), place as u64, "{error} by {chunk}");
        }
    }
}
