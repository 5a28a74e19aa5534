//! The engine's schema, with all operations.

use super::Fault;
use super::reader::Reader;
use super::stored::{Stored, stored_enum, stored_struct};
use super::writer::Writer;
use crate::lower::{Lowered, LoweredOperation, Method, Origins};
use deltasoap_core::schema::{
    ArrayElement, Attribute, Branch, Choice, ComplexElement, Compositor, Element, ElementRef, Field, MethodElement,
    OpenElement, Packing, Required, Schema, SimpleElement, UnionElement,
};
use std::collections::HashMap;

stored_struct! {
    LoweredOperation { name, binding, operation, method }
    Method { element, request_headers, response_headers }
    MethodElement { request_name, request, response_name, response, faults, headers, action, style, encoding }
    SimpleElement { name, base, enumeration, default, packed }
    Packing { items, is_big_endian }
    ComplexElement { name, compositor, fields, attributes, text, open, any_attribute, choices }
    Choice { first, branches, is_optional }
    Branch { fields, required, choices }
    Required { field, min }
    Field { name, element, min, max, nillable, inline }
    Attribute { name, element, required, default }
    ArrayElement { name, item_name, item, item_type, nillable, dimensions }
    UnionElement { name, members, list, default }
    OpenElement { base, types }
    Lowered { schema, operations, notes, elements, origins }
}

stored_enum! {
    Element { 0 = Simple(it), 1 = Complex(it), 2 = Array(it), 3 = Union(it), 4 = Any, 5 = Shared(content), 6 = Open(it) }
    Compositor { 0 = Sequence, 1 = All, 2 = Choice }
    Result<Method, String> { 0 = Ok(method), 1 = Err(reason) }
}

impl Stored for ElementRef {
    fn write(&self, to: &mut Writer) {
        match self {
            ElementRef::Index(number) => number.write(to),
            // Lowering never makes these; no reader accepts the number.
            ElementRef::Static(_) => u32::MAX.write(to),
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Fault> {
        from.reference(from.counts.described).map(ElementRef::Index)
    }
}

impl Stored for Schema {
    fn write(&self, to: &mut Writer) {
        self.elements().iter().for_each(|it| it.write(to));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Fault> {
        let count = from.counts.described;
        from.table(count, Element::read).map(Schema::from)
    }
}

impl Stored for Origins {
    fn write(&self, to: &mut Writer) {
        let (exact, open, defaulted, open_defaulted) = self.tables();
        exact.write(to);
        open.write(to);
        defaulted.write(to);
        open_defaulted.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Fault> {
        Ok(Origins::new(HashMap::read(from)?, &HashMap::read(from)?, HashMap::read(from)?, HashMap::read(from)?))
    }
}
