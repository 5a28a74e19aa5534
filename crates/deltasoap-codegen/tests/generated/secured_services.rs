//! A service whose policies require signatures: without keys, neither side is built.

use crate::secured::client::VaultClient;
use crate::secured::server::{Vault, VaultServer};
use crate::secured::{Open, Opened};
use deltasoap::client::ClientBuildError;
use deltasoap::security::{Identity, PolicyCredentials, Trust, Verified};
use deltasoap::server::BuildError;
use deltasoap::{Client, Context, Fault, Lease, SoapService};

struct Safe;

impl Vault for Safe {
    async fn open(&self, context: Context, request: Lease<Open>) -> Result<Opened, Fault> {
        let verified = context.extension::<Verified>().expect("a verified request");
        assert!(verified.is_body_signed && verified.sender.certificate.is_some());
        Ok(Opened(i32::try_from(request.0.len()).unwrap_or_default()))
    }
}

/// Both sides have the same key.
fn credentials() -> PolicyCredentials {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/tls");
    let read = |name: &str| std::fs::read(folder.join(name)).expect("a file");
    let identity = Identity::from_pem(read("openssl.pem"), read("openssl.key")).expect("an identity");
    let trust = Trust::nobody().certificates(read("openssl.pem")).expect("a certificate");
    PolicyCredentials::new().identity(identity).trust(trust)
}

fn service() -> SoapService {
    VaultServer::builder(Safe).policy_credentials(credentials()).build().expect("a service")
}

#[tokio::test]
async fn policies_configure_both_sides() {
    let client = VaultClient::builder("http://localhost/").policy_credentials(credentials());
    let client = VaultClient::with_client(client.build_with(service()).expect("a client"));
    assert_eq!(client.open(&Open("sesame".to_owned())).await.expect("opened"), Opened(6));
    // A client that ignores the policies.
    let client = Client::builder("http://localhost/").build_with(service()).expect("a client");
    let error = client.call_as::<Opened>(&Open("sesame".to_owned())).await.expect_err("a fault").to_string();
    assert!(error.contains("lacks security"), "{error}");
}

#[test]
fn nothing_is_built_without_keys() {
    let error = VaultClient::new("http://localhost/").expect_err("no key");
    let text = error.to_string();
    assert!(matches!(error, ClientBuildError::Policies(_)) && text.contains("PolicyCredentials::identity"), "{text}");
    let error = VaultServer::builder(Safe).build().expect_err("no key");
    assert!(matches!(error, BuildError::Policies(_)), "{error}");
    // TLS does not replace signatures.
    VaultClient::new("https://localhost/").expect_err("no key");
}
