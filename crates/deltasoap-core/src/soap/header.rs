//! Header blocks.

use super::Version;
use crate::content::Message;
use crate::encode::Encoder;
use crate::{Error, ErrorKind, Node, QName};

/// The actor for the next node on the message path (SOAP 1.1, section 4.2.2).
const NEXT_11: &str = "http://schemas.xmlsoap.org/soap/actor/next";
/// The role for the next node (SOAP 1.2 part 1, section 2.2).
const NEXT_12: &str = "http://www.w3.org/2003/05/soap-envelope/role/next";
/// The role of the ultimate receiver (SOAP 1.2 part 1, section 2.2).
const ULTIMATE_RECEIVER: &str = "http://www.w3.org/2003/05/soap-envelope/role/ultimateReceiver";

/// A child of the envelope's `Header`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderBlock {
    /// The block as a tree, with `mustUnderstand`, `actor` or `role` among its attributes.
    pub node: Node,
}

impl HeaderBlock {
    /// Creates a block from a typed value.
    ///
    /// # Errors
    /// Returns an error if the value holds text that XML cannot carry.
    pub fn from_message<T: Message>(value: &T) -> Result<Self, Error> {
        Ok(HeaderBlock { node: Node::from_message(value)? })
    }

    /// Returns the block in the form that Exclusive XML Canonicalization 1.0 gives it, and the
    /// prefixes that the form declares as `InclusiveNamespaces`, in alphabetical order; `""` stands
    /// for `#default`.
    ///
    /// # Errors
    /// Returns an error if the block holds text that XML cannot carry.
    pub fn to_canonical(&self) -> Result<(Vec<u8>, Vec<String>), Error> {
        let mut encoder = Encoder::new();
        encoder.set_canonical(true);
        self.node.write(&mut encoder);
        let prefixes = encoder.unused_prefixes().into_iter().collect();
        Ok((encoder.finish()?.into_vec(), prefixes))
    }

    /// Marks the block as mandatory: the receiver must understand it or refuse the message.
    #[must_use]
    pub fn must_understand(mut self, version: Version) -> Self {
        let name = QName::new(version.namespace(), "mustUnderstand");
        self.node.attributes.retain(|(other, _)| *other != name);
        self.node.attributes.push((name, "1".into()));
        self
    }

    /// Converts the block from one envelope version to another. The attributes that SOAP defines
    /// and the role of the next node are renamed. The role of the ultimate receiver has no URI in
    /// SOAP 1.1, so its value is cleared.
    pub fn change_version(&mut self, from: Version, to: Version) {
        let role = |version| if version == Version::Soap11 { "actor" } else { "role" };
        for (name, value) in &mut self.node.attributes {
            if name.namespace != from.namespace() {
                continue;
            }
            let mut local = name.local.clone();
            if local == role(from) {
                local = role(to).into();
                match value.trim() {
                    NEXT_11 | NEXT_12 => *value = (if to == Version::Soap11 { NEXT_11 } else { NEXT_12 }).into(),
                    ULTIMATE_RECEIVER if to == Version::Soap11 => value.clear(),
                    _ => {}
                }
            }
            *name = QName { namespace: to.namespace().into(), local };
        }
    }

    /// Returns true if the block must be understood (SOAP 1.1, 4.2.3; SOAP 1.2 part 1, 5.2.3). A
    /// malformed attribute counts as false; see [`mandatory`](Self::mandatory).
    pub fn is_mandatory(&self, version: Version) -> bool {
        self.mandatory(version) == Ok(true)
    }

    /// Returns true if the block must be understood. The attribute is an `xsd:boolean` in both
    /// versions: 1.1 defines only `0` and `1`, but many senders write the words.
    ///
    /// # Errors
    /// Returns an error if the value of `mustUnderstand` is none of `0`, `1`, `false` and `true`:
    /// then it is unknown whether the block may be ignored.
    pub fn mandatory(&self, version: Version) -> Result<bool, ErrorKind> {
        match self.node.attribute(version.namespace(), "mustUnderstand").map(str::trim) {
            None | Some("0" | "false") => Ok(false),
            Some("1" | "true") => Ok(true),
            Some(other) => Err(ErrorKind::UnexpectedValue {
                found: other.to_owned(),
                expected: "0, 1, false or true for mustUnderstand".to_owned(),
            }),
        }
    }

    /// Returns the actor (1.1) or role (1.2) that the block targets; `None` for the ultimate
    /// receiver.
    pub fn role(&self, version: Version) -> Option<&str> {
        let local = match version {
            Version::Soap11 => "actor",
            Version::Soap12 => "role",
        };
        self.node.attribute(version.namespace(), local).map(str::trim).filter(|role| !role.is_empty())
    }

    /// Returns true if the block targets the ultimate receiver or the next node; every server here
    /// is both.
    pub fn is_for_us(&self, version: Version) -> bool {
        self.is_for(version, &[])
    }

    /// Returns true if the block targets the ultimate receiver, and no other node on the way.
    pub fn is_for_ultimate_receiver(&self, version: Version) -> bool {
        self.role(version).is_none_or(|role| role == ULTIMATE_RECEIVER)
    }

    /// Returns true if the block is for us, or for one of the `roles` that we act in (SOAP 1.1,
    /// 4.2.2; SOAP 1.2 part 1, 2.2). Roles are compared character by character.
    pub fn is_for(&self, version: Version, roles: &[String]) -> bool {
        match self.role(version) {
            None => true,
            Some(role) => {
                [NEXT_11, NEXT_12, ULTIMATE_RECEIVER].contains(&role) || roles.iter().any(|ours| ours == role)
            }
        }
    }

    /// Returns the block as a typed value, if it has the type's element name.
    pub fn to_typed<T: Message>(&self) -> Option<Result<T, Error>> {
        (self.node.name == T::ELEMENT).then(|| self.node.to_typed())
    }
}
