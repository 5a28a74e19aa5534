//! A bank whose WSDL has a policy: body, timestamp and the header blocks of WS-Addressing are
//! signed, in both directions. The generated client and server follow it; they only need keys.
//!
//! ```text
//! cargo run -p example-secured                              # a server and a client, with new keys
//! cargo run -p example-secured -- serve 127.0.0.1:8080 KEYS
//! cargo run -p example-secured -- call URL KEYS
//! ```
//!
//! KEYS is a folder with `client.pem`, `client.key`, `server.pem`, `server.key` and
//! `authority.pem`, which issued both certificates. The other side may be any implementation of
//! WS-Security: the tests of interoperability have Apache CXF there, with the same WSDL.

use anyhow::{Context as _, Result, bail};
use bank::client::TransfersClient;
use bank::server::{Transfers, TransfersServer};
use bank::{Transfer, TransferFault, TransferResponse};
use deltasoap::security::{Identity, PolicyCredentials, Trust, Verified};
use deltasoap::soap::TypedFault;
use deltasoap::{Context, Lease, Server, SoapService};
use std::path::Path;

#[allow(clippy::all, dead_code, missing_docs)]
mod bank {
    deltasoap::wsdl!("../../tests/interop/secured/bank.wsdl");
}

/// A bank that accepts all transfers but negative ones.
struct Bank;

impl Transfers for Bank {
    async fn transfer(&self, context: Context, request: Lease<Transfer>) -> Result<TransferResponse, TransferFault> {
        let from = context.extension::<Verified>().and_then(|verified| verified.sender.name());
        let from = from.unwrap_or_default().to_owned();
        if request.amount < 0 {
            let refused = TypedFault::sender("the amount is negative", bank::Refused { limit: 0 });
            return Err(TransferFault::Refused(refused));
        }
        Ok(TransferResponse { from, amount: request.amount, ..TransferResponse::default() })
    }
}

/// Reads the keys of a side, and whom it trusts.
fn credentials(keys: &Path, side: &str) -> Result<PolicyCredentials> {
    let read = |name: String| std::fs::read(keys.join(&name)).with_context(|| format!("{name} cannot be read"));
    let identity = Identity::from_pem(read(format!("{side}.pem"))?, read(format!("{side}.key"))?)?;
    let trust = Trust::nobody().authorities(read("authority.pem".to_owned())?)?;
    Ok(PolicyCredentials::new().identity(identity).trust(trust))
}

fn service(keys: &Path) -> Result<SoapService> {
    Ok(TransfersServer::builder(Bank).policy_credentials(credentials(keys, "server")?).build()?)
}

async fn call(url: &str, keys: &Path) -> Result<TransferResponse> {
    let client = TransfersClient::builder(url).policy_credentials(credentials(keys, "client")?).build()?;
    let client = TransfersClient::with_client(client);
    let transfer = Transfer { to: "Bob".to_owned(), amount: 10, note: None };
    Ok(client.transfer(&transfer).await?)
}

/// Serves on a free port, and calls the service.
async fn serve_and_call() -> Result<TransferResponse> {
    let keys = tempfile::tempdir()?;
    make(keys.path())?;
    let server = Server::bind("127.0.0.1:0").await?;
    let (url, handle) = (format!("http://{}/", server.local_addr()?), server.handle());
    let serving = tokio::spawn(server.serve(service(keys.path())?));
    let receipt = call(&url, keys.path()).await?;
    handle.shutdown();
    serving.await??;
    Ok(receipt)
}

/// Makes an authority, and certificates of it for both sides.
fn make(keys: &Path) -> Result<()> {
    use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
    std::fs::write(keys.join("authority.pem"), authority.pem())?;
    for side in ["client", "server"] {
        let key = KeyPair::generate_for(&rcgen::PKCS_RSA_SHA256)?;
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, side);
        std::fs::write(keys.join(side).with_extension("pem"), params.signed_by(&key, &authority)?.pem())?;
        std::fs::write(keys.join(side).with_extension("key"), key.serialize_pem())?;
    }
    Ok(())
}

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [] => println!("{:?}", serve_and_call().await?),
        ["call", url, keys] => println!("{:?}", call(url, Path::new(keys)).await?),
        ["serve", address, keys] => {
            let server = Server::bind(address).await?;
            println!("listening on http://{}/", server.local_addr()?);
            server.serve(service(Path::new(keys))?).await?;
        }
        _ => bail!("usage: example-secured [call URL KEYS | serve ADDRESS KEYS]"),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn both_sides_follow_the_policy() {
        let receipt = serve_and_call().await.expect("a receipt");
        assert_eq!((&*receipt.from, receipt.amount), ("CN=client", 10));
        // Without keys, nothing is sent.
        let error = TransfersClient::new("http://localhost/").expect_err("no keys").to_string();
        assert!(error.contains("PolicyCredentials::identity"), "{error}");
    }
}
