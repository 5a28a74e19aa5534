//! Distinguished names as texts, which toolkits write differently.
//!
//! `CN=a,O=b`, `cn = a, o = b` and `OID.2.5.4.3=a,O=b` name the same subject. Names are compared by
//! their parts: keys without regard to case and to their several spellings, values after their
//! escapes are undone.

/// A distinguished name, for comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DistinguishedName(Vec<(String, String)>);

/// Other spellings of keys, and the one that is compared.
const KEYS: [(&str, &str); 14] = [
    ("2.5.4.3", "CN"),
    ("2.5.4.6", "C"),
    ("2.5.4.7", "L"),
    ("2.5.4.8", "ST"),
    ("2.5.4.10", "O"),
    ("2.5.4.11", "OU"),
    ("2.5.4.5", "SERIALNUMBER"),
    ("0.9.2342.19200300.100.1.25", "DC"),
    ("0.9.2342.19200300.100.1.1", "UID"),
    ("1.2.840.113549.1.9.1", "EMAIL"),
    ("EMAILADDRESS", "EMAIL"),
    ("E", "EMAIL"),
    ("S", "ST"),
    ("SP", "ST"),
];

impl DistinguishedName {
    /// Reads a name. Text that is no name is one part.
    pub(crate) fn parse(text: &str) -> Self {
        let parts = split(text).into_iter().map(|part| {
            let (key, value) = part.split_once('=').unwrap_or(("", &part));
            (known_key(key), plain_value(value))
        });
        DistinguishedName(parts.collect())
    }
}

fn known_key(key: &str) -> String {
    let key = key.trim().to_ascii_uppercase();
    let key = key.strip_prefix("OID.").unwrap_or(&key);
    KEYS.iter().find(|(other, _)| *other == key).map_or(key, |(_, known)| known).to_owned()
}

/// Splits a name at commas and plus signs that are neither escaped nor in quotes.
fn split(text: &str) -> Vec<String> {
    let (mut parts, mut part) = (Vec::new(), String::new());
    let (mut is_escaped, mut is_quoted) = (false, false);
    for c in text.chars() {
        match c {
            ',' | '+' | ';' if !is_escaped && !is_quoted => {
                parts.push(std::mem::take(&mut part));
                continue;
            }
            '"' if !is_escaped => is_quoted = !is_quoted,
            _ => {}
        }
        is_escaped = c == '\\' && !is_escaped;
        part.push(c);
    }
    parts.push(part);
    parts
}

/// Returns a value without quotes and escapes (RFC 4514, section 2.4). Case and repeated spaces do
/// not matter, as for most kinds of names.
fn plain_value(value: &str) -> String {
    let value = value.trim();
    let value = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
    let (mut bytes, mut rest) = (Vec::new(), value.as_bytes());
    while let [first, tail @ ..] = rest {
        let hex = |byte: u8| char::from(byte).to_digit(16);
        match (first, tail) {
            (b'\\', [high, low, tail @ ..]) if hex(*high).is_some() && hex(*low).is_some() => {
                bytes.push((hex(*high).unwrap_or(0) * 16 + hex(*low).unwrap_or(0)) as u8);
                rest = tail;
            }
            (b'\\', [escaped, tail @ ..]) => {
                bytes.push(*escaped);
                rest = tail;
            }
            (first, tail) => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    let text = String::from_utf8_lossy(&bytes).to_lowercase();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_the_same_name() {
        let name = DistinguishedName::parse("CN=Ada \\, Inc.,OU=A+OU=B,ST=X,1.2.840.113549.1.9.1=a@b.example");
        for same in [
            "cn = \"Ada , Inc.\", OU=A + OU=B, S=X, EMAILADDRESS=a@b.example",
            "CN=Ada \\2C Inc.,OU=A,OU=B,OID.2.5.4.8=x,E=A@b.example",
        ] {
            assert_eq!(DistinguishedName::parse(same), name, "{same}");
        }
        for other in ["CN=Ada , Inc.,OU=A,OU=B,ST=X,E=a@b.example", "OU=A,CN=Ada \\, Inc.,OU=B,ST=X,E=a@b.example", ""]
        {
            assert_ne!(DistinguishedName::parse(other), name, "{other}");
        }
    }
}
