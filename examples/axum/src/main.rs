//! A service among the routes of an axum application, behind a middleware that identifies the
//! caller.
//!
//! ```text
//! cargo run -p example-axum
//! curl -H 'x-api-key: blue' -H 'content-type: text/xml' http://127.0.0.1:8080/stock -d '
//!   <e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body>
//!     <s:level xmlns:s="urn:stock"><item>bolt</item></s:level></e:Body></e:Envelope>'
//! ```
//!
//! The middleware attaches a [`Principal`], which decides whose earlier messages a request is
//! compared with: two keys share nothing, and all connections of one key share them.

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use deltasoap::server::{BuildError, Principal, shutdown_signal};
use deltasoap::{Context, Fault, Lease, Soap, SoapService};
use tokio::net::TcpListener;

#[derive(Debug, Soap)]
#[soap(namespace = "urn:stock", message, response = LevelResponse)]
struct Level {
    item: String,
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:stock", message)]
struct LevelResponse {
    item: String,
    pieces: u32,
    told: String,
}

async fn level(context: Context, level: Lease<Level>) -> Result<LevelResponse, Fault> {
    let who = context.principal().ok_or_else(|| Fault::receiver("no middleware in front"))?;
    let pieces = match level.item.as_str() {
        "bolt" => 4200,
        "nut" => 17,
        other => return Err(Fault::sender(format!("there is no {other}"))),
    };
    Ok(LevelResponse { item: level.item.clone(), pieces, told: who.0.to_string() })
}

/// Accepts requests with a known key. A real application would ask its database.
async fn by_key(mut request: Request, next: Next) -> Response {
    let name = match request.headers().get("x-api-key").map(axum::http::HeaderValue::as_bytes) {
        Some(b"blue") => "Blue Ltd",
        Some(b"green") => "Green Inc",
        _ => return (StatusCode::UNAUTHORIZED, "an x-api-key is required").into_response(),
    };
    request.extensions_mut().insert(Principal::new(name));
    next.run(request).await
}

fn application() -> Result<Router, BuildError> {
    let stock = SoapService::builder().name("Stock").operation(level).build()?;
    let stock = Router::new().route_service("/stock", stock).layer(middleware::from_fn(by_key));
    Ok(stock.route("/", get(async || "The service is at /stock.")))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listener = TcpListener::bind("127.0.0.1:8080").await?;
    println!("listening on http://{}/stock", listener.local_addr()?);
    Ok(axum::serve(listener, application()?).with_graceful_shutdown(shutdown_signal()).await?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltasoap::Client;
    use deltasoap::client::{CallError, CallOptions};

    /// Serves the application on a free port; returns the service's URL.
    async fn served() -> Result<String, Box<dyn std::error::Error>> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/stock", listener.local_addr()?);
        tokio::spawn(axum::serve(listener, application()?).into_future());
        Ok(url)
    }

    #[tokio::test]
    async fn callers_are_known_by_their_keys() -> Result<(), Box<dyn std::error::Error>> {
        let client = Client::new(served().await?)?;
        for (key, name) in [("blue", "Blue Ltd"), ("green", "Green Inc")] {
            let options = CallOptions::new().http_header("x-api-key".parse()?, key.parse()?);
            let response = client.call_with(&Level { item: "bolt".into() }, options).await?;
            assert_eq!((response.body.pieces, response.body.told.as_str()), (4200, name));
        }
        let nobody = client.call(&Level { item: "nut".into() }).await;
        assert!(matches!(nobody, Err(CallError::Status(error)) if error.status == 401));
        Ok(())
    }
}
