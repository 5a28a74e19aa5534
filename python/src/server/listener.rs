//! The server's own HTTP.

use crate::errors;
use crate::run;
use deltasoap_http::{Identity, ServerHandle, ServerTls, SoapService};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

/// A server that listens: connections wait until it serves.
#[pyclass(module = "deltasoap._engine", frozen)]
pub(crate) struct Listener {
    server: Mutex<Option<deltasoap_http::Server>>,
    handle: ServerHandle,
    address: SocketAddr,
    service: SoapService,
}

impl Listener {
    pub(crate) fn new(
        server: deltasoap_http::Server,
        tls: Option<(Vec<u8>, Vec<u8>)>,
        service: SoapService,
    ) -> PyResult<Self> {
        let address = server.local_addr().map_err(|error| PyOSError::new_err(error.to_string()))?;
        let refused = |error: deltasoap_http::TlsError| PyValueError::new_err(errors::with_causes(&error));
        let server = match tls {
            Some((chain, key)) => {
                let identity = Identity::from_pem(chain, key).map_err(refused)?;
                server.tls(ServerTls::new(identity)).map_err(refused)?
            }
            None => server,
        };
        Ok(Listener { handle: server.handle(), server: Mutex::new(Some(server)), address, service })
    }
}

#[pymethods]
impl Listener {
    /// The address: host and port.
    #[getter]
    fn address(&self) -> (String, u16) {
        (self.address.ip().to_string(), self.address.port())
    }

    /// Serves until it is stopped, or a signal's handler raises an exception. Either way requests
    /// that have begun are answered first. A second exception ends them.
    fn serve(&self, py: Python<'_>) -> PyResult<()> {
        let taken = self.server.lock().unwrap_or_else(PoisonError::into_inner).take();
        let server = taken.ok_or_else(|| PyRuntimeError::new_err("the server has served already"))?;
        let mut serving = Box::pin(server.serve(self.service.clone()));
        let interrupted = match run::wait(py, &mut serving) {
            Ok(served) => return ended(served),
            Err(interrupted) => interrupted,
        };
        self.handle.shutdown();
        // A second exception drops the server.
        if let Ok(served) = run::wait(py, &mut serving) {
            ended(served)?;
        }
        Err(interrupted)
    }

    /// Stops serving: no more connections are accepted, and requests that have begun are answered.
    fn stop(&self) {
        self.handle.shutdown();
    }
}

fn ended(served: std::io::Result<()>) -> PyResult<()> {
    served.map_err(|error| PyOSError::new_err(error.to_string()))
}
