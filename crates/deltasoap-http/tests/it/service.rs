//! The service in memory: its answers to valid, invalid and unusual requests.

use crate::common::*;
use deltasoap::engine::Tolerance;
use deltasoap::schema::{QName, Use};
use deltasoap::server::{BuildError, Operation};
use deltasoap::soap::{FaultCode, HeaderBlock, Reply, Version, decode_reply};
use deltasoap::types::Node;
use deltasoap::{Context, Fault, Lease, Message, Soap, SoapArray, SoapService};
use deltasoap_test_support::latin_1;
use http::{Request, StatusCode};
use std::convert::Infallible;

const BOTH: [Version; 2] = [Version::Soap11, Version::Soap12];

fn fault(answered: &Answered) -> Fault {
    match decode_reply::<EchoResponse>(answered.body.as_bytes()).expect("a message").1 {
        Reply::Fault(fault) => *fault,
        Reply::Response(response) => panic!("no fault: {response:?}"),
    }
}

fn response(answered: &Answered) -> EchoResponse {
    match decode_reply(answered.body.as_bytes()).expect("a message").1 {
        Reply::Response(response) => response,
        Reply::Fault(fault) => panic!("{fault}"),
    }
}

#[tokio::test]
async fn each_version_is_answered_in_kind() {
    let (service, _) = service();
    for (version, content_type) in
        BOTH.into_iter().zip(["text/xml; charset=utf-8", "application/soap+xml; charset=utf-8"])
    {
        let answered = post(&service, content_type, message(version, &[], &echo("a<b"))).await;
        assert_eq!((answered.status, answered.content_type()), (StatusCode::OK, content_type));
        assert_eq!(response(&answered), echoed(&echo("a<b")));
        assert!(answered.body.contains(version.namespace()));
    }
}

#[tokio::test]
async fn chunks_of_every_size_give_the_same_answer() {
    let (service, _) = service();
    for version in BOTH {
        let body = message(version, &[], &echo("grüße &amp; so on"));
        for size in [1, 2, 3, 7, 64] {
            let answered = post_pieces(&service, "text/xml", body.as_bytes(), size).await;
            assert_eq!(response(&answered), echoed(&echo("grüße &amp; so on")), "pieces of {size}");
        }
    }
}

#[tokio::test]
async fn utf_16_is_read() {
    let (service, _) = service();
    let body = message(Version::Soap11, &[], &echo("grüße 𝄞")).replace("UTF-8", "UTF-16");
    let units = || std::iter::once(0xFEFF).chain(body.encode_utf16());
    let big: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
    let little: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
    for bytes in [big, little] {
        for size in [1, 5, usize::MAX] {
            let answered = post_pieces(&service, "text/xml; charset=utf-16", &bytes, size).await;
            assert_eq!(response(&answered).text, "grüße 𝄞");
        }
    }
}

/// Latin-1, specified by the declaration or, as RFC 7303 requires, by the media type.
#[tokio::test]
async fn encodings_of_a_byte_a_character_are_read() {
    let (service, _) = service();
    let text = "gr\u{fc}\u{df}e \u{80}";
    let declared = message(Version::Soap11, &[], &echo(text));
    let undeclared = declared[declared.find("?>").expect("a declaration") + 2..].trim_start();
    let windows = "gr\u{fc}\u{df}e \u{20ac}";
    for (media, message, expected) in [
        ("text/xml", declared.replace("UTF-8", "iso-8859-1"), text),
        ("text/xml; charset=ISO-8859-1", declared.replace("UTF-8", "Latin1"), text),
        ("text/xml; charset=ISO-8859-1", undeclared.to_owned(), text),
        ("text/xml; charset=\"iso-8859-1\"", format!("<?xml version='1.0'?>{undeclared}"), text),
        ("text/xml", declared.replace("UTF-8", "windows-1252"), windows),
        ("text/xml; charset=windows-1252", undeclared.to_owned(), windows),
        ("text/xml; charset=cp1252", declared.replace("UTF-8", "Windows-1252"), windows),
    ] {
        for size in [1, 2, 3, 7, 50, usize::MAX] {
            let answered = post_pieces(&service, media, &latin_1(&message), size).await;
            assert_eq!(response(&answered).text, expected, "{media} by {size}");
        }
    }
    // The decoder is reused, and its encoding applies to one message only.
    let answered = post(&service, "text/xml", undeclared.replace(text, "\u{e4}")).await;
    assert_eq!(response(&answered).text, "\u{e4}");
}

