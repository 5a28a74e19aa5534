//! Calls by name, against a mock of the same contract.

use crate::support::{self, shop};
use deltasoap_core::soap::{Fault, HeaderBlock, Version};
use deltasoap_core::{Differential, Node, QName, Templating, Tolerance};
use deltasoap_dynamic::{Contract, DynamicClient, DynamicError, Mock};
use deltasoap_http::{CallError, CallOptions, Server, SoapService};
use serde_json::{Value as Json, json};

fn order(count: usize) -> Json {
    let item = |number: usize| json!({ "code": format!("A-{number}"), "count": 1 + number % 7 });
    json!({ "customer": "Ada", "item": (0..count).map(item).collect::<Vec<_>>() })
}

fn client(service: SoapService) -> DynamicClient<SoapService> {
    DynamicClient::with_transport(shop(), service)
}

#[tokio::test]
async fn operations_answer_with_samples_in_both_versions() {
    let client = client(Mock::new(shop()).service().expect("a service"));
    for version in [Version::Soap11, Version::Soap12] {
        let client = client.clone().version(version);
        let placed = client.call("Order", &order(2)).await.expect("a response");
        assert_eq!(placed["total"], json!({ "@currency": "EUR", "$": 1 }));
        let catalogue = client.prepare("Catalogue").expect("an operation").send_json(&json!({})).await;
        let reply = catalogue.expect("a response").expect("a response");
        assert_eq!(reply.head.version(), version);
        assert_eq!(reply.to_json().expect("JSON")["root"]["name"], "text");
        assert_eq!(client.call("Ping", &json!({ "text": "x" })).await.expect("nothing"), Json::Null);
    }
}

#[tokio::test]
async fn over_a_socket_with_an_endpoint_of_its_own() {
    let server = Server::bind("127.0.0.1:0").await.expect("a port");
    let address = server.local_addr().expect("an address");
    tokio::spawn(server.serve(Mock::new(shop()).service().expect("a service")));
    let client = DynamicClient::new(shop()).endpoint(format!("http://{address}/"));
    assert_eq!(client.call("Order", &order(1)).await.expect("a response")["number"], 1);
}

