//! The service's description, with its own address put in.
//!
//! The text is cut once, around the `location` of every SOAP address; each answer joins the pieces with the URL that
//! the client itself used.

use deltasoap_xml::{Instructions, Limits, Node, Owned, XmlError, nodes};

/// Namespaces of SOAP addresses: the SOAP binding of WSDL 1.1 (section 3.8), and that for SOAP 1.2.
const ADDRESS_NAMESPACES: [&str; 2] =
    ["http://schemas.xmlsoap.org/wsdl/soap/", "http://schemas.xmlsoap.org/wsdl/soap12/"];

/// A description with gaps for the service's URL.
#[derive(Debug)]
pub(crate) struct Description {
    /// The text between the gaps; one more than there are gaps.
    pieces: Vec<String>,
}

impl Description {
    /// Reads a description.
    ///
    /// # Errors
    /// When the text is not well-formed.
    pub(crate) fn new(text: &str) -> Result<Self, Box<XmlError>> {
        let text = text.trim_start_matches('\u{FEFF}');
        let (mut pieces, mut done) = (Vec::new(), 0);
        for node in nodes(text.as_bytes(), Limits::default(), Instructions::Skip)? {
            if let Node::Start { name, offset, .. } = node
                && is_address(&name)
                && let Some((start, end)) = location(text, offset as usize)
            {
                pieces.push(text[done..start].to_owned());
                done = end;
            }
        }
        pieces.push(text[done..].to_owned());
        Ok(Description { pieces })
    }

    /// The description with this URL in place of all locations. The URL must be escaped already.
    pub(crate) fn at(&self, escaped_url: &str) -> String {
        self.pieces.join(escaped_url)
    }
}

fn is_address(name: &Owned) -> bool {
    name.local == "address" && ADDRESS_NAMESPACES.contains(&name.namespace.as_str())
}

/// Where the value of the attribute `location` stands, in the well-formed tag at `offset`.
fn location(text: &str, offset: usize) -> Option<(usize, usize)> {
    let mut at = offset + text[offset..].find(|c: char| c.is_ascii_whitespace() || c == '>')?;
    loop {
        at += text[at..].find(|c: char| !c.is_ascii_whitespace())?;
        let equals = at + text[at..].find(['=', '>'])?;
        if text.as_bytes()[equals] == b'>' {
            return None;
        }
        let open = equals + text[equals..].find(['"', '\''])?;
        let start = open + 1;
        let end = start + text[start..].find(char::from(text.as_bytes()[open]))?;
        if text[at..equals].trim_end() == "location" {
            return Some((start, end));
        }
        at = end + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_soap_address_is_replaced_and_nothing_else() {
        let text = "<?xml version='1.0'?><w:definitions xmlns:w='http://schemas.xmlsoap.org/wsdl/' \
                    xmlns:s='http://schemas.xmlsoap.org/wsdl/soap/'><!-- <s:address location='c'/> -->\
                    <s:address a=\">location='x'\" location = 'http://old'/><address location='mine'/>\
                    <a:address xmlns:a='http://schemas.xmlsoap.org/wsdl/soap12/' location=\"\"></a:address>\
                    <s:address/></w:definitions>";
        let expected = text.replace("http://old", "NEW").replace("location=\"\"", "location=\"NEW\"");
        assert_eq!(Description::new(text).expect("well-formed").at("NEW"), expected);
    }

    #[test]
    fn a_description_that_is_not_well_formed_is_refused() {
        assert!(Description::new("<a><b></a>").is_err());
    }
}
