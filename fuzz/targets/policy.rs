//! Policies: any text is read or refused, and what is read says why it is not met, or configures
//! both sides. A side without credentials never meets more than one with all of them.

#![no_main]

use deltasoap_core::soap::PolicyDocuments;
use deltasoap_security::{Identity, PolicyCredentials, SecurityPolicy, SigningKey, Tls, Trust};
use libfuzzer_sys::fuzz_target;

fn all() -> PolicyCredentials {
    PolicyCredentials::new()
        .identity(Identity::new(SigningKey::hmac(b"a secret"), Vec::new()))
        .trust(Trust::nobody())
        .user("ada", "password")
        .users(|_: &str| Some("password"))
        .kerberos(|| Ok(Vec::new()))
        .kerberos_verifier(|_: &[u8]| Ok(String::new()))
        .tls(Tls::Mutual)
        .modern_algorithms()
}

fuzz_target!(|text: &str| {
    let documents = PolicyDocuments { request: text.to_owned().into(), ..PolicyDocuments::default() };
    let Ok(policy) = SecurityPolicy::parse(&documents) else { return };
    let (nothing, all) = (PolicyCredentials::new(), all());
    for (with_nothing, with_all) in
        [(policy.client(&nothing), policy.client(&all)), (policy.server(&nothing), policy.server(&all))]
    {
        assert!(with_nothing.is_err() || with_all.is_ok(), "{with_all:?}");
    }
    if !policy.unsupported().is_empty() {
        assert!(policy.client(&all).is_err() && policy.server(&all).is_err());
    }
    assert!(policy.is_empty() || !policy.describe().is_empty() || policy.client(&all).is_err());
});
