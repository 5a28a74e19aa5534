//! Envelopes: allowed elements and attributes, header blocks, faults, and whether the contract
//! supports the version.
//!
//! The engine is lenient here, as receivers should be. Validation applies the specifications.

use super::Checker;
use super::item::Item;
use crate::{Contract, Operation};
use deltasoap_core::lexical::is_ncname;
use deltasoap_core::schema::{Use, shortened};
use deltasoap_core::soap::Version;
use deltasoap_core::{QName, ns};
use deltasoap_wsdl::wsdl::PartContent;
use deltasoap_wsdl::xsd::TypeId;

impl Checker<'_> {
    /// Validates the envelope: at most one Header, one Body, and after it what the version allows.
    pub(super) fn envelope(&mut self, contract: &Contract, envelope: &Item, version: Version) {
        if envelope.has_text() {
            self.report(envelope, "no text is allowed here");
        }
        self.frame_attributes(envelope, version);
        // The body comes last: the engine reads the message only if nothing has been found before.
        let (mut has_header, mut body) = (false, None);
        for child in &envelope.children {
            let is = |local: &str| child.name.is(version.namespace(), local);
            let (is_header, is_body, has_body) = (is("Header"), is("Body"), body.is_some());
            self.within(child, |this| match (is_header, is_body) {
                (true, _) if !has_header && !has_body => this.header(child, version),
                (_, true) if !has_body => body = Some(child),
                _ if has_body && !is_header && !is_body => this.after_body(child, version),
                _ => this.report(child, "an envelope has at most one Header, and then one Body"),
            });
            has_header |= is_header;
        }
        match body {
            Some(body) => self.within(body, |this| {
                this.frame_attributes(body, version);
                if version == Version::Soap12 {
                    body.children.iter().for_each(|child| this.within(child, |this| this.node_types(child)));
                }
                this.body(contract, body, version);
            }),
            None => self.report(envelope, "the envelope has no Body"),
        }
    }

    /// Validates an element after the Body (SOAP 1.1, section 4; SOAP 1.2 part 1, section 5.1).
    fn after_body(&mut self, child: &Item, version: Version) {
        match version {
            Version::Soap11 if child.name.namespace.is_empty() => {
                self.report(child, "an element after the Body has to be in a namespace (SOAP 1.1, section 4)");
            }
            Version::Soap11 if &*child.name.namespace == ns::SOAP11 => {
                self.report(child, format!("SOAP has no <{}> (SOAP 1.1, section 4)", child.name.local));
            }
            Version::Soap11 => {}
            Version::Soap12 => self.report(child, "nothing is allowed after the Body (SOAP 1.2 part 1, section 5.1)"),
        }
    }

    /// Checks the attributes of Envelope, Header and Body (SOAP 1.1, section 4; SOAP 1.2 part 1,
    /// sections 5.1 to 5.3). Version 1.1 leaves those of Header and Body open.
    fn frame_attributes(&mut self, item: &Item, version: Version) {
        let is_open = version == Version::Soap11 && &*item.name.local != "Envelope";
        for (name, _) in item.attributes.iter().filter(|(name, _)| name.namespace.is_empty() && !is_open) {
            let clause = match (version, &*item.name.local) {
                (Version::Soap11, _) => "SOAP 1.1, section 4",
                (Version::Soap12, "Envelope") => "SOAP 1.2 part 1, section 5.1",
                (Version::Soap12, "Header") => "SOAP 1.2 part 1, section 5.2",
                (Version::Soap12, _) => "SOAP 1.2 part 1, section 5.3",
            };
            self.report(item, format!("the attribute {} has to be in a namespace ({clause})", name.local));
        }
        let has_meaning: &[&str] = match version {
            Version::Soap11 => &["encodingStyle", "mustUnderstand", "actor"],
            Version::Soap12 => &["encodingStyle", "mustUnderstand", "role", "relay"],
        };
        // The namespace's schema allows attributes of other namespaces.
        let own = item.attributes.iter().filter(|(name, _)| &*name.namespace == version.namespace());
        for (name, _) in own.filter(|(name, _)| !has_meaning.contains(&&*name.local)) {
            self.report(item, format!("SOAP {} has no attribute {}", shown(version), name.local));
        }
        self.no_encoding_style(item, version);
    }

    /// Reports a misplaced `encodingStyle`. It is allowed on header blocks, on children of the Body
    /// and of a fault's Detail, and within them (SOAP 1.2 part 1, 5.1.1). In version 1.1 it is
    /// allowed everywhere (4.1.1).
    fn no_encoding_style(&mut self, item: &Item, version: Version) {
        if version == Version::Soap12 && item.attribute(ns::SOAP12, "encodingStyle").is_some() {
            self.report(item, "the attribute encodingStyle is not allowed here (SOAP 1.2 part 1, section 5.1.1)");
        }
    }

    /// Checks the values of `nodeType`, in this element and within it (SOAP 1.2 part 2, 3.1.7).
    fn node_types(&mut self, item: &Item) {
        let found = item.attribute(ns::SOAP12_ENCODING, "nodeType");
        if let Some(found) = found.filter(|it| !["simple", "struct", "array"].contains(&it.trim_ascii())) {
            let expected = "is not simple, struct or array (SOAP 1.2 part 2, section 3.1.7)";
            self.report(item, format!("attribute nodeType: {:?} {expected}", shortened(found)));
        }
        item.children.iter().for_each(|child| self.within(child, |this| this.node_types(child)));
    }

    fn header(&mut self, header: &Item, version: Version) {
        self.frame_attributes(header, version);
        for (index, block) in header.children.iter().enumerate() {
            self.within(block, |this| {
                if block.name.namespace.is_empty() {
                    let clause = match version {
                        Version::Soap11 => "SOAP 1.1, section 4.2",
                        Version::Soap12 => "SOAP 1.2 part 1, section 5.2.1",
                    };
                    this.report(block, format!("a header block has to be in a namespace ({clause})"));
                }
                this.of_soap(block, version);
                this.must_understand(block, version);
                if this.encoded_block(block, index) {
                    return;
                }
                match this.type_of_block(block) {
                    Some(type_id) => this.element(block, type_id, None),
                    None => this.if_declared(block),
                }
            });
        }
    }

    /// Returns the type of a literal block that a binding has for requests or responses, and that
    /// no schema declares as an element.
    fn type_of_block(&self, block: &Item) -> Option<TypeId> {
        let import = &self.types.import;
        let definitions = import.definitions();
        let operations = definitions.bindings.iter().flat_map(|binding| &binding.operations);
        let headers = operations.flat_map(|it| it.request.iter().chain(&it.response)).flat_map(|how| &how.headers);
        let mut headers = headers.filter(|it| it.encoding == Use::Literal && block.name.is(&it.namespace, &it.part));
        let found = headers.find_map(|header| {
            let parts = &definitions.messages[header.message].parts;
            match parts.iter().find(|part| part.name == header.part)?.content {
                PartContent::Type(type_id) => Some(type_id),
                PartContent::Element(..) => None,
            }
        });
        found.filter(|_| import.schemas().element_named(&block.name).is_none())
    }

    /// Reports unknown header blocks in the envelope's own namespace. There are two known ones,
    /// both in SOAP 1.2 (part 1, 5.4.7 and 5.4.8).
    fn of_soap(&mut self, block: &Item, version: Version) {
        let is_known = version == Version::Soap12 && ["Upgrade", "NotUnderstood"].contains(&&*block.name.local);
        if &*block.name.namespace == version.namespace() && !is_known {
            let clause = match version {
                Version::Soap11 => "SOAP 1.1, section 4.2",
                Version::Soap12 => "SOAP 1.2 part 1, section 5.4",
            };
            self.report(block, format!("SOAP has no header block <{}> ({clause})", block.name.local));
        }
    }

    /// Checks the value of `mustUnderstand` (SOAP 1.1, 4.2.3; SOAP 1.2 part 1, 5.2.3).
    fn must_understand(&mut self, block: &Item, version: Version) {
        let Some(value) = block.attribute(version.namespace(), "mustUnderstand") else { return };
        let (values, expected) = match version {
            Version::Soap11 => (&["0", "1"][..], "0 or 1 (SOAP 1.1, section 4.2.3)"),
            Version::Soap12 => (
                &["0", "1", "false", "true"][..],
                "an xsd:boolean: 0, 1, false or true (SOAP 1.2 part 1, section 5.2.3)",
            ),
        };
        if !values.contains(&value.trim_ascii()) {
            self.report(block, format!("attribute mustUnderstand: {:?} is not {expected}", shortened(value)));
        }
    }

    /// Reports if none of the operations is bound to the message's version.
    pub(super) fn check_offered_version(&mut self, operations: &[Operation], version: Version) {
        let Some(first) = operations.first() else { return };
        if operations.iter().any(|operation| operation.version() == version) {
            return;
        }
        let what = match operations {
            [_] => format!("the operation {} is", first.name()),
            _ => "all operations are".to_owned(),
        };
        let text = format!(
            "the envelope is SOAP {}, and {what} bound to SOAP {} only",
            shown(version),
            shown(first.version())
        );
        self.report_at(self.start, format!("/{}", self.path[0]), text);
    }

    /// Validates a fault, and the content of its detail as far as the contract declares it.
    pub(super) fn a_fault(&mut self, fault: &Item, version: Version) {
        match version {
            Version::Soap11 => self.fault_11(fault),
            Version::Soap12 => self.fault_12(fault),
        }
        for detail in fault.children.iter().filter(|it| ["detail", "Detail"].contains(&&*it.name.local)) {
            self.within(detail, |this| {
                for (index, entry) in detail.children.iter().enumerate() {
                    this.within(entry, |this| match this.encoded_detail(entry, index) {
                        true => {}
                        false => this.if_declared(entry),
                    });
                }
            });
        }
    }

    /// Validates a fault of SOAP 1.1 (section 4.4).
    fn fault_11(&mut self, fault: &Item) {
        for local in ["faultcode", "faultstring"] {
            let mut alike = fault.children.iter().filter(|child| &*child.name.local == local);
            match (alike.clone().any(|child| child.name.namespace.is_empty()), alike.next()) {
                (true, _) => {}
                (false, None) => self.report(fault, format!("<{local}> is missing (SOAP 1.1, section 4.4)")),
                (false, Some(child)) => {
                    let text = format!("<{local}> has to be in no namespace (SOAP 1.1, section 4.4)");
                    self.within(child, |this| this.report(child, text));
                }
            }
        }
        let mut seen: Vec<&QName> = Vec::new();
        for child in fault.children.iter().filter(|child| child.name.namespace.is_empty()) {
            let local = &*child.name.local;
            let is_known = ["faultcode", "faultstring", "faultactor", "detail"].contains(&local);
            self.within(child, |this| match local {
                _ if !is_known => {
                    this.report(child, "other elements of a fault have to be in a namespace (SOAP 1.1, section 4.4)");
                }
                _ if seen.contains(&&child.name) => this.report(child, format!("a fault has at most one <{local}>")),
                // These are text in the envelope's schema.
                "faultcode" | "faultstring" | "faultactor" if !child.children.is_empty() => this.no_children(child),
                "faultcode" => this.is_name(child),
                _ => {}
            });
            seen.push(&child.name);
        }
    }

    /// Validates a fault of SOAP 1.2 (part 1, section 5.4).
    fn fault_12(&mut self, fault: &Item) {
        let parts = [("Code", true), ("Reason", true), ("Node", false), ("Role", false), ("Detail", false)];
        self.in_order(fault, &parts);
        self.no_encoding_style(fault, Version::Soap12);
        for part in fault.children.iter().filter(|part| &*part.name.namespace == ns::SOAP12) {
            self.within(part, |this| match &*part.name.local {
                "Code" => this.code(part),
                "Reason" => this.reason(part),
                "Node" | "Role" => this.text_12(part),
                "Detail" => this.no_encoding_style(part, Version::Soap12),
                _ => {}
            });
        }
    }

    /// Validates a text part of a fault.
    fn text_12(&mut self, part: &Item) {
        self.no_encoding_style(part, Version::Soap12);
        self.no_children(part);
    }

    fn code(&mut self, code: &Item) {
        self.in_order(code, &[("Value", true), ("Subcode", false)]);
        self.no_encoding_style(code, Version::Soap12);
        for value in code.children.iter().filter(|it| it.name.is(ns::SOAP12, "Value")) {
            let is_one = |name: QName| &*name.namespace == ns::SOAP12 && CODES_12.contains(&&*name.local);
            if !value.resolve(&value.text).is_some_and(is_one) {
                let (found, codes) = (shortened(value.text.trim_ascii()), CODES_12.join(", "));
                let text = format!("{found:?} is not a code of SOAP 1.2; the codes are {codes}");
                self.within(value, |this| this.report(value, text));
            }
            self.within(value, |this| this.text_12(value));
        }
        let mut outer = code;
        let mut depth = 0;
        while let Some(subcode) = outer.children.iter().find(|it| it.name.is(ns::SOAP12, "Subcode")) {
            self.path.push(subcode.step());
            depth += 1;
            self.in_order(subcode, &[("Value", true), ("Subcode", false)]);
            self.no_encoding_style(subcode, Version::Soap12);
            for value in subcode.children.iter().filter(|it| it.name.is(ns::SOAP12, "Value")) {
                self.within(value, |this| {
                    this.is_name(value);
                    this.text_12(value);
                });
            }
            outer = subcode;
        }
        self.path.truncate(self.path.len() - depth);
    }

    fn reason(&mut self, reason: &Item) {
        if reason.children.is_empty() {
            self.report(reason, "<Text> is missing (SOAP 1.2 part 1, section 5.4.2)");
        }
        self.no_encoding_style(reason, Version::Soap12);
        for text in &reason.children {
            self.within(text, |this| this.text_12(text));
            self.within(text, |this| match text.attribute(ns::XML, "lang") {
                _ if !text.name.is(ns::SOAP12, "Text") => this.report(text, "only <Text> is allowed here"),
                None => this.report(text, "the attribute xml:lang is missing (SOAP 1.2 part 1, section 5.4.2)"),
                Some(_) => {}
            });
        }
    }

    /// Reports children of an element of SOAP 1.2 that are missing, or not allowed at their
    /// position.
    fn in_order(&mut self, item: &Item, parts: &[(&str, bool)]) {
        for (local, _) in parts.iter().filter(|(_, is_needed)| *is_needed) {
            if !item.children.iter().any(|child| child.name.is(ns::SOAP12, local)) {
                self.report(item, format!("<{local}> is missing (SOAP 1.2 part 1, section 5.4)"));
            }
        }
        let mut next = 0;
        for child in &item.children {
            match parts.iter().position(|(local, _)| child.name.is(ns::SOAP12, local)) {
                Some(found) if found >= next => next = found + 1,
                _ => {
                    let order = parts.iter().map(|(local, _)| *local).collect::<Vec<_>>().join(", ");
                    let text = format!(
                        "<{}> is not allowed here: {} holds {order}, in this order",
                        child.name.local, item.name.local
                    );
                    self.within(child, |this| this.report(child, text));
                }
            }
        }
    }

    /// Reports a text that is not a qualified name, or whose prefix is not declared.
    fn is_name(&mut self, item: &Item) {
        let text = item.text.trim_ascii();
        let short = shortened(text);
        match item.resolve(text) {
            None => self.report(item, format!("{short:?} has a prefix that is not declared")),
            Some(name) if !is_ncname(&name.local) => self.report(item, format!("{short:?} is not a qualified name")),
            Some(_) => {}
        }
    }
}

/// The codes of SOAP 1.2 (part 1, section 5.4.6).
const CODES_12: [&str; 5] = ["VersionMismatch", "MustUnderstand", "DataEncodingUnknown", "Sender", "Receiver"];

fn shown(version: Version) -> &'static str {
    match version {
        Version::Soap11 => "1.1",
        Version::Soap12 => "1.2",
    }
}
