//! Messages that violate the WSDL.

use super::*;

#[tokio::test]
async fn invalid_requests_are_refused_before_the_target() {
    let target = Target::default();
    let proxy = target.proxy("validation = \"refuse\"", Some(shop()), |_, _| xml(""));
    let broken = order("Ada").replace("<count>2</count>", "<count>two</count>");
    let answer = send(&proxy, post(&broken)).await;
    assert_eq!(answer.status, StatusCode::INTERNAL_SERVER_ERROR, "{answer:?}");
    assert!(answer.element("faultcode").ends_with(":Client"), "{answer:?}");
    assert!(answer.element("faultstring").contains("/Envelope/Body/Order/item/count"), "{answer:?}");
    // The fault is of the message's version.
    let of_12 = broken.replace("http://schemas.xmlsoap.org/soap/envelope/", "http://www.w3.org/2003/05/soap-envelope");
    let answer = send(&proxy, post(&of_12)).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{answer:?}");
    assert!(answer.text.contains(":Sender<"), "{answer:?}");
    // A response is no request, and neither is what the WSDL does not have.
    for other in ["<OrderResponse xmlns='urn:shop'/>", "<Other xmlns='urn:shop'/>"] {
        let answer = send(&proxy, post(&envelope("", other))).await;
        assert!(answer.element("faultcode").ends_with(":Client"), "{answer:?}");
    }
    assert_eq!(target.count(), 0);
}

#[tokio::test]
async fn invalid_answers_become_faults_and_faults_pass() {
    let target = Target::default();
    let proxy = target.proxy("validation = \"refuse\"", Some(shop()), |_, body| match body.contains("Ada") {
        true => xml(envelope("", "<OrderResponse xmlns='urn:shop'><number>x</number></OrderResponse>")),
        false => {
            xml(envelope("", "<e:Fault><faultcode>e:Server</faultcode><faultstring>sold out</faultstring></e:Fault>"))
        }
    });
    let answer = send(&proxy, post(&order("Ada"))).await;
    assert!(answer.element("faultcode").ends_with(":Server"), "{answer:?}");
    assert!(answer.element("faultstring").contains("the response violates the WSDL"), "{answer:?}");
    assert_eq!(send(&proxy, post(&order("Bob"))).await.element("faultstring"), "sold out");
}

#[tokio::test]
async fn valid_messages_pass() {
    for validation in ["refuse", "report"] {
        let proxy = before_shop(&format!("validation = \"{validation}\""));
        let answer = send(&proxy, post(&order("Ada"))).await;
        assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
        assert!(answer.text.contains("OrderResponse"), "{answer:?}");
    }
}

#[tokio::test]
async fn what_is_only_reported_passes() {
    let target = Target::default();
    let proxy = target.proxy("validation = \"report\"", Some(shop()), |_, _| xml("no message"));
    let answer = send(&proxy, post("not even XML")).await;
    assert_eq!((answer.text.as_str(), target.last().1.as_str()), ("no message", "not even XML"));
}

#[tokio::test]
async fn rules_name_operations_of_the_wsdl() {
    for text in ["[cache]\noperations = [\"Ordre\"]", "[trouble]\nlatency = [\"Ordre:5\"]"] {
        let service = Mock::new(shop()).service().expect("a service");
        let error = Proxy::new(&configured(text), Some(shop()), service).expect_err(text).to_string();
        assert!(error.contains("no operation \"Ordre\", but ") && error.contains("Order"), "{error}");
    }
    let answer = send(&before_shop("validation = \"refuse\""), post("")).await;
    assert_eq!(answer.element("faultstring"), "the request is empty");
}
