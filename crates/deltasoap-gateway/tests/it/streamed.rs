//! JSON lines and parts.

use crate::{plain, post, send, shop, with};
use deltasoap_dynamic::Mock;
use deltasoap_gateway::{Backend, Config, Gateway, ServiceConfig};
use http::Request;
use http_body_util::{BodyExt, Full};
use serde_json::{Value as Json, json};
use tower::ServiceExt;

const WEIGHTS: usize = 20_000;

fn catalogue() -> Json {
    let weights: Vec<_> = (0..WEIGHTS).map(|it| it as f64 + 0.5).collect();
    json!({ "root": { "name": "all", "category": [{ "name": "a" }] }, "weight": weights })
}

async fn lines(gateway: &Gateway, query: &str) -> http::Response<deltasoap_gateway::ResponseBody> {
    let request = Request::post(format!("/operations/Catalogue{query}")).header("accept", "application/jsonl");
    let Ok(response) = gateway.clone().oneshot(request.body(Full::<bytes::Bytes>::default()).expect("a request")).await;
    response
}

#[tokio::test]
async fn the_items_of_a_list_are_lines() {
    let gateway = with("[[service]]\nwsdl = \"s\"\n", |contract| {
        Mock::new(contract).answer("Catalogue", &catalogue()).expect("an answer")
    });
    let mut response = lines(&gateway, "?list=weight").await;
    assert_eq!(response.headers()["content-type"], "application/jsonl");
    let (mut text, mut frames) = (Vec::new(), 0);
    while let Some(frame) = response.body_mut().frame().await {
        text.extend_from_slice(&frame.expect("a frame").into_data().expect("data"));
        frames += 1;
    }
    let values: Vec<f64> = text
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).expect("a number"))
        .collect();
    assert_eq!((values.len(), values[1]), (WEIGHTS, 1.5));
    assert!(frames > 5, "{frames} frames");
}

#[tokio::test]
async fn lists_that_do_not_exist_are_problems() {
    let wrong = lines(&plain(), "?list=wight").await;
    crate::got(wrong).await.problem(406, "no-list");
}

#[tokio::test]
async fn a_response_that_breaks_off_ends_with_a_problem() {
    let weights = "<weight>1</weight>".repeat(WEIGHTS);
    let whole = format!(
        "<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body><CatalogueResponse xmlns='urn:shop'>\
         <root><name>a</name></root>{weights}<weight>x</weight>"
    );
    let transport = tower::service_fn(move |_| {
        let response = http::Response::builder().header("content-type", "text/xml");
        let response = response.body(Full::<bytes::Bytes>::from(whole.clone())).expect("a response");
        async { Ok::<_, std::convert::Infallible>(response) }
    });
    let config = Config::new(vec![ServiceConfig::new("s")]);
    let gateway = Gateway::new(&config, vec![Backend::new(shop()).transport(transport)]).expect("a gateway");
    let mut response = lines(&gateway, "?list=weight").await;
    let (mut text, mut has_failed) = (Vec::new(), false);
    while let Some(frame) = response.body_mut().frame().await {
        match frame {
            Ok(frame) => text.extend_from_slice(&frame.into_data().expect("data")),
            Err(_) => {
                has_failed = true;
                break;
            }
        }
    }
    let text = String::from_utf8(text).expect("text");
    let mut all: Vec<&str> = text.lines().collect();
    let last: Json = serde_json::from_str(all.pop().expect("a line")).expect("JSON");
    assert!(has_failed && all.len() + 1 >= WEIGHTS && all.iter().all(|line| *line == "1.0"), "{} lines", all.len());
    assert_eq!(last["$problem"]["status"], 502, "{text}");
}

#[tokio::test]
async fn forms_carry_parts() {
    let text = "--b\r\nContent-Disposition: form-data; name=\"request\"\r\nContent-Type: application/json\r\n\r\n\
                {\"customer\": \"Ada\", \"item\": [{\"code\": \"A-1\", \"count\": 2}]}\r\n\
                --b\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"p\"\r\nContent-Type: image/png\r\n\r\nPNG\r\n--b--\r\n";
    let request = Request::post("/operations/Order").header("content-type", "multipart/form-data; boundary=b");
    let got = send(&plain(), request.body(Full::from(text)).expect("a request")).await;
    assert_eq!(got.status.as_u16(), 200, "{got:?}");
    let broken = Request::post("/operations/Order").header("content-type", "multipart/form-data; boundary=b");
    send(&plain(), broken.body(Full::from("--b")).expect("a request")).await.problem(400, "malformed");
}

#[tokio::test]
async fn responses_with_parts_are_multipart() {
    let request = Request::post("/operations/Order")
        .header("accept", "multipart/mixed")
        .header("content-type", "application/json");
    let order = r#"{"customer": "Ada", "item": [{"code": "A-1", "count": 2}]}"#;
    let got = send(&plain(), request.body(Full::from(order)).expect("a request")).await;
    assert!(got.headers["content-type"].to_str().expect("text").starts_with("multipart/mixed; boundary="));
    assert!(got.text.contains("Content-Type: application/json\r\n\r\n{\"number\""), "{}", got.text);
    let json = post(&plain(), "/operations/Order", order).await.text;
    assert!(got.text.contains(&json), "{}", got.text);
}
