//! The page that lists several services.

use super::super::respond;
use super::super::service::SoapService;
use super::{footer, head};
use crate::body::Body;
use http::{Method, Request, Response};
use maud::{DOCTYPE, Markup, html};
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::task::{Context, Poll};
use tower::Service;

/// A page that lists services, with a link to each one's own page, as a [`tower::Service`].
///
/// It is for the root of a router that several services are mounted in.
///
/// ```
/// # use deltasoap_http::{ServiceIndex, SoapService};
/// # fn router(orders: SoapService, stock: SoapService) -> axum::Router {
/// let index = ServiceIndex::new("Warehouse").add("/orders", &orders).add("/stock", &stock);
/// axum::Router::new().route_service("/", index).route_service("/orders", orders).route_service("/stock", stock)
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct ServiceIndex {
    title: String,
    services: Vec<(String, SoapService)>,
}

impl ServiceIndex {
    /// Creates a page with this title and no services yet.
    pub fn new(title: impl Into<String>) -> Self {
        ServiceIndex { title: title.into(), services: Vec::new() }
    }

    /// Adds a service that is mounted at a URL or path.
    #[must_use]
    pub fn add(mut self, url: impl Into<String>, service: &SoapService) -> Self {
        self.services.push((url.into(), service.clone()));
        self
    }

    fn answer(&self, method: &Method, path: &str) -> Response<Body> {
        let response = match (method, path) {
            (&Method::GET | &Method::HEAD, "/" | "") => respond::page(self.page().into_string()),
            (_, "/" | "") => respond::only_get(),
            _ => respond::not_found("There is nothing here.\n".to_owned()),
        };
        respond::noted(method, path, response)
    }

    fn page(&self) -> Markup {
        html! {
            (DOCTYPE)
            html lang="en" {
                (head(&self.title))
                body {
                    header { h1 { (self.title) } p.about { "SOAP services over HTTP." } }
                    main {
                        h2 #services { "Services " span.count { (self.services.len()) } }
                        ul.operations aria-labelledby="services" {
                            @for (url, service) in &self.services { (listed(url, service)) }
                        }
                    }
                    (footer())
                }
            }
        }
    }
}

fn listed(url: &str, service: &SoapService) -> Markup {
    let about = service.about();
    let stats = service.stats().snapshot();
    html! {
        li {
            div.title { h3 { a href=(url) { (about.name) } } }
            @if !about.documentation.is_empty() { p { (about.documentation) } }
            dl {
                div { dt { "Operations" } dd { (about.operations) } }
                div { dt { "Messages" } dd { (stats.messages) " answered, " (stats.faults) " with a fault" } }
                @if about.has_description {
                    div { dt { "Description" } dd { a href={ (url) "?wsdl" } { "WSDL" } } }
                }
            }
        }
    }
}

/// A service's data in the index.
#[derive(Debug)]
pub(crate) struct About<'s> {
    pub(crate) name: &'s str,
    pub(crate) documentation: &'s str,
    pub(crate) operations: usize,
    pub(crate) has_description: bool,
}

impl<B> Service<Request<B>> for ServiceIndex {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Ready<Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        ready(Ok(self.answer(request.method(), request.uri().path())))
    }
}
