//! Faults of both versions, written and read; faults that real toolkits send.

use deltasoap_core::content::Shortcuts;
use deltasoap_core::soap::{Envelope, Fault, FaultCode, HeaderBlock, Reply, Version, decode_reply};
use deltasoap_core::{Buffer, Content, ErrorKind, Message, Node, QName, Typed, ns, schema::Element, schema::View};
use deltasoap_core::{decode, encode};

/// `<{urn:d}code>` with an int: a detail, and a response that is never sent.
#[derive(Debug, Clone, PartialEq)]
struct Code(i32);

impl Content for Code {
    fn vacant(_: View<'_>) -> Self {
        Code(0)
    }

    fn decode(&mut self, cursor: &mut decode::Cursor<'_>, view: View<'_>) -> decode::Step {
        self.0.decode(cursor, view)
    }

    fn encode(&self, encoder: &mut encode::Encoder, view: View<'_>) {
        self.0.encode(encoder, view);
    }
}

impl Shortcuts for Code {}

impl Typed for Code {
    const TYPE_NAME: QName = QName::new("urn:d", "Code");

    fn element() -> &'static Element {
        i32::element()
    }
}

impl Message for Code {
    const ELEMENT: QName = QName::new("urn:d", "code");
}

fn read(message: &[u8]) -> Fault {
    match decode_reply::<Code>(message) {
        Ok((_, Reply::Fault(fault))) => *fault,
        other => panic!("{other:?} from {}", String::from_utf8_lossy(message)),
    }
}

fn written(fault: &Fault, version: Version) -> String {
    let message = Envelope::fault(fault).version(version).write(Buffer::new()).expect("writable");
    String::from_utf8(message.into_vec()).expect("UTF-8")
}

/// A 1.1 message with this fault, in an envelope that declares a few prefixes.
fn soap11(fault: &str) -> String {
    format!(
        "<s:Envelope xmlns:s='{}' xmlns:xsi='{}' xmlns:q='urn:q'><s:Body><s:Fault>{fault}</s:Fault></s:Body></s:Envelope>",
        ns::SOAP11,
        ns::XSI
    )
}

#[test]
fn faults_of_1_1_come_back() {
    let mut fault = Fault::sender("  it is \"wrong\" & <bad>".trim()).with_detail(&Code(7)).expect("writable");
    fault.role = Some("http://example.com/here".to_owned());
    fault.detail.push(Node::with_text(QName::new("", "plain"), "text"));
    let again = read(written(&fault, Version::Soap11).as_bytes());
    assert_eq!((&again.code, &again.reason, &again.role), (&fault.code, &fault.reason, &fault.role));
    assert_eq!(again.detail::<Code>(), Some(Ok(Code(7))));
    assert_eq!(again.detail.len(), 2);
    assert!(again.detail.iter().zip(&fault.detail).all(|(a, b)| a.is_equivalent(b)), "{again:?}");
    for code in [FaultCode::Receiver, FaultCode::MustUnderstand, FaultCode::VersionMismatch] {
        assert_eq!(read(written(&Fault::new(code.clone(), ""), Version::Soap11).as_bytes()).code, code);
    }
    let own = FaultCode::Other(QName::new("urn:own", "Own"));
    assert_eq!(read(written(&Fault::new(own.clone(), ""), Version::Soap11).as_bytes()).code, own);
}

#[test]
fn faults_of_1_2_come_back() {
    let mut fault = Fault::new(FaultCode::DataEncodingUnknown, "why").with_detail(&Code(-1)).expect("writable");
    fault.subcodes = vec![QName::new("urn:a", "Outer"), QName::new("urn:b", "Inner")];
    fault.role = Some("urn:role".to_owned());
    fault.node = Some("urn:node".to_owned());
    fault.not_understood = vec![QName::new("urn:h", "Header"), QName::new(ns::SOAP11, "Odd")];
    let mut again = read(written(&fault, Version::Soap12).as_bytes());
    assert!(again.detail[0].is_equivalent(&fault.detail[0]));
    (again.detail, fault.detail) = Default::default();
    assert_eq!(again, fault);
    let other = Fault::new(FaultCode::Other(QName::new("urn:own", "Own")), "");
    let again = read(written(&other, Version::Soap12).as_bytes()).into_fields();
    assert_eq!((again.code, again.subcodes), (FaultCode::Receiver, vec![QName::new("urn:own", "Own")]));
}

