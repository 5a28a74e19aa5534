//! Content codings in headers: that of a body, and those that an answer may have.

use super::error::CodingError;
use super::options::{Codings, ContentCoding};
use http::header::{ACCEPT_ENCODING, AsHeaderName, CONTENT_ENCODING, HeaderMap, TRANSFER_ENCODING};

/// The codings accepted in bodies, in the form of `Accept-Encoding`.
#[cfg(feature = "zstd")]
pub(crate) const READ: &str = "zstd, gzip";
#[cfg(not(feature = "zstd"))]
pub(crate) const READ: &str = "gzip";

impl ContentCoding {
    /// Returns the coding that the headers of a message name (RFC 9110, 8.4); `None` for none.
    ///
    /// # Errors
    /// Returns an error if it is unknown, or there are several.
    pub(crate) fn from_headers(headers: &HeaderMap) -> Result<Option<Self>, CodingError> {
        let is_identity = |coding: &&str| !coding.is_empty() && !coding.eq_ignore_ascii_case("identity");
        let value = list(headers, CONTENT_ENCODING);
        let mut codings = value.split(',').map(str::trim).filter(is_identity);
        match (codings.next(), codings.next()) {
            (None, _) => Ok(None),
            (Some(coding), None) => match named(coding) {
                Some(coding) => Ok(Some(coding)),
                None => Err(CodingError::Unknown(value)),
            },
            _ => Err(CodingError::Unknown(value)),
        }
    }
}

/// Checks that a body is plain, with a length or in chunks (RFC 9112, 6.1): the layers below do not
/// remove other transfer codings.
///
/// # Errors
/// Returns an error if there is another transfer coding, or `chunked` twice.
pub(crate) fn check_transfer(headers: &HeaderMap) -> Result<(), CodingError> {
    if !headers.contains_key(TRANSFER_ENCODING) {
        return Ok(());
    }
    let value = list(headers, TRANSFER_ENCODING);
    let mut codings = value.split(',').map(str::trim).filter(|coding| !coding.is_empty());
    let is_chunked = codings.next().is_none_or(|coding| coding.eq_ignore_ascii_case("chunked"));
    if is_chunked && codings.next().is_none() { Ok(()) } else { Err(CodingError::Transfer(value)) }
}

impl Codings {
    /// Returns the codings that the peer prefers (RFC 9110, 12.5.3): those that are named,
    /// explicitly or by `*`, with the highest weight, unless that is lower than the weight of the
    /// identity coding, if named too. Without the header all codings are allowed, but none is
    /// requested.
    pub(crate) fn preferred(headers: &HeaderMap) -> Self {
        let (mut gzip, mut identity, mut any) = (None, None, None);
        #[cfg_attr(not(feature = "zstd"), allow(unused_mut, reason = "never named"))]
        let mut zstd = None;
        for (coding, quality) in list(headers, ACCEPT_ENCODING).split(',').map(weighted) {
            let slot = match (coding.as_str(), named(&coding)) {
                ("*", _) => &mut any,
                ("identity", _) => &mut identity,
                (_, Some(ContentCoding::Gzip)) => &mut gzip,
                #[cfg(feature = "zstd")]
                (_, Some(ContentCoding::Zstd)) => &mut zstd,
                _ => continue,
            };
            *slot = (*slot).max(Some(quality));
        }
        // A coding that is not supported for reading is not written either.
        let weight = |named: Option<u16>, is_read: bool| if is_read { named.or(any).unwrap_or(0) } else { 0 };
        let (gzip, zstd) = (weight(gzip, cfg!(feature = "gzip")), weight(zstd, cfg!(feature = "zstd")));
        let best = zstd.max(gzip).max(identity.unwrap_or(0)).max(1);
        Codings { gzip: gzip == best, zstd: zstd == best }
    }
}

/// Finds a coding by its name. `x-gzip` is the same as `gzip` (RFC 9110, 8.4.1.3).
fn named(coding: &str) -> Option<ContentCoding> {
    let is = |name: &str| coding.eq_ignore_ascii_case(name);
    #[cfg(feature = "zstd")]
    if is("zstd") {
        return Some(ContentCoding::Zstd);
    }
    (cfg!(feature = "gzip") && (is("gzip") || is("x-gzip"))).then_some(ContentCoding::Gzip)
}

/// Returns the elements of all headers with this name, separated by commas. A value that is not
/// text contains no known element.
fn list(headers: &HeaderMap, name: impl AsHeaderName) -> String {
    let values: Vec<_> = headers.get_all(name).iter().map(|value| value.to_str().unwrap_or("?")).collect();
    values.join(",")
}

/// Splits an element into a coding in lower case and its weight in thousandths.
fn weighted(element: &str) -> (String, u16) {
    let (coding, parameters) = element.split_once(';').unwrap_or((element, ""));
    let weight = parameters.split(';').find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("q").then(|| thousandths(value.trim()))
    });
    (coding.trim().to_ascii_lowercase(), weight.unwrap_or(1000))
}

