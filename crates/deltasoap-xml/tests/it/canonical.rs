//! Canonical forms that other implementations made, of `testdata/signatures/c14n`, and the examples
//! of the specifications.

use deltasoap_xml::c14n::{C14nError, Canonicalizer, Method, canonicalize};
use deltasoap_xml::{Event, Instructions, Limits, Reader, Window};
use std::path::Path;

fn file(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/signatures/c14n");
    std::fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Returns the form of a document.
fn canonical(document: &str, method: &Method) -> String {
    let bytes = canonicalize(document.as_bytes(), Limits::default(), method).expect("a canonical form");
    String::from_utf8(bytes).expect("UTF-8")
}

/// Returns the form of the first element with a local name.
fn element(document: impl AsRef<[u8]>, name: &str, method: &Method) -> Result<String, C14nError> {
    let mut reader = Reader::new(Limits::default(), Instructions::Skip);
    let mut canonical = Canonicalizer::new(method.clone());
    canonical.prepare(&mut reader);
    let (mut window, mut out, mut is_inside) = (Window::whole(document.as_ref()), Vec::new(), false);
    let mut sink = |piece: &[u8]| out.extend_from_slice(piece);
    while !canonical.is_done() {
        canonical.pass(&mut reader, &mut window, &mut sink);
        let event = reader.next(&mut window).expect("well-formed");
        is_inside |= event == Event::Start && reader.names().local(reader.name()) == name;
        match event {
            event if is_inside => canonical.event(event, &reader, &mut sink)?,
            Event::Start => canonical.around(&reader),
            _ => {}
        }
    }
    Ok(String::from_utf8(out).expect("UTF-8"))
}

#[track_caller]
fn assert_form(document: &str, name: &str, method: &Method, form: &str) {
    let ours = element(file(document), name, method).expect("a form");
    assert_eq!(ours.as_bytes(), file(form), "{document}, {name}: {form}");
}

/// Merlin Hughes's vectors: exclusive forms with and without listed prefixes and comments, and
/// subtrees in each method. The others of `Y4` and `Y5` need XPath.
#[test]
fn merlin() {
    let (exclusive, inclusive) = (Method::exclusive, Method::inclusive);
    let listed = || exclusive().inclusive_prefixes(["bar", "#default"]);
    assert_form("Y1-exc-signature.xml", "Object", &exclusive(), "Y1-c14n-0.txt");
    assert_form("Y1-exc-signature.xml", "Object", &listed(), "Y1-c14n-1.txt");
    assert_form("Y1-exc-signature.xml", "Object", &exclusive().with_comments(), "Y1-c14n-2.txt");
    assert_form("Y1-exc-signature.xml", "Object", &listed().with_comments(), "Y1-c14n-3.txt");
    assert_form("Y1-exc-signature.xml", "SignedInfo", &exclusive(), "Y1-c14n-4.txt");
    for folder in ["Y4", "Y5"] {
        let form = |number: u32| format!("{folder}-c14n-{number}.txt");
        let document = format!("{folder}-signature.xml");
        let default = exclusive().inclusive_prefixes(["#default"]);
        assert_form(&document, "Something", &inclusive(), &form(0));
        assert_form(&document, "Something", &exclusive(), &form(9));
        assert_form(&document, "Something", &default, &form(18));
        assert_form(&document, "SignedInfo", &inclusive(), &form(27));
    }
}

/// The examples of Exclusive XML Canonicalization, and a SOAP message, as Apache Santuario tests
/// them.
#[test]
fn examples_of_exclusive_canonicalization() {
    assert_form("example2_2_1.xml", "elem2", &Method::inclusive(), "example2_2_1_c14nized.xml");
    assert_form("example2_2_2.xml", "elem2", &Method::inclusive(), "example2_2_2_c14nized.xml");
    for document in ["example2_2_1.xml", "example2_2_2.xml"] {
        assert_form(document, "elem2", &Method::exclusive(), "example2_2_c14nized_exclusive.xml");
    }
    assert_form("example2_2_3.xml", "p", &Method::exclusive(), "example2_2_3_c14nized_exclusive.xml");
    assert_form("example2_4.xml", "elem2", &Method::exclusive(), "example2_4_c14nized.xml");
    assert_form("plain-soap-1.1.xml", "Body", &Method::exclusive(), "plain-soap-c14nized.xml");
}

/// Whole documents of Santuario: those without a document type declaration.
#[test]
fn documents() {
    for name in ["32", "36"] {
        let form = canonicalize(&file(&format!("{name}_input.xml")), Limits::default(), &Method::inclusive());
        let theirs = file(&format!("{name}_c14n.xml"));
        assert_eq!(form.map(String::from_utf8), Ok(String::from_utf8(theirs)), "{name}");
    }
    let document = "default_ns_redefinition_input.xml";
    assert_form(document, "Object", &Method::inclusive(), "default_ns_redefinition_c14n.xml");
}

/// The W3C's interoperability tests of Canonical XML 1.1, except those about `xml:base`.
#[test]
fn canonical_xml_1_1() {
    for attribute in ["xmllang", "xmlspace", "xmlid"] {
        let input = file(&format!("{attribute}-input.xml"));
        let cases: &[&[&str]] = match attribute {
            "xmlid" => &[&["e1"], &["e11", "e12"]],
            _ => &[&["e1"], &["e2"], &["e11"], &["e11", "e12"]],
        };
        for (number, names) in (1..).zip(cases) {
            let forms = names.iter().map(|name| element(&input, name, &Method::inclusive_11()));
            let form: String = forms.collect::<Result<_, _>>().expect("forms");
            assert_eq!(form.as_bytes(), file(&format!("{attribute}-{number}.output")), "{attribute}-{number}");
        }
    }
}

/// The example of Canonical XML 1.0, section 3.1: comments, instructions, line ends outside the
/// document element.
#[test]
fn instructions_and_comments_outside_the_root() {
    let document = "<?xml version=\"1.0\"?>\n\n<?xml-stylesheet   href=\"doc.xsl\"\n   type=\"text/xsl\"   ?>\n\n\
                    <doc>Hello, world!<!-- Comment 1 --></doc>\n\n<?pi-without-data     ?>\n\n<!-- Comment 2 -->\n\n\
                    <!-- Comment 3 -->";
    let plain =
        "<?xml-stylesheet href=\"doc.xsl\"\n   type=\"text/xsl\"   ?>\n<doc>Hello, world!</doc>\n<?pi-without-data?>";
    let commented = "<?xml-stylesheet href=\"doc.xsl\"\n   type=\"text/xsl\"   ?>\n<doc>Hello, world!<!-- Comment 1 --></doc>\n\
                     <?pi-without-data?>\n<!-- Comment 2 -->\n<!-- Comment 3 -->";
    for method in [Method::inclusive(), Method::inclusive_11(), Method::exclusive()] {
        assert_eq!(canonical(document, &method), plain);
        assert_eq!(canonical(document, &method.with_comments()), commented);
    }
}

/// Section 3.3: start and end tags. (The document type declaration of the example is left out.)
#[test]
fn tags() {
    let document = "<doc>\n   <e1   />\n   <e2   ></e2>\n   <e3   name = \"elem3\"   id=\"elem3\"   />\n\
                    <e4   name=\"elem4\"   id=\"elem4\"   ></e4>\n   <e5 a:attr=\"out\" b:attr=\"sorted\" attr2=\"all\" \
                    attr=\"I'm\"\n      xmlns:b=\"http://www.ietf.org\"\n      xmlns:a=\"http://www.w3.org\"\n      \
                    xmlns=\"http://example.org\"/>\n   <e6 xmlns=\"\" xmlns:a=\"http://www.w3.org\">\n      \
                    <e7 xmlns=\"http://www.ietf.org\">\n         <e8 xmlns=\"\" xmlns:a=\"http://www.w3.org\">\n            \
                    <e9 xmlns=\"\" xmlns:a=\"http://www.ietf.org\"/>\n         </e8>\n      </e7>\n   </e6>\n</doc>";
    let expected = "<doc>\n   <e1></e1>\n   <e2></e2>\n   <e3 id=\"elem3\" name=\"elem3\"></e3>\n\
                    <e4 id=\"elem4\" name=\"elem4\"></e4>\n   <e5 xmlns=\"http://example.org\" xmlns:a=\"http://www.w3.org\" \
                    xmlns:b=\"http://www.ietf.org\" attr=\"I'm\" attr2=\"all\" b:attr=\"sorted\" a:attr=\"out\"></e5>\n   \
                    <e6 xmlns:a=\"http://www.w3.org\">\n      <e7 xmlns=\"http://www.ietf.org\">\n         <e8 xmlns=\"\">\n            \
                    <e9 xmlns:a=\"http://www.ietf.org\"></e9>\n         </e8>\n      </e7>\n   </e6>\n</doc>";
    assert_eq!(canonical(document, &Method::inclusive()), expected);
}

/// Section 3.4: character modifications and references.
#[test]
fn characters() {
    let document = "<doc>\r\n   <text>First line&#x0d;&#10;Second line</text>\n   <value>&#x32;</value>\n   \
                    <compute><![CDATA[value>\"0\" && value<\"10\" ?\"valid\":\"error\"]]></compute>\n   \
                    <compute expr='value>\"0\" &amp;&amp; value&lt;\"10\" ?\"valid\":\"error\"'>valid</compute>\n   \
                    <norm attr=' &apos;   &#x20;&#13;&#xa;&#9;   &apos; '/>\n</doc>";
    let expected = "<doc>\n   <text>First line&#xD;\nSecond line</text>\n   <value>2</value>\n   \
                    <compute>value&gt;\"0\" &amp;&amp; value&lt;\"10\" ?\"valid\":\"error\"</compute>\n   \
                    <compute expr=\"value>&quot;0&quot; &amp;&amp; value&lt;&quot;10&quot; ?&quot;valid&quot;:&quot;error&quot;\">valid</compute>\n   \
                    <norm attr=\" '    &#xD;&#xA;&#x9;   ' \"></norm>\n</doc>";
    for method in [Method::inclusive(), Method::exclusive()] {
        assert_eq!(canonical(document, &method), expected);
    }
}

/// The example of Exclusive XML Canonicalization 1.0, section 2.2: the form does not depend on what
/// is around the element.
#[test]
fn exclusive_forms_do_not_depend_on_what_is_around() {
    let inner = "<n1:elem2 xmlns:n1=\"http://example.net\" xml:lang=\"en\"><n3:stuff xmlns:n3=\"ftp://example.org\"/></n1:elem2>";
    let one = format!(
        "<n0:pdu xmlns:n0=\"http://a.example\" xmlns:n1=\"http://example.net\" xml:space=\"preserve\">{inner}</n0:pdu>"
    );
    let other = format!(
        "<n2:pdu xmlns:n1=\"http://example.com\" xmlns:n2=\"http://foo.example\" xml:lang=\"fr\" xml:space=\"retain\">{inner}</n2:pdu>"
    );
    let form = "<n1:elem2 xmlns:n1=\"http://example.net\" xml:lang=\"en\"><n3:stuff xmlns:n3=\"ftp://example.org\"></n3:stuff></n1:elem2>";
    for document in [&one, &other] {
        assert_eq!(element(document, "elem2", &Method::exclusive()).as_deref(), Ok(form));
    }
    // The inclusive forms differ.
    assert_eq!(
        element(&one, "elem2", &Method::inclusive()).expect("a form"),
        "<n1:elem2 xmlns:n0=\"http://a.example\" xmlns:n1=\"http://example.net\" xml:lang=\"en\" xml:space=\"preserve\">\
         <n3:stuff xmlns:n3=\"ftp://example.org\"></n3:stuff></n1:elem2>"
    );
}

#[test]
fn listed_prefixes_are_declared_where_they_are_in_scope() {
    let document = "<a xmlns='urn:d' xmlns:p='urn:p' xmlns:q='urn:q'><q:b><c xmlns:p='urn:p2' t='p:x'><d/></c><c t='p:y'/></q:b></a>";
    let listed = |prefixes: &[&'static str]| {
        element(document, "b", &Method::exclusive().inclusive_prefixes(prefixes.iter().copied())).expect("a form")
    };
    assert_eq!(
        listed(&[]),
        "<q:b xmlns:q=\"urn:q\"><c xmlns=\"urn:d\" t=\"p:x\"><d></d></c><c xmlns=\"urn:d\" t=\"p:y\"></c></q:b>"
    );
    assert_eq!(
        listed(&["p", "none"]),
        "<q:b xmlns:p=\"urn:p\" xmlns:q=\"urn:q\"><c xmlns=\"urn:d\" xmlns:p=\"urn:p2\" t=\"p:x\"><d></d></c>\
         <c xmlns=\"urn:d\" t=\"p:y\"></c></q:b>"
    );
    assert_eq!(
        listed(&["#default"]),
        "<q:b xmlns=\"urn:d\" xmlns:q=\"urn:q\"><c t=\"p:x\"><d></d></c><c t=\"p:y\"></c></q:b>"
    );
}

/// Only elements around the one that is written matter, not those that ended before it.
#[test]
fn inherited_attributes_are_those_of_open_elements() {
    let document =
        "<a xml:lang='de'><x xml:lang='en' xml:space='preserve'><y xml:id='i'/></x><m><x xml:lang='fr'/><b/></m></a>";
    assert_eq!(element(document, "b", &Method::inclusive()).as_deref(), Ok("<b xml:lang=\"de\"></b>"));
    let hidden = "<a xml:lang='de' xml:space='default'><m xml:lang='en'><b xml:space='preserve'/></m></a>";
    let form = "<b xml:lang=\"en\" xml:space=\"preserve\"></b>";
    assert_eq!(element(hidden, "b", &Method::inclusive()).as_deref(), Ok(form));
}

/// Comments and instructions before the element are no part of it; instructions in it always are.
#[test]
fn comments_and_instructions_in_and_before_an_element() {
    let document = "<a><!--1--><?p 1?><b><!--2--><?p 2?>t<!--3--></b><!--4--></a>";
    for method in [Method::inclusive(), Method::exclusive()] {
        assert_eq!(element(document, "b", &method).as_deref(), Ok("<b><?p 2?>t</b>"));
        let commented = "<b><!--2--><?p 2?>t<!--3--></b>";
        assert_eq!(element(document, "b", &method.with_comments()).as_deref(), Ok(commented));
    }
}

#[test]
fn what_has_no_canonical_form() {
    let relative = canonicalize(b"<a xmlns='relative'/>", Limits::default(), &Method::exclusive());
    assert_eq!(relative, Err(C14nError::RelativeNamespace("relative".to_owned())));
    for fine in ["<a xmlns='urn:x'/>", "<a xmlns=''/>", "<a xmlns:p='relative'/>"] {
        assert!(canonicalize(fine.as_bytes(), Limits::default(), &Method::exclusive()).is_ok(), "{fine}");
    }
    let based = element("<a xml:base='http://a/'><b/></a>", "b", &Method::inclusive_11());
    assert_eq!(based, Err(C14nError::InheritedBase));
    let id = element("<a xml:id='i' xml:lang='en'><b/></a>", "b", &Method::inclusive_11());
    assert_eq!(id.as_deref(), Ok("<b xml:lang=\"en\"></b>"));
    assert!(matches!(canonicalize(b"<a>", Limits::default(), &Method::exclusive()), Err(C14nError::Xml(_))));
}

#[test]
fn methods_have_identifiers() {
    for method in [Method::inclusive(), Method::inclusive_11(), Method::exclusive()] {
        assert_eq!(Method::from_uri(method.uri()), Some(method.clone()));
        let commented = method.with_comments();
        assert_eq!(Method::from_uri(commented.uri()), Some(commented));
    }
    assert_eq!(Method::from_uri("http://www.w3.org/TR/1999/REC-xslt-19991116"), None);
}
