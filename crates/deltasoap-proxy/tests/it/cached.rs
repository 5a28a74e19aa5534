//! Answers that are kept.

use super::*;
use http::HeaderValue;

const CACHE: &str = "[cache]\noperations = [\"Order\"]\n";

fn counting(target: &Target, config: &str) -> Proxy {
    let answers = Arc::new(Mutex::new(0));
    target.proxy(config, None, move |_, body| {
        let mut count = answers.lock().expect("not poisoned");
        *count += 1;
        let related = body.contains("MessageID").then_some(
            "<e:Header><a:RelatesTo xmlns:a='http://www.w3.org/2005/08/addressing'>urn:1</a:RelatesTo></e:Header>",
        );
        xml(envelope(related.unwrap_or_default(), &format!("<OrderResponse><number>{count}</number></OrderResponse>")))
    })
}

async fn number(proxy: &Proxy, request: Request<Full<Bytes>>) -> String {
    send(proxy, request).await.element("number").to_owned()
}

#[tokio::test]
async fn equal_requests_get_one_answer() {
    let target = Target::default();
    let proxy = counting(&target, CACHE);
    assert_eq!(number(&proxy, post(&order("Ada"))).await, "1");
    let again = send(&proxy, post(&order("Ada").replace("<item>", "\n  <item>"))).await;
    assert_eq!((again.element("number"), &again.headers["age"]), ("1", &HeaderValue::from_static("0")));
    assert_eq!(number(&proxy, post(&order("Bob"))).await, "2");
    assert_eq!(number(&proxy, post(&order("Bob").replace("Order", "Other"))).await, "3");
    assert_eq!(number(&proxy, post(&order("Bob").replace("Order", "Other"))).await, "4", "not declared safe");
    let mut new = post(&order("Ada"));
    new.headers_mut().insert("cache-control", HeaderValue::from_static("no-cache"));
    assert_eq!(number(&proxy, new).await, "5");
}

#[tokio::test]
async fn credentials_are_never_shared_unless_that_is_said() {
    let with = |name: &'static str, value: &'static str| {
        let mut request = post(&order("Ada"));
        request.headers_mut().insert(name, HeaderValue::from_static(value));
        request
    };
    let secured = |user: &str| {
        let wsse = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd";
        let header = format!("<e:Header><w:Security xmlns:w='{wsse}'><u>{user}</u></w:Security></e:Header><e:Body>");
        post(&order("Ada").replace("<e:Body>", &header))
    };
    let requests = || {
        [
            post(&order("Ada")),
            with("authorization", "Basic a"),
            with("authorization", "Basic b"),
            with("cookie", "a=b"),
            with("x-api-key", "7"),
            secured("ada"),
            secured("bob"),
        ]
    };
    for (config, shared) in [(CACHE.to_owned(), false), (format!("{CACHE}shared = true"), true)] {
        let proxy = counting(&Target::default(), &config);
        for (index, request) in requests().into_iter().enumerate() {
            let expected = if shared { 1 } else { index + 1 };
            assert_eq!(number(&proxy, request).await, expected.to_string());
        }
        for (index, request) in requests().into_iter().enumerate() {
            let expected = if shared { 1 } else { index + 1 };
            assert_eq!(number(&proxy, request).await, expected.to_string(), "kept");
        }
    }
}

#[tokio::test]
async fn faults_and_private_answers_are_not_kept() {
    for (entry, header) in [
        ("<e:Fault><faultcode>e:Server</faultcode><faultstring>no</faultstring></e:Fault>", ("x", "y")),
        ("<OrderResponse/>", ("set-cookie", "a=b")),
        ("<OrderResponse/>", ("cache-control", "max-age=1, No-Store")),
        ("<OrderResponse/>", ("cache-control", "private")),
        ("<OrderResponse/>", ("cache-control", "max-age=0")),
        ("<OrderResponse/>", ("vary", "a, *")),
    ] {
        let target = Target::default();
        let proxy = target.proxy(CACHE, None, move |_, _| {
            let mut response = xml(envelope("", entry));
            response.headers_mut().insert(header.0, HeaderValue::from_static(header.1));
            response
        });
        send(&proxy, post(&order("Ada"))).await;
        send(&proxy, post(&order("Ada"))).await;
        assert_eq!(target.count(), 2, "{entry} {header:?}");
    }
}

/// An answer relates to the request that gets it.
#[tokio::test]
async fn kept_answers_relate_to_the_new_request() {
    let target = Target::default();
    let proxy = counting(&target, CACHE);
    let with_id = |id: &str| {
        let id = format!(
            "<e:Header><a:MessageID xmlns:a='http://www.w3.org/2005/08/addressing'>{id}</a:MessageID></e:Header><e:Body>"
        );
        post(&order("Ada").replace("<e:Body>", &id))
    };
    assert_eq!(send(&proxy, with_id("urn:1")).await.text.matches(">urn:1<").count(), 1);
    let again = send(&proxy, with_id("urn:2&amp;3")).await;
    assert_eq!(again.text.matches(">urn:2&amp;3<").count(), 1, "{again:?}");
    assert_eq!((again.element("number"), target.count()), ("1", 1));
}

/// Whatever an answer may depend on is part of the key.
#[tokio::test]
async fn other_requests_get_other_answers() {
    let target = Target::default();
    let proxy = counting(&target, CACHE);
    let header = |name: &'static str, value: &'static str| {
        let mut request = post(&order("Ada"));
        request.headers_mut().insert(name, HeaderValue::from_static(value));
        request
    };
    let addressed = |block: &str| {
        let block =
            format!("<e:Header><a:{block} xmlns:a='http://www.w3.org/2005/08/addressing'>urn:1</a:{block}></e:Header>");
        post(&order("Ada").replace("<e:Body>", &format!("{block}<e:Body>")))
    };
    let mut put = post(&order("Ada"));
    *put.method_mut() = http::Method::PUT;
    let others = [
        header("x-remote-user", "ada"),
        header("x-remote-user", "bob"),
        header("accept-language", "de"),
        addressed("Action"),
        addressed("To"),
        addressed("MessageID"),
        put,
    ];
    assert_eq!(number(&proxy, post(&order("Ada"))).await, "1");
    for (index, request) in others.into_iter().enumerate() {
        assert_eq!(number(&proxy, request).await, (index + 2).to_string());
    }
    for neutral in [("user-agent", "x"), ("traceparent", "00-1-2-00"), ("accept-encoding", "gzip")] {
        assert_eq!(number(&proxy, header(neutral.0, neutral.1)).await, "1", "{neutral:?}");
    }
}

#[tokio::test]
async fn answers_vary_by_the_headers_that_they_name() {
    let target = Target::default();
    let proxy = target.proxy(CACHE, None, |_, _| {
        let mut answer = xml(envelope("", "<OrderResponse/>"));
        answer.headers_mut().insert("vary", HeaderValue::from_static("Accept-Encoding, User-Agent"));
        answer
    });
    for (agent, count) in [("a", 1), ("a", 1), ("b", 2), ("b", 2)] {
        let mut request = post(&order("Ada"));
        request.headers_mut().insert("user-agent", HeaderValue::from_static(agent));
        send(&proxy, request).await;
        assert_eq!(target.count(), count);
    }
}