#[tokio::test]
async fn functions_answer_and_fail_with_details() {
    let detail =
        shop().element_from_json(&QName::new("urn:shop", "SoldOut"), &json!({ "code": "A-0" })).expect("a detail");
    let mock = Mock::new(shop()).handle("Order", move |order| match order["item"].as_array().map(Vec::len) {
        Some(count @ 2..) => Ok(
            json!({ "number": count, "total": { "@currency": "CHF", "$": "1.10" }, "placed": "2026-01-01T00:00:00Z" }),
        ),
        _ => {
            let mut fault = Fault::sender("sold out");
            fault.detail.push(detail.clone());
            Err(Box::new(fault))
        }
    });
    let client = client(mock.expect("an operation").service().expect("a service"));
    assert_eq!(client.call("Order", &order(3)).await.expect("a response")["number"], 3);
    for version in [Version::Soap11, Version::Soap12] {
        match client.clone().version(version).call("Order", &order(1)).await {
            Err(DynamicError::Fault(fault)) => {
                let code = if version == Version::Soap11 { "Client" } else { "Sender" };
                let expected =
                    json!({ "code": code, "reason": "sold out", "detail": { "SoldOut": { "code": "A-0" } } });
                assert_eq!(fault.to_json(), expected);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn header_blocks_go_with_a_call() {
    let client = client(Mock::new(shop()).service().expect("a service"));
    let session = QName::new("urn:shop", "Session");
    let call = client.prepare("Order").expect("an operation");
    let call = call.header_json(&session, &json!({ "token": "t" })).expect("a declared element");
    let block = HeaderBlock { node: deltasoap_core::Node::with_text(QName::new("urn:x", "free"), "x") };
    let call = call.header(block).options(CallOptions::new().timeout(std::time::Duration::from_secs(5)));
    assert!(call.send_json(&order(1)).await.is_ok());
    let error = client.prepare("Order").expect("an operation").header_json(&session, &json!({})).expect_err("no token");
    assert_eq!(error.to_string(), ".token: expected a string of xsd:string, found nothing, and it is required");
    // An undeclared block with `mustUnderstand` must not be ignored.
    let unknown =
        HeaderBlock { node: deltasoap_core::Node::new(QName::new("urn:x", "must")) }.must_understand(Version::Soap11);
    let call = client.prepare("Order").expect("an operation").header(unknown);
    assert!(matches!(call.send_json(&order(1)).await, Err(DynamicError::Fault(_))));
}

#[tokio::test]
async fn repeated_calls_are_written_and_read_where_they_differ() {
    let weights: Vec<f64> = (0..2_000).map(|number| f64::from(number) + 0.5).collect();
    let catalogue = json!({ "root": { "name": "all" }, "weight": weights });
    let service = Mock::new(shop()).answer("Catalogue", &catalogue).expect("a response").service().expect("a service");
    // Adaptive modes choose by time, which depends on the machine's load.
    let client = client(service).configure(|client| {
        let differential = Differential { adaptive: false, ..Differential::default() };
        client.differential(differential).templating(Templating { adaptive: false, ..Templating::default() })
    });
    for _ in 0..6 {
        let call = client.prepare("Catalogue").expect("an operation");
        let reply = call.send_json(&json!({})).await.expect("a response").expect("a response");
        assert_eq!(reply.to_json().expect("JSON"), catalogue);
    }
    let decoded = client.differential_stats();
    assert_eq!(decoded.messages, 6);
    assert!(decoded.fast_bytes > 10 * decoded.regular_bytes / 6, "{decoded:?}");
    let mut request = order(500);
    for number in 0..5 {
        request["item"][17]["count"] = json!(number + 1);
        client.call("Order", &request).await.expect("a response");
    }
    let encoded = client.encode_stats();
    let matched = encoded.perfect + encoded.content;
    assert!(matched >= 4, "{encoded:?}");
}

#[tokio::test]
async fn recorded_replies_come_in_turn() {
    let directory = tempfile::tempdir().expect("a directory");
    let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).expect("a file");
    let response = |number: u32| {
        format!(
            "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/' xmlns='urn:shop'><s:Body><OrderResponse>\
             <number>{number}</number><total currency='EUR'>1</total><placed>2026-01-01T00:00:00Z</placed>\
             </OrderResponse></s:Body></s:Envelope>"
        )
    };
    write("b10.xml", &response(10));
    write("b9.xml", &response(9));
    write(
        "Order-fault.xml",
        "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><s:Fault>\
        <faultcode>s:Server</faultcode><faultstring>closed</faultstring></s:Fault></s:Body></s:Envelope>",
    );
    write("Catalogue.json", r#"{"root": {"name": "recorded"}}"#);
    write("readme.txt", "not a message");
    let client = client(Mock::new(shop()).recorded(directory.path()).expect("replies").service().expect("a service"));
    for number in [9, 10] {
        assert_eq!(client.call("Order", &order(1)).await.expect("a response")["number"], number);
    }
    assert!(
        matches!(client.call("Order", &order(1)).await, Err(DynamicError::Fault(fault)) if fault.fault.reason == "closed")
    );
    assert_eq!(client.call("Order", &order(1)).await.expect("a response")["number"], 9);
    assert_eq!(client.call("Catalogue", &json!({})).await.expect("a response")["root"]["name"], "recorded");
    write("Other.json", "{}");
    assert!(Mock::new(shop()).recorded(directory.path()).is_err());
}

/// A recorded answer has what its service sends, not only what the WSDL declares.
#[tokio::test]
async fn recorded_replies_are_read_with_a_tolerance() {
    let directory = tempfile::tempdir().expect("a directory");
    let record = |content: &str| {
        let text = format!(
            "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/' xmlns='urn:shop'><s:Body><OrderResponse>\
             {content}</OrderResponse></s:Body></s:Envelope>"
        );
        std::fs::write(directory.path().join("Order.xml"), text).expect("a file");
    };
    let recorded = |tolerance| Mock::new(shop()).tolerance(tolerance).recorded(directory.path());
    let (number, total, placed) =
        ("<number>7</number>", "<total currency='EUR'>1</total>", "<placed>2026-01-01T00:00:00Z</placed>");
    record(&[number, "<new/>", total, placed].concat());
    assert!(recorded(Tolerance::Strict).is_err());
    let mock = Mock::new(shop()).recorded(directory.path()).expect("replies");
    let shown: Vec<String> = mock.deviations().map(|(path, it)| format!("{}: {it}", path.display())).collect();
    assert_eq!(shown.len(), 1);
    assert!(shown[0].ends_with("Order.xml: unknown element {urn:shop}new in /OrderResponse"), "{shown:?}");
    let client = client(mock.service().expect("a service"));
    assert_eq!(client.call("Order", &order(1)).await.expect("a response")["number"], 7);
    assert_eq!(client.deviations(), 0, "it was not sent");
    record(&[placed, total, number].concat());
    assert!(recorded(Tolerance::Unknown).is_err());
    assert_eq!(recorded(Tolerance::AnyOrder).expect("replies").deviations().count(), 1);
}

/// Header blocks that the WSDL declares for a response are understood, others are not.
#[tokio::test]
async fn mandatory_header_blocks_of_responses_are_those_that_are_declared() {
    let wsdl = support::SHOP.replacen(
        "<output><soap:body use=\"literal\"/></output>",
        "<output><soap:header message=\"tns:SessionHeader\" part=\"session\" use=\"literal\"/><soap:body use=\"literal\"/></output>",
        1,
    );
    assert_ne!(wsdl, support::SHOP);
    let answer = |block: &str| {
        let body = "<OrderResponse xmlns='urn:shop'><number>7</number><total currency='EUR'>1</total>\
            <placed>2026-01-02T03:04:05Z</placed></OrderResponse>";
        let soap = "http://schemas.xmlsoap.org/soap/envelope/";
        let message = format!(
            "<s:Envelope xmlns:s='{soap}'><s:Header><{block} s:mustUnderstand='1'><token>t</token></{block}></s:Header>\
             <s:Body>{body}</s:Body></s:Envelope>",
        )
        .replace("<Session ", "<Session xmlns='urn:shop' ");
        tower::service_fn(move |_: http::Request<deltasoap_http::Body>| {
            let response = http::Response::builder().header("content-type", "text/xml");
            let body = http_body_util::Full::new(bytes::Bytes::from(message.clone()));
            std::future::ready(Ok::<_, std::convert::Infallible>(response.body(body).expect("a response")))
        })
    };
    let declared = deltasoap_dynamic::Contract::from_text(&wsdl).expect("a description");
    let call = async |contract, block, options: CallOptions| {
        let client = DynamicClient::with_transport(contract, answer(block)).endpoint("http://localhost/");
        client.prepare("Shop.Soap11.Order").expect("an operation").options(options).send_json(&order(1)).await
    };
    let reply = call(declared.clone(), "Session", CallOptions::new()).await.expect("a response").expect("a response");
    assert_eq!(reply.headers_to_json()["Session"]["token"], "t");
    for (contract, block) in [(shop(), "Session"), (declared.clone(), "Other")] {
        let refused = call(contract, block, CallOptions::new()).await;
        let Err(DynamicError::Call(CallError::NotUnderstood(error))) = refused else { panic!("{refused:?}") };
        assert!(error.path().starts_with("/Envelope/Header/"), "{error}");
    }
    assert!(call(shop(), "Session", CallOptions::new().understands_all()).await.is_ok());
}

#[tokio::test]
async fn overloaded_operations_are_named_with_their_inputs() {
    let contract =
        deltasoap_dynamic::Contract::from_text(include_str!("../data/overloaded.wsdl")).expect("a description");
    let names: Vec<_> = contract.operations().iter().map(deltasoap_dynamic::Operation::full_name).collect();
    assert_eq!(names, ["S.Po.Find:name", "S.Po.Find:number", "S.Po.Other"]);
    for name in ["Find", "Po.Find", "S/Po/Find"] {
        let error = contract.operation(name).expect_err("two of a name").to_string();
        assert!(error.contains("S.Po.Find:name, S.Po.Find:number"), "{error}");
        assert_eq!(contract.describe(name).len(), 2, "{name}");
    }
    for name in ["Find:no", "Other:name", "o.Find:name", "nd:name"] {
        assert!(contract.operation(name).is_err(), "{name}");
    }
    let mock = Mock::new(contract.clone()).answer("Find:name", &json!("found")).expect("an operation");
    let mock = mock.answer("Find(number)", &json!(7)).expect("an operation");
    let client = DynamicClient::with_transport(contract.clone(), mock.service().expect("a service"));
    for _ in 0..2 {
        for name in ["Find:name", "S.Po.Find(name)"] {
            assert_eq!(client.call(name, &json!("x")).await.expect("a response"), json!("found"));
        }
        assert_eq!(client.call("Po/Find:number", &json!(5)).await.expect("a response"), json!(7));
    }
    assert_eq!(contract.describe("Find:number")[0].name, "S.Po.Find:number");
}

/// Errors in header blocks are reported in header blocks (SOAP 1.1, 4.4).
#[tokio::test]
async fn header_blocks_come_with_a_fault() {
    let fault = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Header><h:Why xmlns:h='urn:h'><h:code>1.50</h:code>\
                 </h:Why></s:Header><s:Body><s:Fault><faultcode>s:Client</faultcode><faultstring>no</faultstring></s:Fault></s:Body>\
                 </s:Envelope>";
    let answer = tower::service_fn(move |_: http::Request<deltasoap_http::Body>| {
        let response = http::Response::builder().status(500).header("content-type", "text/xml");
        let body = http_body_util::Full::new(bytes::Bytes::from(fault));
        std::future::ready(Ok::<_, std::convert::Infallible>(response.body(body).expect("a response")))
    });
    let client = DynamicClient::with_transport(shop(), answer).endpoint("http://localhost/");
    let order = client.prepare("Shop.Soap11.Order").expect("an operation").send_json(&order(1)).await;
    let Err(DynamicError::Fault(fault)) = order else { panic!("no fault") };
    assert_eq!(fault.headers.len(), 1);
    let headers = fault.to_json()["headers"].to_string();
    assert!(headers.contains("Why") && headers.contains("1.50"), "{headers}");
}

/// A mock answers header blocks that do not match its contract with a fault.
#[tokio::test]
async fn wrong_header_blocks_are_answered_with_a_fault() {
    let client = client(Mock::new(shop()).service().expect("a service"));
    for (content, is_right) in [("<token>x</token>", true), ("", false), ("<token><a/></token>", false)] {
        let node =
            Node::parse(format!("<Session xmlns='urn:shop'>{content}</Session>").as_bytes()).expect("an element");
        let call = client.prepare("Order").expect("an operation").header(HeaderBlock { node });
        match call.send_json(&order(1)).await {
            Ok(_) => assert!(is_right, "{content}"),
            Err(DynamicError::Fault(fault)) => {
                let reason = &fault.fault.reason;
                assert!(!is_right && reason.contains("/Envelope/Header/Session"), "{reason}");
            }
            Err(error) => panic!("{content}: {error}"),
        }
    }
}

/// A header block that is declared by its type has the namespace of the binding, or else that of
/// the message (WSDL 1.1, 3.7).
#[test]
fn header_blocks_of_a_type() {
    for (binding, namespace) in [("use='literal'", "urn:h"), ("use='literal' namespace='urn:other'", "urn:other")] {
        let text = format!(
            "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/' xmlns:soap='http://schemas.xmlsoap.org/wsdl/soap/' \
             xmlns:xs='http://www.w3.org/2001/XMLSchema' xmlns:h='urn:h' targetNamespace='urn:h'><types>\
             <xs:schema targetNamespace='urn:h'><xs:complexType name='Session'><xs:sequence><xs:element name='id' type='xs:int'/>\
             </xs:sequence></xs:complexType></xs:schema></types><message name='H'><part name='gone' type='xs:int'/>\
             <part name='session' type='h:Session'/></message><message name='I'/><portType name='P'>\
             <operation name='Op'><input message='h:I'/><output message='h:I'/></operation></portType>\
             <binding name='B' type='h:P'><soap:binding style='rpc' transport='http://schemas.xmlsoap.org/soap/http'/>\
             <operation name='Op'><soap:operation soapAction=''/><input><soap:body use='literal' namespace='urn:h'/>\
             <soap:header message='h:H' part='missing' use='encoded'/><soap:header message='h:H' part='session' {binding}/></input>\
             <output><soap:body use='literal' namespace='urn:h'/><soap:header message='h:H' part='session' {binding}/></output>\
             </operation></binding></definitions>"
        );
        let operation = Contract::from_text(&text).expect("a description").operation("Op").expect("an operation");
        let name = QName::new(namespace, "session");
        assert_eq!(operation.request_headers().collect::<Vec<_>>(), [&name]);
        let json = json!({ "id": 7 });
        let node = operation.header_from_json(&name, &json).expect("a header block");
        assert_eq!((&node.name, node.elements().next().map(Node::text)), (&name, Some("7".into())));
        assert_eq!(operation.header_to_json(&node), json);
        for (id, is_right) in [("7", true), ("x", false), ("", false)] {
            let envelope = format!(
                "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Header><h:session xmlns:h='{namespace}'>\
                 <id>{id}</id></h:session></s:Header><s:Body><h:Op xmlns:h='urn:h'/></s:Body></s:Envelope>"
            );
            let findings = operation.contract().validate(envelope.as_bytes());
            assert_eq!(findings.is_empty(), is_right, "{id}: {findings:?}");
        }
        let error = operation.header_from_json(&name, &json!({ "id": "x" })).expect_err("no number");
        assert!(error.to_string().contains("id"), "{error}");
    }
}

/// Operations that the service begins: its output is the request, and its clients' input the
/// response. The service's side is the client of the exchange, here as elsewhere.
#[tokio::test]
async fn operations_that_the_service_begins_are_sent() {
    let text = "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/' xmlns:soap='http://schemas.xmlsoap.org/wsdl/soap/'
        xmlns:xs='http://www.w3.org/2001/XMLSchema' xmlns:t='urn:t' targetNamespace='urn:t'>
      <message name='alarm'><part name='level' type='xs:int'/></message><message name='seen'><part name='by' type='xs:string'/></message>
      <portType name='P'>
        <operation name='Tell'><output message='t:alarm'/></operation>
        <operation name='Ask'><output message='t:alarm'/><input message='t:seen'/></operation>
      </portType>
      <binding name='B' type='t:P'><soap:binding style='rpc'/>
        <operation name='Tell'><output><soap:body use='literal' namespace='urn:out'/></output></operation>
        <operation name='Ask'>
          <input><soap:body use='literal' namespace='urn:in'/></input><output><soap:body use='literal' namespace='urn:out'/></output>
        </operation>
      </binding>
      <service name='S'><port name='Q' binding='t:B'><soap:address location='http://127.0.0.1/'/></port></service>
    </definitions>";
    let contract = Contract::from_text(text).expect("a description");
    let request = contract.operation("Ask").expect("an operation").request_from_json(&json!({ "level": 1 }));
    assert!(request.is_ok(), "{request:?}");
    let mock = Mock::new(contract.clone()).handle("Ask", |alarm| {
        assert_eq!(alarm, json!({ "level": 3 }));
        Ok(json!({ "by": "Ada" }))
    });
    let client = DynamicClient::with_transport(contract, mock.expect("an operation").service().expect("a service"));
    assert_eq!(client.call("Ask", &json!({ "level": 3 })).await.expect("a response"), json!({ "by": "Ada" }));
    assert_eq!(client.call("Tell", &json!({ "level": 3 })).await.expect("nothing"), Json::Null);
}
