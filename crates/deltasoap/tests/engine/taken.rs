//! Items that are taken while their message arrives: the same items, and the same errors, as when
//! the message is read whole. Each message is also read as dynamic values, whose list is found by
//! the schema.

use deltasoap::engine::decode::{Cursor, Decoder, ElementRoot, Root, Step, take_finished};
use deltasoap::engine::{Content, DecodeOptions, ErrorKind, Limits, Tolerance, Typed};
use deltasoap::schema::{Builtin, ComplexElement, Compositor, Element, Field, QName, Schema, SimpleElement, View};
use deltasoap::types::{Batch, FromList, ListPath, ListPathError, MultiArray, Node, Shared, Value};
use deltasoap::{Error, Soap, SoapArray};
use proptest::prelude::*;
use std::fmt::Debug;

types! {
    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Levels {
        station: String,
        level: Vec<f64>,
        note: Option<String>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Row {
        #[soap(attribute)]
        id: Option<i32>,
        name: String,
        value: Option<f64>,
        tag: Vec<String>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Page {
        number: i32,
        table: Table,
        last: bool,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Table {
        row: Vec<Row>,
        total: i64,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Numbers {
        numbers: SoapArray<i32>,
        text: String,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Matrix {
        row: SoapArray<SoapArray<i32>>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(all)]
    struct Two {
        one: Vec<i32>,
        other: Vec<i32>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Trees {
        tree: Vec<Node>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Flat {
        id: i32,
        value: f64,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Plain {
        row: Vec<Flat>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Nested {
        item: Vec<i32>,
        inner: Option<Box<Nested>>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Linked {
        node: Shared<Plain>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Grid {
        cell: MultiArray<i32, 2>,
    }
}

#[derive(Debug, Clone, PartialEq, Soap)]
enum Event {
    #[soap(name = "up")]
    Up(i32),
    #[soap(name = "down")]
    Down(String),
}

#[derive(Debug, Clone, PartialEq, Soap)]
struct Events {
    source: String,
    #[soap(inline)]
    event: Vec<Event>,
}

/// An element whose items are taken.
struct Taken<M>(ElementRoot<'static, M>);

impl<M: Content> Root for Taken<M> {
    fn decode(&mut self, cursor: &mut Cursor<'_>) -> Step {
        cursor.stream_items();
        self.0.decode(cursor)
    }
}

/// Returns the taken items, and the rest of the value at the end.
fn read_taken<M: Typed, T>(
    mut decoder: Decoder,
    chunks: &[&[u8]],
    list: fn(&mut M) -> &mut Vec<T>,
) -> Result<(Vec<T>, M), Error> {
    let (mut root, mut items) = (Taken(ElementRoot::<M>::new(M::view())), Vec::new());
    for chunk in chunks {
        decoder.push(&mut root, chunk)?;
        items.extend(take_finished(list(&mut root.0.value)));
        assert!(list(&mut root.0.value).len() <= 1);
        decoder.restart_limits();
    }
    decoder.finish(&mut root)?;
    items.append(list(&mut root.0.value));
    Ok((items, root.0.value))
}

fn read_whole<M: Typed, T>(
    mut decoder: Decoder,
    message: &[u8],
    list: fn(&mut M) -> &mut Vec<T>,
) -> Result<(Vec<T>, M), Error> {
    let mut root = ElementRoot::<M>::new(M::view());
    decoder.decode(&mut root, message)?;
    Ok((std::mem::take(list(&mut root.value)), root.value))
}

/// Splits the message into pieces of these lengths, repeatedly.
fn pieces<'m>(message: &'m [u8], lengths: &[usize]) -> Vec<&'m [u8]> {
    let (mut rest, mut all) = (message, Vec::new());
    for length in lengths.iter().cycle() {
        let (piece, more) = rest.split_at(rest.len().min(*length));
        all.push(piece);
        rest = more;
        if rest.is_empty() {
            return all;
        }
    }
    vec![message]
}

#[track_caller]
fn check<M: Typed + Debug + PartialEq, T: Debug + PartialEq>(
    xml: &str,
    lengths: &[usize],
    list: fn(&mut M) -> &mut Vec<T>,
) -> Result<(Vec<T>, M), Error> {
    for tolerance in [Tolerance::Strict, Tolerance::Unknown, Tolerance::AnyOrder] {
        let options = DecodeOptions { tolerance, ..DecodeOptions::default() };
        let whole = read_whole(Decoder::new(options), xml.as_bytes(), list);
        for decoder in [Decoder::new(options), Decoder::without_shortcuts(options)] {
            let taken = read_taken(decoder, &pieces(xml.as_bytes(), lengths), list);
            assert_eq!(taken, whole, "{tolerance:?} {lengths:?} {xml}");
        }
        check_values(xml, lengths, M::view(), options);
    }
    read_whole(Decoder::new(DecodeOptions::default()), xml.as_bytes(), list)
}

/// Returns the taken items of the only list, and the rest of the value at the end.
fn values_taken<T: FromList>(
    mut decoder: Decoder,
    chunks: &[&[u8]],
    view: View<'static>,
) -> Result<(Vec<T>, Value), Error> {
    let list = ListPath::only(view).expect("one list");
    let (mut root, mut items) = (Taken(ElementRoot::<Value>::new(view)), Vec::new());
    for chunk in chunks {
        decoder.push(&mut root, chunk)?;
        items.extend(list.take_finished::<T>(&mut root.0.value, view));
        assert!(list.take_finished::<T>(&mut root.0.value, view).is_empty());
        decoder.restart_limits();
    }
    decoder.finish(&mut root)?;
    items.extend(list.take_all::<T>(&mut root.0.value, view));
    Ok((items, root.0.value))
}

#[track_caller]
fn check_values(xml: &str, lengths: &[usize], view: View<'static>, options: DecodeOptions) {
    let list = ListPath::only(view).expect("one list");
    let mut root = ElementRoot::<Value>::new(view);
    let whole = Decoder::new(options).decode(&mut root, xml.as_bytes()).map(|()| {
        let items: Vec<Value> = list.take_all(&mut root.value, view);
        (items, root.value)
    });
    let chunks = pieces(xml.as_bytes(), lengths);
    for decoder in [Decoder::new, Decoder::without_shortcuts] {
        let taken = values_taken::<Value>(decoder(options), &chunks, view);
        assert_eq!(taken, whole, "{options:?} {lengths:?} {xml}");
        let batches = values_taken::<Batch>(decoder(options), &chunks, view);
        let taken = batches.map(|(all, left)| (all.into_iter().flat_map(Batch::into_values).collect::<Vec<_>>(), left));
        assert_eq!(taken, whole, "{options:?} {lengths:?} {xml}");
    }
}

fn levels(count: usize) -> String {
    let items: String = (0..count).map(|n| format!("<level>{}</level>", n as f64 / 8.0)).collect();
    format!("<r><station>north</station>{items}<note>end</note></r>")
}

fn page(count: usize) -> String {
    let row = |n: usize| {
        let id = if n.is_multiple_of(3) { format!(" id=\"{n}\"") } else { String::new() };
        let value = if n.is_multiple_of(2) { format!("<value>{n}.5</value>") } else { String::new() };
        let tags: String = (0..n % 4).map(|tag| format!("<tag>t{tag}</tag>")).collect();
        format!("<row{id}><name>row {n}</name>{value}{tags}</row>")
    };
    let rows: String = (0..count).map(row).collect();
    format!("<r><number>7</number><table>{rows}<total>{count}</total></table><last>true</last></r>")
}

fn numbers(count: usize) -> String {
    let items: String = (0..count).map(|n| format!("<item>{}</item>", n * n)).collect();
    format!("<r><numbers>{items}</numbers><text>t</text></r>")
}

fn events(count: usize) -> String {
    let event = |n: usize| if n.is_multiple_of(3) { format!("<down>d{n}</down>") } else { format!("<up>{n}</up>") };
    format!("<r><source>s</source>{}</r>", (0..count).map(event).collect::<String>())
}

#[test]
fn items_are_the_same_in_pieces_of_any_length() {
    for count in [0, 1, 2, 3, 50] {
        for lengths in [&[1][..], &[2], &[7, 1], &[64], &[1000, 3]] {
            let (items, left) = check(&levels(count), lengths, |it: &mut Levels| &mut it.level).expect("valid");
            assert_eq!((items.len(), left.note.as_deref()), (count, Some("end")));
            let (items, left) = check(&page(count), lengths, |it: &mut Page| &mut it.table.row).expect("valid");
            assert_eq!((items.len(), left.table.total, left.last), (count, count as i64, true));
            let (items, left) = check(&numbers(count), lengths, |it: &mut Numbers| &mut it.numbers.0).expect("valid");
            assert_eq!((items.len(), left.text.as_str()), (count, "t"));
            let (items, _) = check(&events(count), lengths, |it: &mut Events| &mut it.event).expect("valid");
            assert_eq!(items.len(), count);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Also for documents with one invalid byte: the same error at the same position.
    #[test]
    fn errors_are_the_same(
        count in 0_usize..30, lengths in prop::collection::vec(1_usize..90, 1..6), place: prop::sample::Index, byte in 32_u8..127
    ) {
        for spoils in [false, true] {
            let spoilt = |xml: String| {
                let mut bytes = xml.into_bytes();
                if spoils {
                    let place = place.index(bytes.len());
                    bytes[place] = byte;
                }
                String::from_utf8(bytes).expect("ASCII")
            };
            let _ = check(&spoilt(levels(count)), &lengths, |it: &mut Levels| &mut it.level);
            let _ = check(&spoilt(page(count)), &lengths, |it: &mut Page| &mut it.table.row);
            let _ = check(&spoilt(numbers(count)), &lengths, |it: &mut Numbers| &mut it.numbers.0);
            let _ = check(&spoilt(events(count)), &lengths, |it: &mut Events| &mut it.event);
        }
    }
}

/// Plain items come in columns and tables, also those around a nil item.
#[test]
fn batches_are_columns_where_they_can_be() {
    let rows: String = (0..100).map(|n| format!("<row><id>{n}</id><value>{n}.5</value></row>")).collect();
    let plain = format!("<r>{rows}</r>");
    let nil = "xmlns:i='http://www.w3.org/2001/XMLSchema-instance'";
    let with_nil = format!("<r {nil}><row i:nil='true'/>{rows}<row><id>7</id><value i:nil='1'/></row>{rows}</r>");
    for (xml, count, others) in [(plain, 100, 0), (with_nil, 202, 2)] {
        for lengths in [&[1][..], &[40], &[700, 3]] {
            check_values(&xml, lengths, Plain::view(), DecodeOptions::default());
            let chunks = pieces(xml.as_bytes(), lengths);
            let decoder = Decoder::new(DecodeOptions::default());
            let (batches, _) = values_taken::<Batch>(decoder, &chunks, Plain::view()).expect("valid");
            assert_eq!(batches.iter().map(Batch::len).sum::<usize>(), count);
            let values = batches.iter().filter(|batch| !matches!(batch, Batch::Table(_))).count();
            assert!(values <= others && batches.iter().all(|batch| !batch.is_empty()), "{values} {lengths:?}");
        }
    }
    let xml = levels(1000);
    let decoder = Decoder::new(DecodeOptions::default());
    let (batches, _) = values_taken::<Batch>(decoder, &pieces(xml.as_bytes(), &[300]), Levels::view()).expect("valid");
    assert!(batches.len() > 10 && batches.iter().all(|batch| matches!(batch, Batch::Column(_))));
    // Arrays hold values; a batch of them is still a column.
    let xml = numbers(100);
    let decoder = Decoder::new(DecodeOptions::default());
    let (batches, _) = values_taken::<Batch>(decoder, &pieces(xml.as_bytes(), &[300]), Numbers::view()).expect("valid");
    assert!(batches.iter().all(|batch| matches!(batch, Batch::Column(_))), "{batches:?}");
}

#[test]
fn the_list_is_told_before_any_message() {
    assert_eq!(ListPath::only(Page::view()).expect("one").to_string(), "table/row");
    assert_eq!(ListPath::only(Events::view()).expect("one").to_string(), "$choice");
    let several = ListPathError::Several(vec!["one".to_owned(), "other".to_owned()]);
    assert_eq!(ListPath::only(Two::view()), Err(several));
    assert_eq!(ListPath::find(Two::view(), "other").expect("named").item().name.local, "other");
    assert_eq!(ListPath::only(Flat::view()), Err(ListPathError::NoList));
    // A type that contains itself has a list at each level.
    let several = ListPathError::Several(vec!["item".to_owned()]);
    assert_eq!(ListPath::only(Nested::view()), Err(several));
    assert_eq!(ListPath::find(Nested::view(), "inner/inner/item").expect("named").to_string(), "inner/inner/item");
    let error = |path| ListPath::find(Page::view(), path).expect_err("no list");
    let fields = ["row", "total"].map(str::to_owned).to_vec();
    assert_eq!(error("table/none"), ListPathError::NoField { name: "none".to_owned(), fields });
    assert_eq!(error("table"), ListPathError::NoRepetition("table".to_owned()));
    assert_eq!(error("number/x"), ListPathError::NoField { name: "x".to_owned(), fields: Vec::new() });
    assert_eq!(error("table/row/tag"), ListPathError::WithinItems("table/row".to_owned()));
    assert_eq!(ListPath::find(Events::view(), "/$choice").expect("named").to_string(), "$choice");
    let error = ListPath::find(Linked::view(), "node/item").expect_err("shared");
    assert_eq!(error, ListPathError::Shared("node".to_owned()));
    let error = ListPath::find(Grid::view(), "cell").expect_err("two dimensions");
    assert_eq!(error, ListPathError::Dimensions("cell".to_owned()));
}

/// Lists can be found by the names in errors, and by the lists' own names.
#[test]
fn lists_of_one_name_are_told_apart() {
    let mut schema = Schema::new();
    let complex = |name, compositor, fields: Vec<Field>| {
        Element::Complex(ComplexElement {
            name: QName::new("", name),
            compositor,
            fields: fields.into(),
            attributes: Vec::new().into(),
            text: None,
            open: false,
            any_attribute: false,
            choices: Vec::new().into(),
        })
    };
    let list = |name, element, inline| Field { name, element, min: 0, max: None, nillable: false, inline };
    let simple = SimpleElement {
        name: Builtin::Int.name(),
        base: Builtin::Int,
        enumeration: Vec::new().into(),
        default: None,
        packed: None,
    };
    let int = schema.add(Element::Simple(simple));
    let up =
        |name| complex("", Compositor::Choice, vec![Field { max: Some(1), ..list(QName::new("", name), int, false) }]);
    let choices = [schema.add(up("up")), schema.add(up("down"))];
    let items = ["urn:a", "urn:b", "", ""].map(|namespace| list(QName::new(namespace, "item"), int, false));
    let between = Field { max: Some(1), ..list(QName::new("", "between"), int, false) };
    let first = list(QName::new("", "up"), choices[0], true);
    let second = list(QName::new("", "down"), choices[1], true);
    let fields = [first, between, second].into_iter().chain(items).collect();
    let twice = schema.add(complex("Twice", Compositor::Sequence, fields));
    let view = schema.view(twice);
    let names = ["$choice", "$choice#2", "{urn:a}item", "{urn:b}item", "{}item#1", "{}item#2"].map(str::to_owned);
    assert_eq!(ListPath::only(view), Err(ListPathError::Several(names.to_vec())));
    let mut lists = Vec::new();
    for name in &names {
        let list = ListPath::find(view, name).expect("a list");
        assert_eq!(list.to_string(), *name);
        assert!(!lists.contains(&list), "{name}");
        lists.push(list);
    }
    assert_eq!(&*lists[3].item().name.namespace, "urn:b");
    let several = |names: &[String]| Err(ListPathError::Several(names.to_vec()));
    assert_eq!(ListPath::find(view, "item"), several(&names[2..]));
    assert_eq!(ListPath::find(view, "{}item"), several(&names[4..]));
    assert_eq!(ListPath::find(view, "down").as_ref(), Ok(&lists[1]));
    for unknown in ["$choice#3", "$choice#0", "{urn:c}item", "between#2"] {
        let error = ListPath::find(view, unknown).expect_err("no such field");
        assert!(matches!(error, ListPathError::NoField { .. }), "{unknown}: {error}");
    }
}

/// The lists in items remain complete when the items around them are taken.
#[test]
fn a_list_that_is_taken_twice_deep() {
    let rows: String = (0..40).map(|n| format!("<row><name>n</name><tag>{n}</tag><tag>{n}</tag></row>")).collect();
    let xml = format!("<r>{rows}<total>1</total></r>");
    let (items, _) = check(&xml, &[5], |it: &mut Table| &mut it.row).expect("valid");
    assert!(items.iter().enumerate().all(|(n, row)| row.tag == vec![n.to_string(); 2]));
}

/// The position of an item among others is unknown when these are gone.
#[test]
fn arrays_with_positions_are_refused() {
    let soapenc = "xmlns:e='http://schemas.xmlsoap.org/soap/encoding/'";
    let documents = [
        format!("<r {soapenc}><numbers e:offset='[2]'><item>1</item></numbers><text/></r>"),
        format!("<r {soapenc}><numbers><item>0</item><item e:position='[7]'>1</item></numbers><text/></r>"),
    ];
    for (xml, path) in documents.iter().zip(["/r/numbers", "/r/numbers/item[2]"]) {
        let chunks = [xml.as_bytes()];
        let error = read_taken(Decoder::new(DecodeOptions::default()), &chunks, |it: &mut Numbers| &mut it.numbers.0)
            .expect_err("positions");
        assert!(matches!(error.kind(), ErrorKind::UnexpectedValue { .. }), "{error}");
        assert_eq!(error.path(), path);
        let error = values_taken::<Value>(Decoder::new(DecodeOptions::default()), &chunks, Numbers::view());
        assert_eq!(error.expect_err("positions").path(), path);
        read_whole(Decoder::new(DecodeOptions::default()), xml.as_bytes(), |it: &mut Numbers| &mut it.numbers.0)
            .expect("positions are read in whole messages");
    }
}

/// A limit bounds what is held, not what was taken.
#[test]
fn limits_count_from_what_was_taken() {
    let limits = Limits { message: 500, tree_nodes: 20, ..Limits::default() };
    let decoder = || Decoder::new(DecodeOptions { limits, ..DecodeOptions::default() });
    let xml = levels(1000);
    let (items, _) =
        read_taken(decoder(), &pieces(xml.as_bytes(), &[100]), |it: &mut Levels| &mut it.level).expect("in bounds");
    assert_eq!(items.len(), 1000);
    let whole = read_whole(decoder(), xml.as_bytes(), |it: &mut Levels| &mut it.level).expect_err("too long");
    assert_eq!(
        whole.to_string(),
        read_taken(decoder(), &[xml.as_bytes()], |it: &mut Levels| &mut it.level)
            .expect_err("in one piece")
            .to_string()
    );
    let trees: String = (0..300).map(|n| format!("<tree><a>{n}</a><b/></tree>")).collect();
    let xml = format!("<r>{trees}</r>");
    let (items, _) =
        read_taken(decoder(), &pieces(xml.as_bytes(), &[60]), |it: &mut Trees| &mut it.tree).expect("in bounds");
    assert_eq!(items.len(), 300);
}

/// Names are kept to the end of a message, so the limits also count a message with many names.
#[test]
fn new_names_are_bounded() {
    let limits = Limits { message: 15_000, ..Limits::default() };
    let options = DecodeOptions { limits, ..DecodeOptions::default() };
    let kinds = [
        "<tree><eN/></tree>",
        "<tree aN=''/>",
        "<tree xmlns:pN='u'/>",
        "<tree xmlns:p='uN'/>",
        "<tree><e xmlns='uN'/></tree>",
    ];
    for kind in kinds {
        for decoder in [Decoder::new, Decoder::without_shortcuts] {
            let read = |count: usize| {
                let trees: String = (0..count).map(|n| kind.replace('N', &format!("{n:05}"))).collect();
                let xml = format!("<r>{trees}</r>");
                assert!(xml.len() as u64 > limits.message);
                read_taken(decoder(options), &pieces(xml.as_bytes(), &[1000]), |it: &mut Trees| &mut it.tree)
            };
            assert_eq!(read(1100).expect("few names").0.len(), 1100, "{kind}");
            let error = read(10_000).expect_err("many names");
            assert!(error.to_string().contains("`message`"), "{kind}: {error}");
        }
    }
}

/// Rows of a matrix that arrives as one array, and as separate arrays.
#[test]
fn rows_are_taken_in_either_form() {
    let attributes =
        |size| format!("xmlns:e='http://schemas.xmlsoap.org/soap/encoding/' xmlns:x='x' e:arrayType='x:int[{size}]'");
    let items: String = (0..60).map(|n| format!("<i>{n}</i>")).collect();
    let rows: String = (0..20).map(|n| format!("<r><i>{}</i><i>1</i><i>2</i></r>", 3 * n)).collect();
    for (size, content) in [("20,3", items), ("][20", rows)] {
        let xml = format!("<r><row {}>{content}</row></r>", attributes(size));
        for lengths in [&[1][..], &[30], &[7, 100]] {
            let (rows, _) = check(&xml, lengths, |it: &mut Matrix| &mut it.row.0).expect("valid");
            assert!(rows.len() == 20 && rows.iter().all(|row| row.len() == 3), "{rows:?}");
        }
    }
}

/// The items of another list are held, however many items of the first are taken.
#[test]
fn lists_that_grow_by_turns_are_bounded() {
    let limits = Limits { message: 2000, ..Limits::default() };
    let decoder = || Decoder::new(DecodeOptions { limits, ..DecodeOptions::default() });
    let turns: String = (0..1000).map(|_| "<one>1</one><one>2</one><other>3</other>").collect();
    let xml = format!("<r>{turns}</r>");
    let read = |xml: &str| read_taken(decoder(), &pieces(xml.as_bytes(), &[50]), |it: &mut Two| &mut it.one);
    let error = read(&xml).expect_err("too much is held");
    assert!(error.to_string().contains("message"), "{error}");
    let one: String = (0..1000).map(|n| format!("<one>{n}</one>")).collect();
    let (items, left) =
        read(&format!("<r><other>1</other>{one}<other>2</other></r>")).expect("hardly anything is held");
    assert_eq!((items.len(), left.other.len()), (1000, 2));
}
