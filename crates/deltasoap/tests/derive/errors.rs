//! Locations of faults: paths and offsets.

use crate::support::decode;
use deltasoap::Soap;
use deltasoap::engine::ErrorKind;

#[derive(Debug, PartialEq, Soap)]
struct Order {
    #[soap(attribute)]
    id: i32,
    item: Vec<Item>,
}

#[derive(Debug, PartialEq, Soap)]
struct Item {
    sku: String,
    count: u8,
}

#[test]
fn a_fault_names_its_path_and_its_byte() {
    let xml = "<r id='1'><item><sku>a</sku><count>1</count></item><item><sku>b</sku><count>256</count></item></r>";
    let error = decode::<Order>(xml).expect_err("256 is no byte");
    assert_eq!(error.path(), "/r/item[2]/count");
    assert_eq!(error.offset() as usize, xml.find("256").expect("there"));
    assert!(matches!(error.kind(), ErrorKind::Lexical(_)));
}

#[test]
fn a_missing_attribute_is_found_at_the_start_tag() {
    let error = decode::<Order>("<r ><item/></r>").expect_err("no id");
    assert_eq!((error.offset(), error.path()), (0, "/r"));
    assert_eq!(error.kind(), &ErrorKind::MissingAttribute { expected: "id".to_owned() });
}

#[test]
fn a_missing_element_is_found_at_the_end_tag() {
    let xml = "<r id='1'><item><sku>a</sku></item></r>";
    let error = decode::<Order>(xml).expect_err("no count");
    assert_eq!(error.offset() as usize, xml.find("</item>").expect("there"));
    assert_eq!(error.path(), "/r/item[1]");
}
