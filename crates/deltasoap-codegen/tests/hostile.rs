//! Descriptions that want to be code, or to take for ever: what they say stays names, strings and comments. What is generated for
//! `data/hostile.wsdl`, which has all of this and an operation, is among the goldens, which are compiled.

use deltasoap_codegen::Builder;
use deltasoap_wsdl::Importer;
use std::fmt::Write as _;
use std::time::{Duration, Instant};
use syn::Item;

fn generate(schema: &str) -> String {
    let text = format!(
        "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' xmlns='urn:t' targetNamespace='urn:t'>{schema}</xs:schema>"
    );
    let import = Importer::new().offline().text(&text).expect("imported");
    Builder::new("hostile").generate_for(&import).expect("generated").code
}

/// The kinds of items that are generated for a schema alone.
fn assert_only_types(code: &str) {
    let file = syn::parse_file(code).expect("Rust");
    assert!(!file.items.is_empty());
    for item in &file.items {
        assert!(matches!(item, Item::Struct(_) | Item::Enum(_) | Item::Type(_)), "{code}");
    }
}

#[test]
fn words_stay_words() {
    let words = "*/ fn evil() {} /*\n\n```\nfn evil() {}\n```\n    fn evil() {}\n//! #![evil]";
    let code = generate(&format!(
        "<xs:element name='a&quot;); fn evil() {{}} (&quot;' type='b'/>\
         <xs:complexType name='b'><xs:annotation><xs:documentation>{words}</xs:documentation></xs:annotation><xs:sequence>\
         <xs:element name='x: evil, y' type='e'/><xs:element name='self' type='xs:int'/><xs:element name='r#type' type='xs:int'/>\
         </xs:sequence></xs:complexType><xs:simpleType name='e'><xs:restriction base='xs:string'>\
         <xs:enumeration value='&quot;)] Evil, #[soap(name = &quot;'/><xs:enumeration value='{{{{'/><xs:enumeration value=''/>\
         </xs:restriction></xs:simpleType>"
    ));
    assert_only_types(&code);
    let fenced = code.lines().filter(|line| line.trim_start().starts_with("/// ```"));
    assert_eq!(fenced.count(), 0, "{code}");
}

#[test]
fn circles_come_to_an_end() {
    let field = |of: &str| format!("<xs:element name='n' type='{of}'/>");
    let circle = |name: &str, of: &str| {
        format!("<xs:complexType name='{name}'><xs:sequence>{}</xs:sequence></xs:complexType>", field(of))
    };
    let code = generate(&(circle("a", "b") + &circle("b", "a") + &circle("c", "c") + &circle("d", "a")));
    assert_only_types(&code);
    assert_eq!(code.matches("Option<Box<").count(), 3, "{code}");
    assert!(code.contains("pub n: A,"), "{code}");
}

#[test]
fn many_alike_names_take_linear_time() {
    let mut types = String::new();
    for number in 0..5_000 {
        let name: String = (0..13).map(|bit| if number >> bit & 1 == 0 { "_" } else { "." }).collect();
        let _ = write!(types, "<xs:complexType name='a{name}'/>");
    }
    let start = Instant::now();
    let code = generate(&types);
    assert!(code.contains("pub struct A5000 "));
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}