#[test]
fn headers_without_a_namespace_are_named_without_a_prefix() {
    let not_understood = vec![QName::new("", "Plain"), QName::new("urn:h", "Header")];
    let mut fault = Fault::new(FaultCode::MustUnderstand, "");
    fault.not_understood = not_understood.clone();
    let text = written(&fault, Version::Soap12);
    assert!(text.contains("qname=\"Plain\"") && text.contains("qname=\"missing:Header\""), "{text}");
    assert_eq!(read(text.as_bytes()).not_understood, not_understood);
}

#[test]
fn a_version_mismatch_says_what_is_supported() {
    let fault = Fault::from_error(&deltasoap_core::Error::at(ErrorKind::VersionMismatch("urn:x".to_owned()), 0));
    for version in [Version::Soap11, Version::Soap12] {
        let text = written(&fault, version);
        let envelope = Node::parse(text.as_bytes()).expect("well-formed");
        let header = envelope.element(version.namespace(), "Header").expect("a header");
        let upgrade = header.element(ns::SOAP12, "Upgrade").expect("an upgrade");
        let supported: Vec<_> = upgrade.elements().map(|one| one.resolve(one.attribute("", "qname")?)).collect();
        let envelope = |version: Version| Some(QName::new(version.namespace(), "Envelope"));
        assert_eq!(supported, [envelope(Version::Soap12), envelope(Version::Soap11)], "{text}");
    }
}

#[test]
fn codes_are_read_as_servers_write_them() {
    let code = |text: &str| {
        read(soap11(&format!("<faultcode>{text}</faultcode><faultstring> why\n</faultstring>")).as_bytes())
            .into_fields()
            .code
    };
    assert_eq!(code("s:Client"), FaultCode::Sender);
    assert_eq!(code(" s:Server\n"), FaultCode::Receiver);
    assert_eq!(code("Client"), FaultCode::Sender);
    assert_eq!(code("q:Client"), FaultCode::Other(QName::new("urn:q", "Client")));
    assert_eq!(code("s:Client.Authentication"), FaultCode::Other(QName::new(ns::SOAP11, "Client.Authentication")));
    assert_eq!(code("SOAP-ENV:Client"), FaultCode::Sender);
    assert_eq!(code("nobody:Fault"), FaultCode::Other(QName::new("", "nobody:Fault")));
    assert_eq!(code(""), FaultCode::Other(QName::new("", "")));
    let own = format!("<faultcode xmlns:s='urn:mine'>s:x</faultcode><faultstring>{}</faultstring>", "x");
    assert_eq!(read(soap11(&own).as_bytes()).code, FaultCode::Other(QName::new("urn:mine", "x")));
}

#[test]
fn what_was_written_is_kept_and_does_not_count() {
    let text = |name: &str| format!("<faultcode>{name}</faultcode><faultstring>why</faultstring>");
    let faults = ["s:Client", "Client", "s:Sender", "soap:Client"].map(|name| read(soap11(&text(name)).as_bytes()));
    let codes = faults.iter().map(|fault| fault.wording.code().expect("received").to_string());
    let soap = |local: &str| format!("{{{}}}{local}", ns::SOAP11);
    assert!(codes.eq([soap("Client"), "Client".to_owned(), soap("Sender"), "soap:Client".to_owned()]));
    assert!(faults.iter().all(|fault| *fault == Fault::sender("why") && fault.wording.reasons().is_empty()));
    assert_eq!(Fault::sender("").wording.code(), None);
}

