//! Columns: lists of simple values, stored contiguously.

use super::values::{complex, field, read, simple, write};
use deltasoap_core::schema::{Builtin, Compositor, Field, Schema};
use deltasoap_core::soap::Envelope;
use deltasoap_core::{QName, Record, Simple, Template, Templating, Value};

/// A column is written like the list that it equals, also by templates, and is read back as itself.
#[test]
fn columns_are_written_as_lists() {
    let mut schema = Schema::new();
    let bases = [Builtin::Boolean, Builtin::Byte, Builtin::Short, Builtin::Int, Builtin::Long, Builtin::UnsignedByte];
    let more = [Builtin::UnsignedShort, Builtin::UnsignedInt, Builtin::UnsignedLong, Builtin::Float, Builtin::Double];
    for base in bases.into_iter().chain(more).chain([Builtin::DateTime, Builtin::String]) {
        let text = |digit: &str| match base {
            Builtin::DateTime => format!("200{digit}-01-02T03:04:05Z"),
            Builtin::String => format!("a < {digit}"),
            _ => digit.to_owned(),
        };
        let element = simple(&mut schema, base);
        let list = schema.add(complex(Compositor::Sequence, vec![field("n", element, 0, None)], Vec::new()));
        let view = schema.view(list);
        let decl = &view.complex().expect("complex").fields[0];
        let mut template = Template::new(Templating::default());
        for (turn, texts) in
            [&["1", "0", "1"][..], &["1", "1", "1"], &["0"], &[], &["1", "0", "0", "1"]].iter().enumerate()
        {
            let item = |digit: &&str| Value::Simple(Simple::parse(base, &text(digit)).expect("valid for the type"));
            let items = texts.iter().map(item).collect();
            let record = |items| Value::Record(Box::new(Record { fields: vec![items], ..Record::default() }));
            let mut column = Value::List(items);
            let list = record(column.clone());
            column.gather(decl, view.follow(element));
            assert!(
                matches!(&column, Value::Column(column) if column.builtin() == base && column.len() == texts.len())
            );
            let column = record(column);
            assert_eq!(column, list);
            let text = write(&list, view);
            assert_eq!(write(&column, view), text);
            // One template writes both in turn.
            let send = |template: &mut Template, value: &Value| {
                let name = QName::new("", "r");
                let sent = template.encode(&Envelope::element(&name, value, view));
                sent.expect("writable").to_vec()
            };
            let alone = send(&mut Template::new(Templating::default()), &list);
            for value in if turn % 2 == 0 { [&list, &column] } else { [&column, &list] } {
                assert_eq!(send(&mut template, value), alone);
            }
            assert_eq!(read(view, &text).expect("valid"), column);
            let Value::Record(mut record) = column else { panic!("no record") };
            assert_eq!(record.fields[0].spread().map(|items| items.len()), Some(texts.len()));
            assert_eq!(Value::Record(record), list);
        }
    }
}

/// A list of other than plain values of the field's type stays as it is.
#[test]
fn other_lists_are_no_columns() {
    let mut schema = Schema::new();
    let (int, token) = (simple(&mut schema, Builtin::Int), simple(&mut schema, Builtin::Token));
    let view = |element| schema.view(element);
    let number = |number| Value::Simple(Simple::Int(number));
    let gathered = |items: Vec<Value>, decl: Field, element| {
        let mut value = Value::List(items);
        value.gather(&decl, view(element));
        matches!(value, Value::Column(_))
    };
    let many = |element| field("n", element, 0, None);
    assert!(gathered(vec![number(1), number(2)], many(int), int));
    assert!(!gathered(vec![number(1), Value::Nil], many(int), int));
    assert!(!gathered(vec![number(1), Value::Simple(Simple::Long(2))], many(int), int));
    assert!(!gathered(vec![Value::Simple(Simple::parse(Builtin::Token, "1").expect("a token"))], many(token), token));
    assert!(!gathered(vec![number(1)], Field { nillable: true, ..many(int) }, int));
    let one = field("n", int, 1, Some(1));
    assert!(!gathered(vec![number(1)], one, int));
}