/// Returns a `qvalue` (RFC 9110, 12.4.2) times a thousand; 0 for an invalid one, since it is safe
/// to send a message uncompressed.
fn thousandths(text: &str) -> u16 {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if fraction.len() > 3 || !fraction.bytes().all(|digit| digit.is_ascii_digit()) {
        return 0;
    }
    let fraction: u16 = format!("{fraction:0<3}").parse().unwrap_or(0);
    match (whole, fraction) {
        ("0", fraction) => fraction,
        ("1", 0) => 1000,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn headers(name: &'static str, values: &[&'static str]) -> HeaderMap {
        values.iter().map(|value| (name.parse().expect("a name"), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn codings_in_all_spellings() {
        let of = |values: &[&'static str]| {
            let mut map = HeaderMap::new();
            values.iter().for_each(|value| _ = map.append(CONTENT_ENCODING, HeaderValue::from_static(value)));
            ContentCoding::from_headers(&map)
        };
        for identity in [&[][..], &[""], &["identity"], &["Identity, "], &["", "identity"]] {
            assert_eq!(of(identity), Ok(None), "{identity:?}");
        }
        #[cfg(feature = "gzip")]
        for gzip in [&["gzip"][..], &["X-GZIP"], &["identity, gzip"], &["gzip", "identity"]] {
            assert_eq!(of(gzip), Ok(Some(ContentCoding::Gzip)), "{gzip:?}");
        }
        #[cfg(feature = "zstd")]
        for zstd in [&["zstd"][..], &["identity, ZSTD"]] {
            assert_eq!(of(zstd), Ok(Some(ContentCoding::Zstd)), "{zstd:?}");
        }
        for unknown in [&["br"][..], &["gzip, gzip"], &["gzip", "br"], &["deflate"], &["gzip;q=1"], &["zstd, gzip"]] {
            assert!(matches!(of(unknown), Err(CodingError::Unknown(_))), "{unknown:?}");
        }
    }

    #[test]
    fn chunked_once_is_the_only_transfer_coding() {
        for plain in [&[][..], &[""], &["chunked"], &["Chunked, "], &["", "chunked"]] {
            assert_eq!(check_transfer(&headers("transfer-encoding", plain)), Ok(()), "{plain:?}");
        }
        for other in [&["gzip, chunked"][..], &["gzip"], &["identity"], &["chunked, chunked"], &["chunked;q=1"]] {
            let refused = CodingError::Transfer(other[0].to_owned());
            assert_eq!(check_transfer(&headers("transfer-encoding", other)), Err(refused), "{other:?}");
        }
    }

    #[test]
    fn weights_are_honoured() {
        let accepts = |value| Codings::preferred(&headers("accept-encoding", &[value])).gzip;
        for yes in [
            "gzip",
            "x-gzip",
            "GZIP",
            "br, gzip;q=0.001",
            "*",
            "*;q=0.5",
            "gzip;q=1.000, identity;q=1",
            "gzip ; Q=0.5",
            "identity;q=0.5, gzip;q=0.8",
            "identity;q=0, *",
            "deflate, gzip;q=1.0, *;q=0.5",
        ] {
            assert!(accepts(yes), "{yes}");
        }
        for no in [
            "",
            "identity",
            "br",
            "gzip;q=0",
            "gzip;q=0.000",
            "*;q=0",
            "gzip;q=0, *",
            "gzip;q=0.5, identity",
            "gzip;q=2",
            "gzip;q=",
            "gzip;q=-1",
            "gzip;q=0.0001",
            "gzip;q=1.001",
            "gzip;q=0.+1",
            "gzipped",
        ] {
            assert!(!accepts(no), "{no}");
        }
        assert_eq!(Codings::preferred(&HeaderMap::new()), Codings::NONE);
    }

    #[cfg(feature = "zstd")]
    #[test]
    fn the_greatest_weight_wins() {
        let both = Codings { gzip: true, zstd: true };
        let (gzip, zstd) = (Codings::only(ContentCoding::Gzip), Codings::only(ContentCoding::Zstd));
        for (value, expected) in [
            ("gzip, zstd", both),
            ("*", both),
            ("zstd", zstd),
            ("gzip, *;q=0", gzip),
            ("zstd;q=0.5, gzip;q=0.4", zstd),
            ("zstd;q=0.4, gzip;q=0.5, identity;q=0.3", gzip),
            ("zstd;q=0, *", gzip),
            ("identity, zstd;q=0.9, gzip", gzip),
            ("identity, zstd;q=0.9", Codings::NONE),
        ] {
            assert_eq!(Codings::preferred(&headers("accept-encoding", &[value])), expected, "{value}");
        }
    }
}