#[tokio::test]
async fn content_types_are_taken_leniently() {
    let (service, _) = service();
    let body = message(Version::Soap11, &[], &echo(""));
    for good in [
        "",
        "text/xml",
        "Text/XML;charset=\"UTF-8\"",
        "application/xml; charset=us-ascii",
        "text/xml; charset=iso-8859-1",
        "application/soap+xml; action=\"urn:a;b\"",
        "text/xml; charset=utf-8; boundary=x",
    ] {
        assert_eq!(post(&service, good, &body).await.status, StatusCode::OK, "{good}");
    }
    for bad in [
        "application/json",
        "text/xml; charset=koi8-r",
        "text/xml; charset=utf-16le",
        "text/xml; charset",
        "multipart/related; type=\"text/xml\"",
    ] {
        assert_eq!(post(&service, bad, &body).await.status, StatusCode::UNSUPPORTED_MEDIA_TYPE, "{bad}");
    }
}

#[tokio::test]
async fn unknown_content_codings_are_refused() {
    let (service, _) = service();
    for version in BOTH {
        let send_coded = async |coding: &str| {
            let request = Request::post("/").header("content-type", version.media_type());
            let body = message(version, &[], &echo(""));
            let request = request.header("content-encoding", coding).body(Pieces::of(body.as_bytes(), 100));
            send(&service, request.expect("a request")).await
        };
        for plain in ["identity", "Identity", ""] {
            assert_eq!(send_coded(plain).await.status, StatusCode::OK, "{plain}");
        }
        for coding in ["gzip, gzip", "identity, br", "x-unknown"] {
            let refused = send_coded(coding).await;
            assert_eq!(refused.status, StatusCode::UNSUPPORTED_MEDIA_TYPE, "{coding}");
            assert_eq!(refused.headers["accept-encoding"], "zstd, gzip");
            assert!(refused.content_type().starts_with(version.media_type()));
            assert_eq!(fault(&refused).code, FaultCode::Sender);
        }
    }
    let stats = service.stats().snapshot();
    assert_eq!((stats.messages, stats.faults), (12, 6));
}

#[tokio::test]
async fn an_unknown_operation_is_the_senders_fault() {
    let (service, _) = service();
    for (version, status) in BOTH.into_iter().zip([500, 400]) {
        let answered = post(&service, "text/xml", message(version, &[], &Unserved {})).await;
        assert_eq!(answered.status, status);
        let fault = fault(&answered);
        assert_eq!(fault.code, FaultCode::Sender);
        assert!(fault.reason.contains("{urn:test}Unserved"), "{}", fault.reason);
    }
}

#[tokio::test]
async fn a_wrong_value_is_located() {
    let (service, _) = service();
    let body = message(Version::Soap12, &[], &echo("")).replace("-2", "x");
    let answered = post(&service, "application/soap+xml", &body).await;
    assert_eq!(answered.status, StatusCode::BAD_REQUEST);
    let reason = fault(&answered).into_fields().reason;
    let offset = body.find(">x<").expect("the value") + 1;
    assert!(reason.contains(&format!("in /Envelope/Body/Echo/numbers[2], at byte {offset}")), "{reason}");
}

#[tokio::test]
async fn malformed_xml_is_answered_in_the_version_known() {
    let (service, _) = service();
    for (content_type, status) in [("text/xml", 500), ("application/soap+xml", 400)] {
        for body in ["", "hello", "<a", "<a></b>", "<!DOCTYPE a><a/>"] {
            let answered = post(&service, content_type, body).await;
            assert_eq!(answered.status, status, "{body}");
            assert!(answered.content_type().starts_with(content_type));
            assert_eq!(fault(&answered).code, FaultCode::Sender);
        }
    }
    let cut = message(Version::Soap12, &[], &echo("")).replace("</Envelope>", "").replace("</soap:Envelope>", "");
    assert_eq!(post(&service, "text/xml", cut).await.status, StatusCode::BAD_REQUEST, "the envelope's version wins");
}

