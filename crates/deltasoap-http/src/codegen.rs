//! What generated servers are made of. Not for use by hand.

pub use bytes::Bytes;
pub use http::{Request, Response};
pub use http_body::Body as HttpBody;
pub use std::convert::Infallible;
pub use std::task::{Context, Poll};
pub use tower::Service;

/// Implements `tower::Service` for a struct whose field `service` is a `SoapService`.
#[doc(hidden)]
#[macro_export]
macro_rules! generated_service {
    ($name:ident) => {
        impl<B> $crate::codegen::Service<$crate::codegen::Request<B>> for $name
        where
            B: $crate::codegen::HttpBody<Data = $crate::codegen::Bytes> + Send + 'static,
        {
            type Response = $crate::codegen::Response<$crate::Body>;
            type Error = $crate::codegen::Infallible;
            type Future = $crate::ResponseFuture;

            fn poll_ready(
                &mut self,
                task: &mut $crate::codegen::Context<'_>,
            ) -> $crate::codegen::Poll<Result<(), Self::Error>> {
                <$crate::SoapService as $crate::codegen::Service<$crate::codegen::Request<B>>>::poll_ready(
                    &mut self.service,
                    task,
                )
            }

            fn call(&mut self, request: $crate::codegen::Request<B>) -> Self::Future {
                $crate::codegen::Service::call(&mut self.service, request)
            }
        }

        impl From<$name> for $crate::SoapService {
            fn from(server: $name) -> Self {
                server.service
            }
        }
    };
}
