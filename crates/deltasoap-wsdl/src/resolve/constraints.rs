//! Identity constraints (XSD 1.0 part 1, 3.11) and their paths.

use super::{Builder, Scope};
use crate::document::{Node, Place, Vocabulary, abbreviated, qname, steps};
use crate::xsd::{ConstraintKind, IdentityConstraint, NameTest, Path};
use crate::{Error, ErrorKind};
use deltasoap_core::QName;
use deltasoap_xml::lexical::is_ncname;

impl<'s> Builder<'s> {
    /// Returns the constraints of an element. A constraint that cannot be parsed is skipped with a
    /// note.
    pub(super) fn constraints(&mut self, node: Node<'s>, scope: Scope<'s>) -> Vec<IdentityConstraint> {
        let children = node.children_of(Vocabulary::Xsd);
        let own: Vec<_> = children.filter(|it| matches!(it.local(), "unique" | "key" | "keyref")).collect();
        let mut constraints = Vec::with_capacity(own.len());
        for node in own {
            self.note_key(node, scope);
            match self.constraint(node, scope) {
                Some(constraint) => constraints.push(constraint),
                None => {
                    let text = format!("<{}> cannot be parsed and is not checked", node.local());
                    self.tolerated.push((text, node.place()));
                }
            }
        }
        constraints
    }

    /// Records the name of a key, even if the key cannot be parsed, and the key that a `keyref`
    /// refers to.
    fn note_key(&mut self, node: Node<'s>, scope: Scope<'s>) {
        if node.local() == "keyref" {
            self.referred_keys.extend(self.referred(node, scope).map(|name| (name, node.place())));
        } else if let Some(name) = node.attribute("name") {
            self.keys.insert(QName::owned(&*scope.unit.namespace, name));
        }
    }

    /// Returns a note for each `keyref` to an undefined key.
    pub(super) fn missed_keys(&mut self) -> Result<Vec<(String, Place)>, Error> {
        let mut missed = Vec::new();
        for (name, place) in std::mem::take(&mut self.referred_keys) {
            // Each missing key is reported once.
            if !self.keys.insert(name.clone()) {
                continue;
            }
            if self.sources.is_strict {
                return Err(self.sources.error(ErrorKind::Undefined { what: "key", name, cause: None }, place));
            }
            missed.push((format!("key {name} is not defined; the <keyref> to it is not checked"), place));
        }
        Ok(missed)
    }

    fn constraint(&self, node: Node<'s>, scope: Scope<'s>) -> Option<IdentityConstraint> {
        let name = QName::owned(&*scope.unit.namespace, node.attribute("name")?);
        let kind = match node.local() {
            "unique" => ConstraintKind::Unique,
            "key" => ConstraintKind::Key,
            _ => ConstraintKind::KeyRef(self.referred(node, scope)?),
        };
        let selector = self.paths(node.child(Vocabulary::Xsd, "selector")?)?;
        let fields = node.children_of(Vocabulary::Xsd).filter(|child| child.local() == "field");
        let fields: Vec<_> = fields.map(|field| self.paths(field)).collect::<Option<_>>()?;
        let is_good = selector.iter().all(|path| path.attribute.is_none()) && !fields.is_empty();
        is_good.then_some(IdentityConstraint { name, kind, selector, fields })
    }

    fn referred(&self, node: Node<'s>, scope: Scope<'s>) -> Option<QName> {
        let [Some(name)] = node.names("", "refer")? else { return None };
        let name = qname(&self.sources.names, *name);
        let is_included = scope.unit.is_chameleon && name.namespace.is_empty();
        Some(if is_included { QName::owned(&*scope.unit.namespace, &*name.local) } else { name })
    }

    /// Parses the paths of an `xpath` attribute.
    fn paths(&self, node: Node<'s>) -> Option<Vec<Path>> {
        let text = node.attribute("xpath")?;
        let mut names = node.names("", "xpath").unwrap_or_default().iter();
        let mut test = |step: &str| match step {
            "*" => Some(NameTest::Any),
            step if step.contains(':') => {
                let name = qname(&self.sources.names, (*names.next()?)?);
                Some(if name.local == "*" { NameTest::In(Box::from(&*name.namespace)) } else { NameTest::Name(name) })
            }
            step => is_ncname(step).then(|| NameTest::Name(QName::owned("", step))),
        };
        abbreviated(text).split('|').map(|path| self::path(path, &mut test)).collect()
    }
}

fn path(text: &str, test: &mut impl FnMut(&str) -> Option<NameTest>) -> Option<Path> {
    let mut path = Path { is_deep: text.starts_with(".//"), steps: Vec::new(), attribute: None };
    for step in steps(text) {
        match step {
            _ if path.attribute.is_some() => return None,
            "." => {}
            step => match step.strip_prefix('@') {
                Some(attribute) => path.attribute = Some(test(attribute)?),
                None => path.steps.push(test(step)?),
            },
        }
    }
    Some(path)
}
