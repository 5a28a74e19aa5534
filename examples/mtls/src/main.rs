//! Mutual TLS: a server that serves only devices of one owner, and identifies each by its
//! certificate.
//!
//! ```text
//! cargo run -p example-mtls
//! ```
//!
//! Creates an authority and certificates for a server and two devices; real ones would load them
//! from files. Then each device calls the server, which answers with the name that it knows the
//! device by. A client without a certificate fails.

use deltasoap::client::HttpTransport;
use deltasoap::server::{ByCertificate, Principal};
use deltasoap::tls::{ClientTls, Identity, Roots, ServerTls};
use deltasoap::{Client, Context, Fault, Lease, Server, Soap, SoapService};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use std::collections::HashMap;
use std::error::Error;

#[derive(Debug, Soap)]
#[soap(namespace = "urn:devices", message, response = Received)]
struct Report {
    level: f64,
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:devices", message)]
struct Received {
    device: String,
    level: f64,
}

async fn report(context: Context, report: Lease<Report>) -> Result<Received, Fault> {
    let device = context.principal().ok_or_else(|| Fault::sender("an unknown device"))?;
    Ok(Received { device: device.0.to_string(), level: report.level })
}

type Authority = CertifiedIssuer<'static, KeyPair>;

fn authority() -> Result<Authority, rcgen::Error> {
    let mut params = CertificateParams::new([])?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate()?)
}

/// Issues a certificate for a name; returns it with its key.
fn issue(authority: &Authority, name: &str) -> Result<(rcgen::Certificate, KeyPair), rcgen::Error> {
    let key = KeyPair::generate()?;
    let certificate = CertificateParams::new([name.to_owned()])?.signed_by(&key, authority)?;
    Ok((certificate, key))
}

/// Creates the service, which identifies devices by the fingerprints of their certificates.
fn service(devices: HashMap<String, &'static str>) -> Result<SoapService, Box<dyn Error>> {
    let known = ByCertificate::named(move |shown| devices.get(&shown.fingerprint()).copied().map(Principal::new));
    Ok(SoapService::builder().operation(report).authenticate(known).build()?)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let authority = authority()?;
    let roots = Roots::from_pem(authority.pem())?;
    let (mut known, mut identities) = (HashMap::new(), Vec::new());
    for name in ["boiler", "pump"] {
        let (certificate, key) = issue(&authority, name)?;
        let der = certificate.der().to_vec();
        known.insert(deltasoap::server::PeerCertificates::new([der]).fingerprint(), name);
        identities.push(Identity::from_pem(certificate.pem(), key.serialize_pem())?);
    }

    let (certificate, key) = issue(&authority, "localhost")?;
    let identity = Identity::from_pem(certificate.pem(), key.serialize_pem())?;
    let tls = ServerTls::new(identity).require_clients(roots.clone());
    let server = Server::bind("127.0.0.1:0").await?.tls(tls)?;
    let url = format!("https://localhost:{}/", server.local_addr()?.port());
    let handle = server.handle();
    let serving = tokio::spawn(server.serve(service(known)?));

    for identity in identities {
        println!("{:?}", call(&url, ClientTls::new(roots.clone()).identity(identity)).await?);
    }
    match call(&url, ClientTls::new(roots)).await {
        Ok(received) => return Err(format!("served without a certificate: {received:?}").into()),
        Err(error) => println!("without a certificate: {error}"),
    }
    handle.shutdown();
    Ok(serving.await??)
}

async fn call(url: &str, tls: ClientTls) -> Result<Received, Box<dyn Error>> {
    let client = Client::builder(url).build_with(HttpTransport::with_tls(tls)?)?;
    Ok(client.call(&Report { level: 0.5 }).await?)
}

#[cfg(test)]
mod tests {
    #[test]
    fn each_device_is_known_and_others_are_not_served() {
        super::main().expect("each call ends as it should");
    }
}