#[tokio::test]
async fn an_unknown_version_is_answered_in_1_1_with_an_upgrade() {
    let (service, _) = service();
    let body = message(Version::Soap12, &[], &echo("")).replace(Version::Soap12.namespace(), "urn:soap-1.3");
    let answered = post(&service, "application/soap+xml", body).await;
    assert_eq!(answered.status, StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(answered.content_type(), "text/xml; charset=utf-8");
    let (head, _) = decode_reply::<EchoResponse>(answered.body.as_bytes()).expect("a message");
    assert_eq!(head.version, Some(Version::Soap11));
    assert!(head.header(Version::Soap12.namespace(), "Upgrade").is_some());
    assert_eq!(fault(&answered).code, FaultCode::VersionMismatch);
}

fn mandatory(version: Version, name: QName) -> HeaderBlock {
    HeaderBlock { node: Node::new(name) }.must_understand(version)
}

#[tokio::test]
async fn mandatory_headers_must_be_understood() {
    let (service, _) = service();
    for version in BOTH {
        let strange = mandatory(version, QName::new("urn:strange", "Strange"));
        let everywhere = mandatory(version, QName::new("urn:test", "Everywhere"));
        let ticket = HeaderBlock::from_message(&Ticket { number: 1 }).expect("a block").must_understand(version);
        let optional = HeaderBlock { node: Node::new(QName::new("urn:strange", "Optional")) };

        let refused =
            post(&service, "text/xml", message(version, &[optional.clone(), strange.clone()], &echo(""))).await;
        assert_eq!(refused.status, StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(fault(&refused).code, FaultCode::MustUnderstand);
        let place = ", in /Envelope/Header/Strange, at byte ";
        let (_, byte) =
            fault(&refused).reason.split_once(place).map(|(a, b)| (a.to_owned(), b.to_owned())).expect(place);
        let sent = message(version, &[optional.clone(), strange.clone()], &echo(""));
        let begin = sent[..sent.find("Strange").expect("the block")].rfind('<').expect("its tag");
        assert_eq!(byte, begin.to_string());
        let twice = [HeaderBlock { node: Node::new(strange.node.name.clone()) }, strange.clone(), strange.clone()];
        let refused_again = post(&service, "text/xml", message(version, &twice, &echo(""))).await;
        assert!(fault(&refused_again).reason.contains("/Envelope/Header/Strange[2], at byte"));
        let sent = message(version, &[optional.clone(), strange.clone()], &echo(""))
            .replace("nderstand=\"1\"", "nderstand=\"?\"");
        let malformed = fault(&post(&service, "text/xml", sent).await).into_fields().reason;
        assert!(malformed.contains(&format!("for mustUnderstand{place}{byte}")), "{malformed}");
        let (head, _) = decode_reply::<EchoResponse>(refused.body.as_bytes()).expect("a message");
        let listed = head.header(Version::Soap12.namespace(), "NotUnderstood").is_some();
        assert_eq!(listed, version == Version::Soap12);

        let understood = [optional, everywhere, ticket.clone()];
        assert_eq!(post(&service, "text/xml", message(version, &understood, &Describe {})).await.status, 200);
        let elsewhere = post(&service, "text/xml", message(version, &[ticket], &echo(""))).await;
        assert_eq!(fault(&elsewhere).code, FaultCode::MustUnderstand, "only its own operation understands it");
        let unknown = post(&service, "text/xml", message(version, &[strange], &Unserved {})).await;
        assert_eq!(fault(&unknown).code, FaultCode::MustUnderstand, "headers come first");
    }
}

#[tokio::test]
async fn mandatory_headers_for_others_are_no_concern() {
    let (service, _) = service();
    for (version, role) in BOTH.into_iter().zip(["actor", "role"]) {
        let mut block = mandatory(version, QName::new("urn:strange", "Strange"));
        block.node.attributes.push((QName::new(version.namespace(), role), "urn:someone-else".into()));
        assert_eq!(post(&service, "text/xml", message(version, &[block], &echo(""))).await.status, StatusCode::OK);
    }
}

#[tokio::test]
async fn mandatory_headers_come_before_an_empty_body() {
    let (service, _) = service();
    for version in BOTH {
        let strange = mandatory(version, QName::new("urn:strange", "Strange"));
        let full = message(version, &[strange], &Unserved {});
        let (start, end) = (full.find("<soap:Body>").expect("a body"), full.find("</soap:Body>").expect("its end"));
        let empty = format!("{}{}", &full[..start + "<soap:Body>".len()], &full[end..]);
        assert_eq!(fault(&post(&service, "text/xml", &empty).await).code, FaultCode::MustUnderstand);
        let optional = empty.replace("mustUnderstand=\"1\"", "mustUnderstand=\"0\"");
        assert_eq!(fault(&post(&service, "text/xml", optional).await).code, FaultCode::Sender);
    }
}

#[tokio::test]
async fn a_malformed_must_understand_is_the_senders_fault() {
    let (service, _) = service();
    for (version, role) in BOTH.into_iter().zip(["actor", "role"]) {
        let mut block = mandatory(version, QName::new("urn:test", "Everywhere"));
        block.node.attributes[0].1 = "yes".into();
        let refused = fault(&post(&service, "text/xml", message(version, &[block.clone()], &echo(""))).await);
        assert_eq!(refused.code, FaultCode::Sender);
        assert!(refused.reason.contains("mustUnderstand"), "{}", refused.reason);
        block.node.attributes.push((QName::new(version.namespace(), role), "urn:someone-else".into()));
        assert_eq!(post(&service, "text/xml", message(version, &[block], &echo(""))).await.status, StatusCode::OK);
    }
}

#[tokio::test]
async fn an_unknown_encoding_is_told() {
    let (service, _) = service();
    let with_style = |version: Version, style: &str| {
        let body = message(version, &[], &echo(""));
        let (start, name) = (body.find("<ns:Echo").expect("the body's element"), "<ns:Echo");
        format!("{}{name} soap:encodingStyle=\"{style}\"{}", &body[..start], &body[start + name.len()..])
    };
    for known in
        ["", "http://www.w3.org/2003/05/soap-encoding", "http://www.w3.org/2003/05/soap-envelope/encoding/none"]
    {
        let body = with_style(Version::Soap12, known);
        for size in [1, 1000] {
            assert_eq!(
                post_pieces(&service, "text/xml", body.as_bytes(), size).await.status,
                StatusCode::OK,
                "{known}"
            );
        }
    }
    let body = with_style(Version::Soap12, "urn:strange");
    for size in [1, 1000] {
        let refused = post_pieces(&service, "text/xml", body.as_bytes(), size).await;
        assert_eq!(
            (refused.status.as_u16(), fault(&refused).into_fields().code),
            (400, FaultCode::DataEncodingUnknown)
        );
        assert!(refused.body.contains("urn:strange"), "{}", refused.body);
    }
    let old = with_style(Version::Soap11, "urn:strange http://schemas.xmlsoap.org/soap/encoding/");
    assert_eq!(post(&service, "text/xml", old).await.status, StatusCode::OK);
}

#[tokio::test]
async fn headers_for_a_role_of_the_services_own_are_its_concern() {
    let handler = async |request: Lease<Echo>| Ok::<_, Infallible>(echoed(&request));
    let service = SoapService::builder().operation(handler).role("urn:cache").role("urn:gate").build();
    let service = service.expect("a service");
    for (version, role) in BOTH.into_iter().zip(["actor", "role"]) {
        for (uri, is_ours) in [("urn:cache", true), ("urn:gate", true), ("urn:someone-else", false)] {
            let mut block = mandatory(version, QName::new("urn:strange", "Strange"));
            block.node.attributes.push((QName::new(version.namespace(), role), uri.into()));
            let answered = post(&service, "text/xml", message(version, &[block], &echo(""))).await;
            assert_eq!(answered.status.is_server_error(), is_ours, "{uri}");
        }
    }
}

/// A block for another role does not hide one for us, and all of ours are found.
#[tokio::test]
async fn a_handler_gets_the_block_that_is_for_its_service() {
    let operation = Operation::new(async |context: Context, _: Lease<Echo>| {
        let block = context.header::<Echo>().and_then(Result::ok);
        Ok::<_, Infallible>(echoed(&block.unwrap_or_else(|| echo("none"))))
    });
    let service = SoapService::builder().add_operation(operation).role("urn:gate").build().expect("a service");
    for (version, role) in BOTH.into_iter().zip(["actor", "role"]) {
        let block = |text: &str, uri: &str| {
            let mut block = HeaderBlock::from_message(&echo(text)).expect("a block");
            block.node.attributes.push((QName::new(version.namespace(), role), uri.into()));
            block
        };
        let other = block("other", "urn:someone-else");
        let none = block("nobody", "http://www.w3.org/2003/05/soap-envelope/role/none");
        for (blocks, expected) in [
            (vec![other.clone(), none.clone()], "none"),
            (vec![other.clone(), none.clone(), block("gate", "urn:gate")], "gate"),
            (vec![other, none, HeaderBlock::from_message(&echo("ours")).expect("a block")], "ours"),
        ] {
            let answered = post(&service, "text/xml", message(version, &blocks, &echo(""))).await;
            assert!(answered.body.contains(&format!(">{expected}<")), "{expected}: {}", answered.body);
        }
    }
}

/// More deviations than are reported individually.
#[tokio::test]
async fn all_deviations_are_counted() {
    let handler = async |request: Lease<Echo>| Ok::<_, Infallible>(echoed(&request));
    let service = SoapService::builder().operation(handler).tolerance(Tolerance::Unknown).build().expect("a service");
    let unknown: String = (0..150).map(|number| format!("<x{number}/>")).collect();
    let body = message(Version::Soap11, &[], &echo("x")).replace("</ns:Echo>", &format!("{unknown}</ns:Echo>"));
    assert_eq!(post(&service, "text/xml", body).await.status, StatusCode::OK);
    assert_eq!(service.stats().snapshot().deviations, 150);
}

#[test]
fn a_fault_does_not_stand_beside_other_elements() {
    let fault = "<e:Fault><faultcode>e:Server</faultcode><faultstring>no</faultstring></e:Fault>";
    let (from, to) = ("<from xmlns='urn:test'>a</from>", "<to xmlns='urn:test'>b</to>");
    let read = |parts: &[&str]| {
        let ns = Version::Soap11.namespace();
        let envelope = format!("<e:Envelope xmlns:e='{ns}'><e:Body>{}</e:Body></e:Envelope>", parts.concat());
        decode_reply::<Transfer>(envelope.as_bytes()).map(|(_, reply)| reply).map_err(|error| error.to_string())
    };
    assert!(matches!(read(&[fault]), Ok(Reply::Fault(_))));
    for parts in [&[from, fault][..], &[from, to, fault]] {
        let error = read(parts).expect_err("two things at once");
        assert!(error.contains("unexpected element") && error.contains("Fault"), "{error}");
    }
    assert!(read(&[fault, from]).is_err());
}

#[tokio::test]
async fn failures_of_handlers_are_faults() {
    let (service, _) = service();
    let fail = async |version, how: &str| {
        post(&service, "text/xml", message(version, &[], &Fail { how: how.to_owned() })).await
    };
    for version in BOTH {
        let typed = fault(&fail(version, "typed").await);
        assert_eq!(typed.code, FaultCode::Sender);
        let detail = typed.detail::<NoSuchThing>().expect("a detail").expect("a typed detail");
        assert_eq!(detail, NoSuchThing { name: "thing".to_owned(), code: 7 });

        let plain = fail(version, "out of order").await;
        assert_eq!((plain.status.as_u16(), fault(&plain)), (500, Fault::receiver("out of order")));
        assert_eq!(fault(&fail(version, "unwritable").await).code, FaultCode::Receiver);
        let cleaned = fault(&fail(version, "unwritable fault").await);
        assert_eq!(cleaned, Fault::sender("no\u{FFFD} such \u{FFFD}thing"));
    }
    assert_eq!(fail(Version::Soap11, "typed").await.status, 500);
    assert_eq!(fail(Version::Soap12, "typed").await.status, 400);
    assert_eq!(fault(&fail(Version::Soap11, "own code").await).code, FaultCode::Other(QName::new("urn:test", "Own")));
}

#[tokio::test]
async fn a_panic_is_a_fault_that_tells_nothing() {
    let (service, _) = service();
    let body = message(Version::Soap11, &[], &Fail { how: "panic".to_owned() });
    let answered = post(&service, "text/xml", body).await;
    assert_eq!(fault(&answered).code, FaultCode::Receiver);
    assert!(!answered.body.contains("secret"));
    assert_eq!(post(&service, "text/xml", message(Version::Soap11, &[], &echo(""))).await.status, StatusCode::OK);
}

#[tokio::test]
async fn one_way_messages_are_accepted_and_run() {
    let (service, mut events) = service();
    for event in ["panic", "first", "second"] {
        let body = message(Version::Soap11, &[], &Notify { event: event.to_owned() });
        let answered = post(&service, "text/xml", body).await;
        assert_eq!((answered.status, answered.body.as_str()), (StatusCode::ACCEPTED, ""));
    }
    assert_eq!(events.recv().await.as_deref(), Some("first"));
    assert_eq!(events.recv().await.as_deref(), Some("second"));
}

#[tokio::test]
async fn too_long_a_message_is_refused_announced_or_not() {
    let (service, _) = service();
    let body = message(Version::Soap12, &[], &echo(&"x".repeat(LARGEST as usize)));
    let unannounced = post_pieces(&service, "text/xml", body.as_bytes(), 1000).await;
    assert_eq!(unannounced.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert!(fault(&unannounced).reason.contains("200000"));
    assert!(unannounced.content_type().starts_with("application/soap+xml"), "the envelope told its version");

    let request = Request::post("/").body(http_body_util::Full::new(bytes::Bytes::from(body))).expect("a request");
    let before = service.stats().snapshot().bytes_in;
    let announced = tower::ServiceExt::oneshot(service.clone(), request).await.expect("infallible");
    assert_eq!(announced.status(), StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(service.stats().snapshot().bytes_in, before, "nothing was read");
}

#[tokio::test]
async fn only_pages_and_messages_are_served() {
    let (service, _) = service();
    let ask = async |method: &str, uri: &str| {
        let request = Request::builder().method(method).uri(uri).header("host", "h:81");
        send(&service, request.body(Pieces::of(b"", 1)).expect("a request")).await
    };
    let refused = ask("PUT", "/").await;
    assert_eq!(
        (refused.status, &refused.headers["allow"]),
        (StatusCode::METHOD_NOT_ALLOWED, &"GET, HEAD, POST".parse().expect("a header"))
    );

    let page = ask("GET", "/x").await;
    assert_eq!((page.status, page.content_type()), (StatusCode::OK, "text/html; charset=utf-8"));
    for part in ["Test &amp; more", "{urn:test}Echo", "{urn:test}Notify", ">one-way<", "urn:describe", "?wsdl"] {
        assert!(page.body.contains(part), "{part} in {}", page.body);
    }

    let wsdl = ask("GET", "/x&y?WSDL").await;
    assert_eq!((wsdl.status, wsdl.content_type()), (StatusCode::OK, "text/xml; charset=utf-8"));
    assert_eq!(wsdl.body, WSDL.replace("http://example.org/", "http://h:81/x&amp;y"));
}

#[tokio::test]
async fn a_service_without_a_description_makes_one_or_says_so() {
    let get = || Request::get("/s?wsdl").header("host", "h:81").body(Pieces::of(b"", 1)).expect("a request");
    let empty = SoapService::builder().build().expect("a service");
    assert_eq!((send(&empty, get()).await.status, empty.wsdl()), (StatusCode::NOT_FOUND, None));

    let build = || SoapService::builder().operation(async |_: Lease<Echo>| Ok::<_, Infallible>(echoed(&echo(""))));
    let made = build().build().expect("a service");
    let expected = made.wsdl().expect("a WSDL").replace("http://localhost/", "http://h:81/s");
    assert_eq!(send(&made, get()).await.body, expected);
    assert_eq!(expected.matches("location=\"http://h:81/s\"").count(), 2, "{expected}");
    let set = build().wsdl(WSDL).location("http://example.org/").build().expect("a service");
    assert_eq!(set.wsdl().as_deref(), Some(WSDL));

    let request = Request::get("/?wsdl").body(Pieces::of(b"", 1)).expect("a request");
    let moved = build().wsdl(WSDL).location("https://proxy/a'b").build().expect("a service");
    assert!(send(&moved, request).await.body.contains("location=\"https://proxy/a&#39;b\""));
}

#[tokio::test]
async fn the_schema_of_soap_encoding_is_served_beside_a_wsdl_with_arrays() {
    #[derive(Soap)]
    #[soap(namespace = "urn:test", message)]
    struct Numbers {
        numbers: SoapArray<f64>,
    }

    let get = |query: &str| {
        let request = Request::get(format!("/s?{query}")).header("host", "h:81");
        request.body(Pieces::of(b"", 1)).expect("a request")
    };
    let service = SoapService::builder().encoding(Use::Encoded).operation(async |numbers: Numbers| numbers);
    let service = service.build().expect("a service");
    let wsdl = send(&service, get("wsdl")).await.body;
    let import = "<xsd:import namespace=\"http://schemas.xmlsoap.org/soap/encoding/\" \
                  schemaLocation=\"http://h:81/s?xsd=soap-encoding.xsd\"/>";
    assert!(wsdl.contains(import), "{wsdl}");
    let schema = send(&service, get("xsd=soap-encoding.xsd")).await;
    assert_eq!((schema.status, schema.content_type()), (StatusCode::OK, "text/xml; charset=utf-8"));
    for part in ["targetNamespace=\"http://schemas.xmlsoap.org/soap/encoding/\"", "<xsd:complexType name=\"Array\">"] {
        assert!(schema.body.contains(part), "{}", schema.body);
    }

    let service = SoapService::builder().operation(async |_: Lease<Echo>| Ok::<_, Infallible>(echoed(&echo(""))));
    let service = service.build().expect("a service");
    assert_eq!(send(&service, get("xsd=soap-encoding.xsd")).await.status, StatusCode::NOT_FOUND);
}

#[test]
fn services_that_cannot_be_are_not_built() {
    let build = || SoapService::builder().operation(async |_: Lease<Echo>| Ok::<_, Infallible>(echoed(&echo(""))));
    let twice = build().operation(async |_: Lease<Echo>| Ok::<_, Fault>(echo(""))).build();
    assert_eq!(twice.expect_err("two of a name"), BuildError::DuplicateOperation(Echo::ELEMENT));
    assert!(matches!(build().wsdl("<a>").build(), Err(BuildError::Wsdl(_))));
}

#[tokio::test]
async fn everything_is_counted() {
    let (service, _) = service();
    let body = message(Version::Soap11, &[], &echo("x"));
    let good = post(&service, "text/xml", &body).await;
    let bad = post(&service, "text/xml", "<a/>").await;
    let stats = service.stats().snapshot();
    assert_eq!((stats.messages, stats.faults), (2, 1));
    assert_eq!(stats.bytes_in, body.len() as u64 + 4);
    assert_eq!(stats.bytes_out, (good.body.len() + bad.body.len()) as u64);
    assert!(!stats.decode_time.is_zero() && !stats.encode_time.is_zero());
}

/// A body of two elements, in document style.
#[derive(Debug, PartialEq, Soap)]
#[soap(group, element = "", namespace = "urn:test", qualified)]
struct Transfer {
    from: String,
    to: String,
    cents: Option<i32>,
}

#[tokio::test]
async fn several_elements_in_a_body_are_one_request() {
    let answer = async |transfer: Lease<Transfer>| {
        let Transfer { from, to, cents } = &*transfer;
        Ok::<_, Fault>(Transfer { from: to.clone(), to: from.clone(), cents: *cents })
    };
    let service = SoapService::builder().operation(answer).build().expect("a service");
    let part = |name: &str, text: &str| format!("<{name} xmlns='urn:test'>{text}</{name}>");
    let (from, to, cents) = (part("from", "ada"), part("to", "grace"), part("cents", "5"));
    for (parts, found) in [
        (vec![&from, &to], Ok(None)),
        (vec![&from, &cents, &to], Ok(Some(5))),
        (vec![&from, &cents], Err("missing element <{urn:test}to>")),
        (vec![&from, &to, &to], Err("unexpected element <{urn:test}to>, expected <{urn:test}cents>")),
        (vec![&to, &from], Err("{urn:test}to")),
    ] {
        for version in BOTH {
            let body: String = parts.iter().map(|part| part.as_str()).collect();
            let ns = version.namespace();
            let envelope = format!("<e:Envelope xmlns:e='{ns}'><e:Body>{body}</e:Body></e:Envelope>");
            for size in [1, usize::MAX] {
                let answered = post_pieces(&service, "text/xml", envelope.as_bytes(), size).await;
                let reply = decode_reply::<Transfer>(answered.body.as_bytes()).expect("a message").1;
                match (reply, found) {
                    (Reply::Response(transfer), Ok(cents)) => {
                        assert_eq!(transfer, Transfer { from: "grace".to_owned(), to: "ada".to_owned(), cents });
                    }
                    (Reply::Fault(fault), Err(why)) => assert!(fault.reason.contains(why), "{}", fault.reason),
                    (other, _) => panic!("{envelope}: {other:?}"),
                }
            }
        }
    }
}
