//! WSDLs that try to inject code or to take forever: their texts stay names, strings and comments.
//! The code for `data/hostile.wsdl`, which has all of this and an operation, is among the goldens,
//! which are compiled.

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

/// Checks that only the kinds of items for a schema were generated.
fn assert_only_types(code: &str) {
    let file = syn::parse_file(code).expect("Rust");
    assert!(!file.items.is_empty());
    for item in &file.items {
        assert!(matches!(item, Item::Struct(_) | Item::Enum(_) | Item::Type(_)), "{code}");
    }
}

#[test]
fn words_stay_words() {
    let start = Instant::now();
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
    assert_no_fence(&code);
    row(
        "Rust, attributes and fences in names, values and documentation of a schema",
        "types alone are generated",
        start,
    );
}

/// Prints a row of the table of attacks.
fn row(attack: &str, answer: &str, start: Instant) {
    println!("| {attack} | {answer} | {} ms | |", start.elapsed().as_millis());
}

/// Otherwise `cargo test` would run the text between fences.
fn assert_no_fence(code: &str) {
    let lines = code.lines().filter_map(|line| line.trim_start().strip_prefix("///"));
    assert!(lines.map(str::trim_start).all(|line| !line.starts_with("```") && !line.starts_with("~~~")), "{code}");
}

#[test]
fn namespaces_stay_within_a_line_of_their_comment() {
    let evil = "urn:x`.&#10;&#10;```&#10;evil();&#10;```&#10;~~~ a `";
    let long = format!("urn:{} ``` evil();", "x".repeat(110));
    for namespace in [evil, &long] {
        let text = format!(
            "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/' xmlns:xs='http://www.w3.org/2001/XMLSchema'><types>\
             <xs:schema targetNamespace='{namespace}'><xs:element name='a' type='xs:int'/></xs:schema>\
             <xs:schema targetNamespace='urn:t'><xs:element name='a' type='xs:int'/></xs:schema></types></definitions>"
        );
        let import = Importer::new().offline().text(&text).expect("imported");
        let code = Builder::new("hostile").generate_for(&import).expect("generated").code;
        assert!(code.contains("Types and elements of the namespace"), "{code}");
        assert_no_fence(&code);
    }
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
    row("5,000 names that are alike in Rust", "each has a number", start);
    assert!(code.contains("pub struct A5000 "));
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}
