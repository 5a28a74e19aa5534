//! Default actions of the messages in a WSDL (Metadata 4.4.4).

/// Returns the default action of an input or output, whose name defaults to that of its operation
/// with `Request` or `Response` (WSDL 1.1, 2.4.5).
///
/// ```
/// use deltasoap::soap::addressing::default_action;
///
/// let action = default_action("http://example.com/shop", "Orders", "buyRequest");
/// assert_eq!(action, "http://example.com/shop/Orders/buyRequest");
/// assert_eq!(default_action("urn:shop", "Orders", "buyRequest"), "urn:shop:Orders:buyRequest");
/// ```
pub fn default_action(target_namespace: &str, port_type: &str, message: &str) -> String {
    joined(target_namespace, &[port_type, message])
}

/// Returns the default action of an operation's fault.
///
/// ```
/// use deltasoap::soap::addressing::default_fault_action;
///
/// let action = default_fault_action("http://example.com/shop/", "Orders", "buy", "SoldOut");
/// assert_eq!(action, "http://example.com/shop/Orders/buy/Fault/SoldOut");
/// ```
pub fn default_fault_action(target_namespace: &str, port_type: &str, operation: &str, fault: &str) -> String {
    joined(target_namespace, &[port_type, operation, "Fault", fault])
}

fn joined(namespace: &str, segments: &[&str]) -> String {
    let is_urn = namespace.get(..4).is_some_and(|scheme| scheme.eq_ignore_ascii_case("urn:"));
    let delimiter = if is_urn { ':' } else { '/' };
    let mut action = namespace.strip_suffix(delimiter).unwrap_or(namespace).to_owned();
    for segment in segments {
        action.push(delimiter);
        action.push_str(segment);
    }
    action
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_follow_the_namespace() {
        let cases = [
            ("http://greath.example.com/2004/wsdl/resSvc", "http://greath.example.com/2004/wsdl/resSvc/P/m"),
            ("http://tempuri.org/", "http://tempuri.org/P/m"),
            ("urn:example", "urn:example:P:m"),
            ("URN:example:", "URN:example:P:m"),
            ("urn:example/", "urn:example/:P:m"),
            ("uuid:1", "uuid:1/P/m"),
            ("", "/P/m"),
        ];
        for (namespace, action) in cases {
            assert_eq!(default_action(namespace, "P", "m"), action);
        }
        assert_eq!(default_fault_action("urn:a", "P", "o", "f"), "urn:a:P:o:Fault:f");
    }
}
