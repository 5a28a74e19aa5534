//! The composite types of the cost model, as in `bench/definitions/composites.wsdl`, for peers
//! whose tools do not read WSDL.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use crate::shell;

/// A type with fields of three kinds: `I2D0S1` has two ints and a string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Composite {
    pub name: String,
    pub ints: usize,
    pub doubles: usize,
    pub texts: usize,
}

/// Returns the path of the WSDL.
pub fn path() -> PathBuf {
    shell::root().join("bench/definitions/composites.wsdl")
}

/// Returns all types.
pub fn all() -> Result<Vec<Composite>> {
    let path = path();
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let all = in_description(&text);
    ensure!(!all.is_empty(), "{} has no composite types", path.display());
    Ok(all)
}

fn in_description(text: &str) -> Vec<Composite> {
    let named = text.split("<xs:complexType name=\"").skip(1).filter_map(|rest| rest.split('"').next());
    named.filter_map(Composite::named).collect()
}

impl Composite {
    fn named(name: &str) -> Option<Self> {
        let (ints, rest) = name.strip_prefix('I')?.split_once('D')?;
        let (doubles, texts) = rest.split_once('S')?;
        let number = |digits: &str| digits.parse().ok();
        Some(Composite { name: name.to_owned(), ints: number(ints)?, doubles: number(doubles)?, texts: number(texts)? })
    }

    /// Returns the fields in order: the letter of the kind, and the name.
    pub fn fields(&self) -> Vec<(char, String)> {
        let kinds = [('i', self.ints), ('d', self.doubles), ('s', self.texts)];
        kinds
            .into_iter()
            .flat_map(|(letter, count)| (0..count).map(move |at| (letter, format!("{letter}{at}"))))
            .collect()
    }

    /// Returns the struct of the operation's request, for `soapcpp2`.
    pub fn soapcpp2(&self) -> String {
        let field = |(letter, name): (char, String)| match letter {
            'i' => format!(" int {name};"),
            'd' => format!(" double {name};"),
            _ => format!(" char *{name};"),
        };
        let fields: String = self.fields().into_iter().map(field).collect();
        format!("struct ns__send{} {{{fields} }};\n", self.name)
    }

    /// Returns a line for the peer in C++, which defines the macros in it.
    pub fn macros(&self) -> String {
        let fields: String = self.fields().iter().map(|(_, name)| format!(" FIELD({name})")).collect();
        format!("COMPOSITE({},{fields})\n", self.name)
    }
}

/// Returns the classes, and a table of their kinds, for the peer in C#.
pub fn csharp(all: &[Composite]) -> String {
    let classes: String = all.iter().map(Composite::csharp_class).collect();
    let kinds: String = all.iter().map(Composite::csharp_kind).collect();
    format!(
        "using System;\nusing System.Collections.Generic;\nusing System.Xml.Schema;\nusing System.Xml.Serialization;\n\n{classes}\
         public static class CompositeKinds\n{{\n    public static readonly Dictionary<string, Func<Kind>> All = \
         new Dictionary<string, Func<Kind>>\n    {{\n{kinds}    }};\n}}\n"
    )
}

impl Composite {
    fn csharp_class(&self) -> String {
        let field = |(letter, name): (char, String)| {
            let kind = match letter {
                'i' => "int",
                'd' => "double",
                _ => "string",
            };
            let member = name.to_uppercase();
            format!("    [XmlElement(\"{name}\", Form = XmlSchemaForm.Unqualified)]\n    public {kind} {member};\n")
        };
        let (name, fields) = (&self.name, self.fields().into_iter().map(field).collect::<String>());
        format!(
            "public class {name}\n{{\n{fields}}}\n\npublic class {name}Body\n{{\n    \
             [XmlElement(\"send{name}\", Namespace = Names.Bench)]\n    public {name} Operation;\n}}\n\n"
        )
    }

    /// A kind is created on demand, since each compiles a serializer.
    fn csharp_kind(&self) -> String {
        let add = |(letter, name): (char, String)| {
            let method = match letter {
                'i' => "Int",
                'd' => "Double",
                _ => "Text",
            };
            format!(" sum.{method}(item.{});", name.to_uppercase())
        };
        let (name, adds) = (&self.name, self.fields().into_iter().map(add).collect::<String>());
        format!(
            "        {{ \"{name}\", () => new Kind<{name}Body, {name}>(body => new[] {{ body.Operation }}, \
             items => new {name}Body {{ Operation = items[0] }}, (item, sum) => {{{adds} }}) }},\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_found_by_their_names() {
        let text =
            "<xs:complexType name=\"Count\"/> <xs:complexType name=\"I2D0S1\"> <xs:complexType name=\"I0D11S0\">";
        let all = in_description(text);
        assert_eq!(all.iter().map(|it| (it.ints, it.doubles, it.texts)).collect::<Vec<_>>(), [(2, 0, 1), (0, 11, 0)]);
        assert_eq!(all[0].soapcpp2(), "struct ns__sendI2D0S1 { int i0; int i1; char *s0; };\n");
        assert_eq!(all[0].macros(), "COMPOSITE(I2D0S1, FIELD(i0) FIELD(i1) FIELD(s0))\n");
    }

    #[test]
    fn classes_have_a_member_a_field() {
        let text = csharp(&in_description("<xs:complexType name=\"I1D0S1\">"));
        assert_eq!(text.matches("[XmlElement(").count(), 2 + 1, "{text}");
        assert!(text.contains("(item, sum) => { sum.Int(item.I0); sum.Text(item.S0); }"), "{text}");
    }

    #[test]
    fn the_description_has_types() {
        assert!(all().expect("the description").len() > 60);
    }
}
