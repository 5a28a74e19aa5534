//! Sources of documents: files, zip archives, the network.
//!
//! A WSDL decides which other documents are read, so this module limits what it may name: `http`,
//! `https` and files below the root, nothing else. A document from the network cannot name files.
//! Only the caller may name a private address; a document may if it came from that address itself,
//! or if the importer allows it.

#[cfg(feature = "http")]
mod access;
mod catalog;
mod location;
mod store;
mod trust;
#[cfg(feature = "http")]
mod web;

pub use crate::document::text;
#[cfg(feature = "http")]
pub use access::{Access, AccessError};
pub(crate) use catalog::Catalog;
pub use location::Location;
pub(crate) use store::bounded;
pub(crate) use store::{Referrer, Store};
pub(crate) use trust::tree_of;
#[cfg(feature = "http")]
pub use web::{WebClient, credentials_in};

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;
use url::Url;

/// Fetches documents from the network.
pub trait Fetch {
    /// Fetches one document.
    ///
    /// # Errors
    /// Returns an error if the document is unavailable within the limits of the request.
    fn fetch(&self, request: &Request<'_>) -> Result<Fetched, FetchError>;
}

/// A request to a [`Fetch`].
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// An `http` or `https` URL without a fragment.
    pub url: &'a Url,
    /// Addresses that may be connected to, whatever the host name resolves to.
    pub reach: Reach,
    /// Maximum size of the document in bytes, uncompressed.
    pub max_bytes: usize,
    /// Time for the whole exchange.
    pub timeout: Duration,
}

/// Addresses that a document may come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Public addresses ([`is_public`]).
    Public,
    /// Any address of the URL's host, and redirects to the same origin. Redirects to other origins
    /// must lead to public addresses.
    Origin,
    /// All addresses.
    All,
}

impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Request { url, reach, max_bytes, timeout } = self;
        f.debug_struct("Request")
            .field("url", &format_args!("{}", Shown(url)))
            .field("reach", reach)
            .field("max_bytes", max_bytes)
            .field("timeout", timeout)
            .finish()
    }
}

/// A document from the network.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fetched {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// True if it came from an address that is not public. It may then name other documents on the
    /// same host.
    pub is_private: bool,
    /// The URL that it came from, if there were redirects. References in the document are relative
    /// to it (RFC 3986, 5.1.3).
    pub moved_to: Option<Url>,
}

impl Fetched {
    /// Wraps bytes that are in memory.
    pub(crate) fn text(bytes: Vec<u8>) -> Self {
        Fetched { bytes, ..Fetched::default() }
    }
}

/// Error of a document that cannot be fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FetchError {
    /// The document does not exist or cannot be read.
    Unavailable(String),
    /// The importer is offline.
    Offline,
    /// The importer's settings forbid it.
    Forbidden(String),
    /// The document is larger than allowed: the limit's name and value.
    TooLarge(&'static str, u64),
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FetchError::Unavailable(why) => f.write_str(why),
            FetchError::Offline => f.write_str("it is on the network, but the import is offline"),
            FetchError::Forbidden(why) => write!(f, "forbidden: {why}"),
            FetchError::TooLarge(name, limit) => write!(f, "the limit `{name}` of {limit} is exceeded"),
        }
    }
}

impl std::error::Error for FetchError {}

/// A [`Fetch`] that refuses every document.
#[derive(Debug, Clone, Copy, Default)]
pub struct Offline;

impl Fetch for Offline {
    fn fetch(&self, _: &Request<'_>) -> Result<Fetched, FetchError> {
        Err(FetchError::Offline)
    }
}

/// Returns true for addresses of the public internet: not loopback, private, link-local, shared,
/// multicast or reserved.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => match embedded_v4(address) {
            Some(inner) => is_public_v4(inner),
            None => is_public_v6(address),
        },
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_shared = a == 100 && (64..128).contains(&b);
    let is_benchmark = a == 198 && (18..20).contains(&b);
    let is_protocol = a == 192 && b == 0 && c == 0;
    !(a == 0 || a >= 240 || is_shared || is_benchmark || is_protocol)
        && !(address.is_private() || address.is_loopback() || address.is_link_local())
        && !(address.is_multicast() || address.is_documentation())
}

/// Returns the IPv4 address in an IPv6 address: mapped, compatible, translated (RFC 6052) or 6to4.
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let inner = |high: u16, low: u16| Some(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)));
    match [a, b, c, d, e, f] {
        [0, 0, 0, 0, 0, 0xFFFF] | [0x64, 0xFF9B, 0, 0, 0, 0] => inner(g, h),
        [0, 0, 0, 0, 0, 0] if g != 0 => inner(g, h),
        [0x2002, ..] => inner(b, c),
        _ => None,
    }
}

/// Returns true for global unicast addresses: `2000::/3` except the ranges for documentation and
/// tunnels.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, ..] = address.segments();
    let is_global = (0x2000..0x4000).contains(&a);
    let is_special = a == 0x2001 && (b < 0x200 || b == 0xDB8);
    is_global && !is_special && a != 0x3FFF
}

/// Returns the URL without user name and password: for requests and for messages.
pub fn without_credentials(url: &Url) -> Url {
    let mut url = url.clone();
    // This fails only without a host, and then there is neither.
    let _ = url.set_username("").and_then(|()| url.set_password(None));
    url
}

/// Formats a URL or a path for messages: [without credentials](without_credentials), and without a
/// possible password in a malformed URL.
pub fn shown(source: &str) -> String {
    match (Url::parse(source), source.find("://"), source.rfind('@')) {
        (Ok(url), ..) => without_credentials(&url).into(),
        (Err(_), Some(scheme), Some(at)) if scheme < at => format!("{}{}", &source[..scheme + 3], &source[at + 1..]),
        (Err(_), ..) => source.to_owned(),
    }
}

/// Displays a URL [without credentials](without_credentials).
struct Shown<'a>(&'a Url);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(without_credentials(self.0).as_str())
    }
}

/// Returns true if a URL's host is an address that is not public, or a name of this machine.
pub fn names_private_host(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Ipv4(address)) => !is_public(address.into()),
        Some(url::Host::Ipv6(address)) => !is_public(address.into()),
        Some(url::Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            name.eq_ignore_ascii_case("localhost") || name.to_ascii_lowercase().ends_with(".localhost")
        }
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_internet_are_public() {
        for public in ["8.8.8.8", "193.99.144.80", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
        let private = [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "255.255.255.255",
            "224.0.0.1",
            "198.18.0.1",
            "192.0.0.1",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001:db8::1",
            "2001::1",
        ];
        for private in private {
            assert!(!is_public(private.parse().unwrap()), "{private}");
        }
    }

    #[test]
    fn spellings_of_private_hosts_are_known() {
        let private = [
            "http://localhost/",
            "http://LOCALHOST./",
            "http://a.localhost/",
            "http://127.1/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://[::1]/",
            "http://[::ffff:7f00:1]/",
        ];
        for private in private {
            assert!(names_private_host(&Url::parse(private).unwrap()), "{private}");
        }
        assert!(!names_private_host(&Url::parse("http://example.com/").unwrap()));
    }
}
