use super::*;

fn canonical(document: &str, method: &Method) -> String {
    let bytes = canonicalize(document.as_bytes(), Limits::default(), method).expect("a canonical form");
    String::from_utf8(bytes).expect("UTF-8")
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

/// Returns the canonical form of the first element with a name.
fn element(document: &str, name: &str, method: &Method) -> Result<String, C14nError> {
    let mut reader = Reader::new(Limits::default(), Instructions::Skip);
    let mut canonical = Canonicalizer::new(method.clone());
    canonical.prepare(&mut reader);
    let (mut window, mut out, mut is_inside) = (Window::whole(document.as_bytes()), Vec::new(), false);
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

/// Content that is passed by comparing bytes has the form that events give it.
mod passing {
    use super::*;
    use proptest::prelude::*;

    /// Canonicalizes by events alone.
    fn by_events(document: &[u8], method: &Method) -> Result<Vec<u8>, C14nError> {
        let mut whole = Whole::new(method.clone(), Limits::default());
        let mut window = Window::whole(document);
        loop {
            match whole.reader.next(&mut window) {
                Ok(Event::Done) => break,
                Ok(event) => whole.event(event),
                Err(Stop::Pending) => unreachable!("the window is whole"),
                Err(Stop::Error(error)) => return Err(error.into()),
            }
        }
        whole.epilog();
        whole.error.map_or(Ok(whole.out), Err)
    }

    /// Canonicalizes a document that arrives in pieces.
    fn in_pieces(document: &[u8], len: usize, method: &Method) -> Result<Vec<u8>, C14nError> {
        let mut whole = Whole::new(method.clone(), Limits::default());
        let mut feed = Feed::new(Limits::default());
        for piece in document.chunks(len.max(1)) {
            feed.push(piece, |window| whole.step(window))?;
        }
        feed.finish(|window| whole.step(window))?;
        whole.error.map_or(Ok(whole.out), Err)
    }

    fn piece() -> impl Strategy<Value = &'static str> {
        prop::sample::select(vec![
            "<a>",
            "</a>",
            "<b>",
            "</b>",
            "<p:a>",
            "</p:a>",
            "<a/>",
            "<a >",
            "</a >",
            "<b x='1'>",
            "<a xmlns:p='urn:q'>",
            "<a xmlns='urn:e'>",
            "<a xmlns=''>",
            "<b q:y='2' p:x=\"1\">",
            "1.5",
            "x > y",
            "&amp;",
            "&#xD;",
            "\r\n",
            "\t",
            "]]",
            "\u{e4}",
            "<![CDATA[<&]]>",
            "<!-- c -->",
            "<?pi d?>",
            "<item>1</item>",
            "<item>22</item>",
            "<p:item>3</p:item>",
        ])
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]
        #[test]
        fn is_what_events_give(pieces in prop::collection::vec(piece(), 0..40), len in 1..200usize) {
            let mut open = Vec::new();
            let mut document = String::from("<r xmlns:p='urn:p' xmlns:q='urn:q'>");
            for piece in pieces {
                // End tags close what is open, so that most documents are well-formed.
                if piece.starts_with("</") {
                    if let Some(name) = open.pop() {
                        document += &format!("</{name}>");
                    }
                    continue;
                }
                document += piece;
                let is_start = piece.starts_with('<') && !piece.starts_with("<!") && !piece.starts_with("<?");
                if is_start && !piece.contains("</") && !piece.ends_with("/>") {
                    open.push(piece[1..piece.len() - 1].split(' ').next().unwrap_or_default().to_owned());
                }
            }
            open.iter().rev().for_each(|name| document += &format!("</{name}>"));
            document += "</r>";
            for method in [Method::exclusive(), Method::inclusive(), Method::exclusive().with_comments()] {
                let expected = by_events(document.as_bytes(), &method);
                prop_assert_eq!(&canonicalize(document.as_bytes(), Limits::default(), &method), &expected);
                prop_assert_eq!(&in_pieces(document.as_bytes(), len, &method), &expected);
                // The canonical form is its own canonical form.
                if let Ok(bytes) = expected {
                    prop_assert_eq!(canonicalize(&bytes, Limits::default(), &method), Ok(bytes));
                }
            }
        }
    }
}
