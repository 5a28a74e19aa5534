//! Messages whose body may belong to several operations, and parts that are elements.

use deltasoap_dynamic::{Contract, DynamicClient, Mock};
use serde_json::json;

/// Creates operations with one-way messages, each with its own port type, binding and port.
fn contract(operations: &[(&str, &str, &str)]) -> Contract {
    let mut text =
        "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/' xmlns:soap='http://schemas.xmlsoap.org/wsdl/soap/' \
        xmlns:xs='http://www.w3.org/2001/XMLSchema' xmlns:t='urn:t' targetNamespace='urn:t'><types>\
        <xs:schema targetNamespace='urn:t'><xs:element name='echo'><xs:complexType><xs:sequence>\
        <xs:element name='doc' type='xs:int'/></xs:sequence></xs:complexType></xs:element>\
        <xs:element name='E' type='xs:int'/></xs:schema></types>"
            .to_owned();
    let mut ports = String::new();
    for (index, (name, style, parts)) in operations.iter().enumerate() {
        let namespace = if *style == "rpc" { "namespace='urn:t'" } else { "" };
        let body = format!("<soap:body use='literal' {namespace}/>");
        text += &format!(
            "<message name='M{index}'>{parts}</message><portType name='P{index}'><operation name='{name}'>\
             <input message='t:M{index}'/><output message='t:M{index}'/></operation></portType>\
             <binding name='B{index}' type='t:P{index}'><soap:binding style='{style}' transport='http://schemas.xmlsoap.org/soap/http'/>\
             <operation name='{name}'><soap:operation soapAction=''/><input>{body}</input><output>{body}</output></operation></binding>"
        );
        ports += &format!(
            "<port name='Port{index}' binding='t:B{index}'><soap:address location='http://127.0.0.1:9/'/></port>"
        );
    }
    Contract::from_text(&format!("{text}<service name='S'>{ports}</service></definitions>")).expect("a description")
}

fn findings(contract: &Contract, body: &str) -> Vec<String> {
    let message = format!(
        "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body xmlns:t='urn:t'>{body}</s:Body></s:Envelope>"
    );
    let found = contract.validate(message.as_bytes());
    found.into_iter().map(|it| format!("{}: {}", it.path.trim_start_matches("/Envelope/Body/"), it.message)).collect()
}

#[test]
fn a_body_is_right_if_one_operation_takes_it() {
    let rpc = ("echo", "rpc", "<part name='x' type='xs:string'/>");
    let document = ("echo", "document", "<part name='p' element='t:echo'/>");
    for operations in [[rpc, document], [document, rpc]] {
        let contract = contract(&operations);
        for body in ["<t:echo><x>a</x></t:echo>", "<t:echo><doc>1</doc></t:echo>"] {
            assert_eq!(findings(&contract, body), [""; 0], "{body}");
        }
        let wrong = findings(&contract, "<t:echo><doc>one</doc></t:echo>");
        assert!(wrong.len() == 1 && wrong[0].starts_with("echo/doc: \"one\" is not of xsd:int"), "{wrong:?}");
        let wrong = findings(&contract, "<t:echo><x>1</x><x>2</x></t:echo>");
        assert!(wrong.len() == 1 && wrong[0].contains("expected the end of the element"), "{wrong:?}");
    }
}

#[tokio::test]
async fn parts_of_rpc_that_are_elements_are_known_by_their_elements() {
    let contract = contract(&[("Op", "rpc", "<part name='x' element='t:E'/>")]);
    assert_eq!(findings(&contract, "<t:Op><t:E>1</t:E></t:Op>"), [""; 0]);
    let wrong = findings(&contract, "<t:Op><t:E>one</t:E></t:Op>");
    assert!(wrong.len() == 1 && wrong[0].starts_with("Op/E: \"one\" is not of xsd:int"), "{wrong:?}");
    assert_eq!(findings(&contract, "<t:Op><x>1</x></t:Op>"), ["Op/x: no part has this name"]);
}

#[tokio::test]
async fn two_parts_may_be_of_one_element() {
    let contract = contract(&[("Op", "document", "<part name='a' element='t:E'/><part name='b' element='t:E'/>")]);
    assert_eq!(findings(&contract, "<t:E>1</t:E><t:E>2</t:E>"), [""; 0]);
    assert_eq!(findings(&contract, "<t:E>1</t:E>").len(), 1);
    assert_eq!(findings(&contract, "<t:E>1</t:E><t:E>2</t:E><t:E>3</t:E>").len(), 1);
    let mock = Mock::new(contract.clone()).handle("Op", Ok).expect("an operation").service().expect("a service");
    let request = contract.operation("Op").expect("an operation");
    let sample = request.request_to_json(&request.request_sample().expect("a sample")).expect("JSON");
    let keys: Vec<_> = sample.as_object().expect("an object").keys().cloned().collect();
    let both = json!({ keys[0].as_str(): 1, keys[1].as_str(): 2 });
    let client = DynamicClient::with_transport(contract, mock);
    assert_eq!(client.call("Op", &both).await.expect("a response"), both);
}
