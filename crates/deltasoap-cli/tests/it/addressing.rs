//! WS-Addressing: what `call` sends, what `list` and `describe` say.

use crate::{json, run, serving, shop, stderr, stdout};

const POLICY: &str = "<p:Policy xmlns:p='http://www.w3.org/ns/ws-policy'>\
    <a:Addressing xmlns:a='http://www.w3.org/2007/05/addressing/metadata'/></p:Policy>";
const V10: &str = "http://www.w3.org/2005/08/addressing";
const V2004: &str = "http://schemas.xmlsoap.org/ws/2004/08/addressing";

/// A WSDL that requires WS-Addressing in SOAP 1.1.
fn requiring() -> tempfile::NamedTempFile {
    let wsdl = std::fs::read_to_string(shop()).expect("a WSDL");
    let file = tempfile::NamedTempFile::with_suffix(".wsdl").expect("a file");
    let required = wsdl.replace("<soap:binding ", &format!("{POLICY}<soap:binding "));
    assert_ne!(required, wsdl);
    std::fs::write(file.path(), required).expect("a file");
    file
}

#[test]
fn header_blocks_are_sent_as_the_wsdl_or_the_option_says() {
    let (mock, file) = (serving(&["mock", &shop()]), requiring());
    let (plain, requiring) = (shop(), file.path().to_string_lossy().into_owned());
    let cases: [(&str, &[&str], Option<&str>); 5] = [
        (&plain, &[], None),
        (&plain, &["--wsa"], Some(V10)),
        (&plain, &["--wsa=2004"], Some(V2004)),
        (&requiring, &[], Some(V10)),
        (&requiring, &["--wsa=off"], None),
    ];
    for (wsdl, options, namespace) in cases {
        let arguments = [&["call", wsdl, "Soap11.Catalogue", "-v", "--endpoint", &mock.url], options].concat();
        let output = run(&arguments);
        let text = stderr(&output);
        assert!(output.status.success(), "{arguments:?}: {text}");
        for known in [V10, V2004] {
            assert_eq!(text.contains(&format!("\"{known}\"")), namespace == Some(known), "{arguments:?}: {text}");
        }
        if namespace.is_some() {
            assert!(text.contains(">urn:uuid:") && text.contains("RelatesTo"), "{text}");
        }
    }
}

#[test]
fn requirements_are_listed() {
    let file = requiring();
    let path = file.path().to_string_lossy().into_owned();
    let listing = run(&["list", &path]);
    let ports: Vec<_> = stdout(&listing).lines().filter(|line| !line.starts_with(' ')).map(str::to_owned).collect();
    assert!(listing.status.success() && ports[0].ends_with("  (requires WS-Addressing)"), "{listing:?}");
    assert!(!ports[1].contains("WS-Addressing"), "{ports:?}");
    let operations = json(&run(&["list", "--json", &path]));
    assert_eq!(operations["operations"][0]["addressing"], "required");
    assert_eq!(operations["operations"][5]["addressing"], serde_json::Value::Null);
    let described = run(&["describe", &path, "Soap11.Catalogue"]);
    assert!(stdout(&described).contains("requires WS-Addressing"), "{described:?}");
}