#[test]
fn reasons_have_languages() {
    let reason = |texts: &str| {
        let fault = format!("<s:Code><s:Value>s:Sender</s:Value></s:Code><s:Reason>{texts}</s:Reason>");
        read(soap11(&fault).replace(ns::SOAP11, ns::SOAP12).as_bytes())
    };
    let fault = reason(
        "<s:Text xml:lang='fr-CH'>non</s:Text><s:Text xml:lang='EN'> no </s:Text><s:Text xml:lang='fr'>pas</s:Text>",
    );
    assert_eq!((fault.reason.as_str(), fault.wording.reasons().len()), ("no", 3));
    for (languages, text) in [
        (&["fr"][..], "pas"),
        (&["fr-ch", "fr"], "non"),
        (&["fr-CA", "fr"], "pas"),
        (&["f"], "no"),
        (&["de", "en"], "no"),
        (&["é"], "no"),
        (&[], "no"),
    ] {
        assert_eq!(fault.reason_in(languages), text, "{languages:?}");
    }
    assert_eq!(reason("<s:Text xml:lang='fr-CH'>non</s:Text><s:Text>?</s:Text>").reason_in(&["fr"]), "non");
    assert_eq!(reason("<s:Text xml:lang='en-GB'>no</s:Text><s:Text xml:lang='de'>nein</s:Text>").reason, "no");
    assert_eq!(reason("<s:Text>?</s:Text><s:Text xml:lang='de'>nein</s:Text>").reason, "?");
    assert_eq!(reason("").reason, "");
}

#[test]
fn children_count_by_their_local_names() {
    let fault = read(
        soap11(
            "<s:faultcode>s:Server</s:faultcode><s:faultstring> why\n</s:faultstring><s:faultactor>a</s:faultactor>",
        )
        .as_bytes(),
    );
    assert_eq!(
        (fault.code.clone(), fault.reason.as_str(), fault.role.as_deref()),
        (FaultCode::Receiver, "why", Some("a"))
    );
}

/// SOAP 1.1 requires a code (section 4.4). If a server omits it, the reason is still reported.
#[test]
fn a_fault_without_a_code_keeps_its_reason() {
    let fault = read(soap11("<faultstring>why</faultstring><detail>x</detail>").as_bytes());
    assert_eq!((fault.code.clone(), fault.reason.as_str(), fault.detail.len()), (FaultCode::Receiver, "why", 1));
    assert_eq!(fault.wording.code(), None);
    let error = decode_reply::<Code>(soap11("<detail>x</detail>").as_bytes()).expect_err("no code, no reason");
    assert!(error.to_string().contains("neither faultcode nor faultstring"), "{error}");
}

/// The names in a detail keep their meaning, although their prefixes are declared further out.
#[test]
fn a_detail_keeps_its_prefixes() {
    let detail = "<detail xmlns:d='urn:d'><d:code xsi:type='q:Code'>5</d:code><d:name>d:x</d:name></detail>";
    let fault = read(soap11(&format!("<faultcode>s:Client</faultcode>{detail}")).as_bytes());
    assert_eq!(fault.detail::<Code>(), Some(Ok(Code(5))));
    assert_eq!(fault.detail[1].resolve("d:x"), Some(QName::new("urn:d", "x")));
    let again = read(written(&fault, Version::Soap12).as_bytes());
    assert_eq!(again.detail::<Code>(), Some(Ok(Code(5))));
    assert!(again.detail.iter().zip(&fault.detail).all(|(a, b)| a.is_equivalent(b)), "{again:?}");
}

#[test]
fn a_detail_of_text_is_not_lost() {
    let fault = read(soap11("<faultcode>s:Client</faultcode><detail> stack trace </detail>").as_bytes());
    assert_eq!(fault.detail[0].text(), " stack trace ");
    assert_eq!(read(soap11("<faultcode>s:Client</faultcode><detail> </detail>").as_bytes()).detail, []);
}

#[test]
fn the_status_is_the_versions() {
    for (fault, soap12) in [(Fault::sender(""), 400), (Fault::receiver(""), 500)] {
        assert_eq!((fault.http_status(Version::Soap11), fault.http_status(Version::Soap12)), (500, soap12));
    }
}

