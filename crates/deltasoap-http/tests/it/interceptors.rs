//! Interceptors of both sides: what they see, what they may change, in which order they run.

use crate::common::{Echo, EchoResponse, Notify, Ticket, echo, echoed, serve};
use deltasoap::client::CallError;
use deltasoap::server::Extension;
use deltasoap::soap::HeaderBlock;
use deltasoap::{Client, Context, Fault, Lease, Message, SoapService};
use http::HeaderValue;
use std::sync::{Arc, Mutex};

type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

#[derive(Clone)]
struct Length(usize);

fn handler(length: Option<Extension<Length>>, request: Lease<Echo>) -> EchoResponse {
    let mut response = echoed(&request);
    response.numbers = length.map(|Extension(Length(length))| length as i32).into_iter().collect();
    response
}

#[tokio::test]
async fn servers_show_decoded_requests_and_responses() -> Result<()> {
    let service = SoapService::builder()
        .operation(handler)
        .intercept(|request| {
            assert_eq!(*request.operation(), Echo::ELEMENT);
            assert!(request.body::<Notify>().is_none());
            let length = request.body::<Echo>().expect("an echo").text.len();
            request.context().insert_extension(Length(length));
            Ok(())
        })
        .intercept(|request| match request.context().extension::<Length>() {
            Some(Length(length)) if *length > 3 => Err(Fault::sender("too long")),
            Some(_) => Ok(()),
            None => Err(Fault::receiver("the first interceptor runs first")),
        })
        .intercept_response(|response| {
            let number = response.body::<EchoResponse>().expect("a response").numbers[0];
            response.headers().push(HeaderBlock::from_message(&Ticket { number }).map_err(Fault::from)?);
            Ok(())
        })
        .intercept_response(|response| match response.body::<EchoResponse>() {
            Some(response) if response.text == "bad" => Err(Fault::receiver("a bad response")),
            _ => Ok(()),
        })
        .build()?;
    let (address, _handle) = serve(service).await;
    let client = Client::new(format!("http://{address}/"))?;
    for _ in 0..3 {
        let response = client.call_with(&echo("abc"), Default::default()).await?;
        assert_eq!(response.body.numbers, [3]);
        assert_eq!(response.header::<Ticket>().transpose()?, Some(Ticket { number: 3 }));
    }
    for (text, reason) in [("abcd", "too long"), ("bad", "a bad response")] {
        match client.call(&echo(text)).await {
            Err(CallError::Fault(fault)) => assert_eq!(fault.reason, reason),
            other => panic!("{other:?}"),
        }
    }
    Ok(())
}

/// A one-way request that an interceptor refuses is answered with a fault.
#[tokio::test]
async fn one_way_requests_can_be_refused() -> Result<()> {
    let service = SoapService::builder()
        .operation(|_: Notify| -> () { panic!("never called") })
        .intercept(|_| Err(Fault::sender("no")))
        .build()?;
    let sent = Client::with_service("http://localhost/", service)?.send(&Notify { event: String::new() }).await;
    assert!(matches!(&sent, Err(CallError::Fault(fault)) if fault.reason == "no"), "{sent:?}");
    Ok(())
}

#[tokio::test]
async fn clients_show_requests_and_decoded_responses() -> Result<()> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (first, last) = (Arc::clone(&seen), Arc::clone(&seen));
    let service = SoapService::builder().operation(|context: Context, request: Lease<Echo>| {
        let ticket = context.header::<Ticket>().transpose().expect("valid").map(|ticket| ticket.number);
        let is_marked = context.parts().headers.contains_key("x-mark");
        EchoResponse { text: request.text.clone(), numbers: ticket.into_iter().chain([is_marked.into()]).collect() }
    });
    let client = Client::builder("http://localhost/")
        .intercept(|request| {
            assert_eq!(*request.name(), Echo::ELEMENT);
            let number = request.body::<Echo>().expect("an echo").numbers[0];
            request.headers().push(HeaderBlock::from_message(&Ticket { number })?);
            request.http_headers().insert("x-mark", HeaderValue::from_static("yes"));
            Ok(())
        })
        .intercept(|request| match request.body::<Echo>() {
            Some(echo) if echo.text == "unsent" => Err("not allowed".into()),
            _ => Ok(()),
        })
        .intercept_response(move |_| {
            first.lock().expect("no panic").push("first");
            Ok(())
        })
        .intercept_response(move |response| {
            last.lock().expect("no panic").push("last");
            match response.body::<EchoResponse>() {
                Some(response) if response.text == "bad" => Err("a bad response".into()),
                _ => Ok(()),
            }
        })
        .build_with(service.build()?)?;
    assert_eq!(client.call(&echo("a")).await?.numbers, [1, 1]);
    assert_eq!(client.call_leased(&echo("a")).await?.numbers, [1, 1]);
    assert_eq!(*seen.lock().expect("no panic"), ["last", "first", "last", "first"]);
    let unsent = client.call(&echo("unsent")).await.expect_err("refused");
    assert!(matches!(unsent, CallError::RefusedRequest(_)), "{unsent:?}");
    assert_eq!(unsent.to_string(), "the request was not sent: not allowed");
    let bad = client.call(&echo("bad")).await.expect_err("refused");
    assert!(matches!(bad, CallError::Refused(_)), "{bad:?}");
    assert_eq!(bad.to_string(), "the answer is refused: a bad response");
    Ok(())
}