#[test]
fn the_status_goes_with_the_code_that_is_written() {
    let of = |code| Fault::new(code, "").http_status(Version::Soap12);
    assert_eq!(of(FaultCode::Other(QName::new(ns::SOAP11, "Client.Auth"))), 400);
    assert_eq!(of(FaultCode::Other(QName::new(ns::SOAP11, "Server.Busy"))), 500);
    assert_eq!((of(FaultCode::DataEncodingUnknown), of(FaultCode::MustUnderstand)), (400, 500));
}

#[test]
fn every_recorded_fault_is_read() {
    let faults: Vec<_> =
        deltasoap_streams::envelopes::envelopes().filter(|envelope| envelope.kind == "fault").collect();
    assert!(faults.len() > 10, "{}", faults.len());
    for envelope in faults {
        let fault = read(envelope.content);
        let has_code = !matches!(&fault.code, FaultCode::Other(name) if name.local.is_empty());
        assert!(has_code || envelope.path.ends_with("/empty_soap_fault.xml"), "{}", envelope.path);
        for version in [Version::Soap11, Version::Soap12] {
            let again = read(written(&fault, version).as_bytes());
            assert_eq!(again.reason, fault.reason, "{}", envelope.path);
            let same = again.detail.iter().zip(&fault.detail).all(|(a, b)| a.is_equivalent(b));
            assert!(same && again.detail.len() == fault.detail.len(), "{}: {:?}", envelope.path, again.detail);
        }
    }
}

#[test]
fn mandatory_headers_and_their_targets() {
    for version in [Version::Soap11, Version::Soap12] {
        let block = |attributes: &[(&'static str, &str)]| {
            let mut node = Node::new(QName::new("urn:h", "h"));
            let named = |(name, value): &(&'static str, &str)| (QName::new(version.namespace(), name), (*value).into());
            node.attributes.extend(attributes.iter().map(named));
            HeaderBlock { node }
        };
        for (value, mandatory) in
            [("1", true), ("true", true), (" 1 ", true), ("0", false), ("false", false), ("", false)]
        {
            assert_eq!(block(&[("mustUnderstand", value)]).is_mandatory(version), mandatory, "{value:?}");
        }
        for (value, is_valid) in [("1", true), ("false", true), ("yes", false), ("", false), ("TRUE", false)] {
            assert_eq!(block(&[("mustUnderstand", value)]).mandatory(version).is_ok(), is_valid, "{value:?}");
        }
        let once = block(&[("mustUnderstand", "0")]).must_understand(version).must_understand(version);
        assert_eq!(once.node.attributes.len(), 1);
        assert!(once.is_mandatory(version));
        let role = if version == Version::Soap11 { "actor" } else { "role" };
        let soap12 = |name: &str| format!("{}/role/{name}", ns::SOAP12);
        for (uri, ours) in [
            (String::new(), true),
            ("http://schemas.xmlsoap.org/soap/actor/next".to_owned(), true),
            (soap12("next"), true),
            (soap12("ultimateReceiver"), true),
            (soap12("none"), false),
            ("urn:other".to_owned(), false),
        ] {
            assert_eq!(block(&[(role, &uri)]).is_for_us(version), ours, "{uri}");
        }
        let roles = ["urn:other".to_owned()];
        assert!(block(&[(role, "urn:other")]).is_for(version, &roles));
        assert!(!block(&[(role, "urn:another")]).is_for(version, &roles));
        assert!(block(&[]).is_for(version, &roles));
    }
}

#[test]
fn a_response_is_told_from_a_fault() {
    for version in [Version::Soap11, Version::Soap12] {
        let message = Envelope::new(&Code(3)).version(version).write(Buffer::new()).expect("writable");
        let (head, reply) = decode_reply::<Code>(message.as_slice()).expect("valid");
        assert_eq!((head.version(), reply), (version, Reply::Response(Code(3))));
    }
}
