//! Identity constraints, `xsd:ID` and `xsd:IDREF`.

use super::validation::check;
use crate::support::schema;

#[test]
fn what_must_be_unique_is_and_references_lead_somewhere() {
    let schema = "<xs:element name='Op'><xs:complexType><xs:sequence>\
        <xs:element name='row' minOccurs='0' maxOccurs='unbounded'><xs:complexType>\
        <xs:attribute name='k' type='xs:decimal'/><xs:attribute name='to' type='xs:decimal'/><xs:attribute name='u'/>\
        <xs:attribute name='id' type='xs:ID'/><xs:attribute name='ref' type='xs:IDREF'/>\
        </xs:complexType></xs:element></xs:sequence></xs:complexType>\
        <xs:key name='rows'><xs:selector xpath='t:row'/><xs:field xpath='@k'/></xs:key>\
        <xs:keyref name='links' refer='t:rows'><xs:selector xpath='.//t:row'/><xs:field xpath='@to'/></xs:keyref>\
        <xs:unique name='names'><xs:selector xpath='*'/><xs:field xpath='@u'/></xs:unique></xs:element>";
    check(
        schema,
        &[
            "<Op><row k='1' u='a'/><row k='2' to='1.0' u='b'/><row k='3'/></Op>",
            "<Op><row k='1' id='x'/><row k='2' ref='x'/></Op>",
        ],
        &[
            ("<Op><row k='1'/><row k='1.0'/></Op>", "rows: duplicate key 1.0"),
            ("<Op><row/></Op>", "rows: <row> lacks a value of the key"),
            ("<Op><row k='1' to='2'/></Op>", "links: no element has the key 2"),
            ("<Op><row k='1' u='a'/><row k='2' u='a'/></Op>", "names: duplicate key a"),
            ("<Op><row k='1' id='x'/><row k='2' id='x'/></Op>", "another element has the ID x"),
            ("<Op><row k='1' ref='y'/></Op>", "no element has the ID y"),
        ],
    );
}

#[test]
fn fields_of_constraints_have_simple_content_and_one_value() {
    let schema = "<xs:complexType name='Mixed' mixed='true'><xs:attribute name='a'/></xs:complexType><xs:element name='Op'>\
        <xs:complexType><xs:sequence><xs:element name='row' maxOccurs='9'><xs:complexType><xs:sequence>\
        <xs:element name='any' minOccurs='0'/><xs:element name='mixed' type='t:Mixed' minOccurs='0'/></xs:sequence></xs:complexType>\
        </xs:element><xs:element name='nil' type='xs:int' nillable='true' minOccurs='0'/></xs:sequence><xs:attribute name='x'/>\
        <xs:attribute name='refs' type='xs:IDREFS' default='abc'/><xs:attribute name='id' type='xs:ID'/></xs:complexType>\
        <xs:unique name='anys'><xs:selector xpath='t:row'/><xs:field xpath='t:any'/></xs:unique>\
        <xs:unique name='mixed'><xs:selector xpath='t:row'/><xs:field xpath='t:mixed'/></xs:unique>\
        <xs:unique name='every'><xs:selector xpath='t:nil'/><xs:field xpath='@*'/></xs:unique></xs:element>";
    check(
        schema,
        &[
            "<Op id='abc'><row/></Op>",
            "<Op id='abc'><row><any xsi:type='x:int' xmlns:x='http://www.w3.org/2001/XMLSchema'>1</any></row></Op>",
            "<Op id='abc'><row/><nil xsi:nil='1'/></Op>",
        ],
        &[
            ("<Op id='abc'><row><any>1</any></row></Op>", "anys: a field of <row> has no simple content"),
            ("<Op id='abc'><row><any xsi:nil='1'/></row></Op>", "anys: a field of <row> has no simple content"),
            ("<Op id='abc'><row><mixed a='1'>1</mixed></row></Op>", "mixed: a field of <row> has no simple content"),
            (
                "<Op id='abc'><row/><nil xsi:nil='1' xsi:type='x:int' xmlns:x='http://www.w3.org/2001/XMLSchema'/></Op>",
                "every: a field of <nil> has several values",
            ),
            ("<Op><row/></Op>", "no element has the ID abc"),
        ],
    );
}

#[test]
fn violations_of_keys_are_where_the_element_is() {
    let contract = schema(
        "<xs:element name='Op'><xs:complexType><xs:sequence><xs:element name='g' maxOccurs='9'><xs:complexType><xs:sequence>\
         <xs:element name='d' type='xs:date' maxOccurs='9'/></xs:sequence></xs:complexType></xs:element></xs:sequence></xs:complexType>\
         <xs:key name='days'><xs:selector xpath='.//t:d'/><xs:field xpath='.'/></xs:key></xs:element>",
    );
    let message = "<Op xmlns='urn:t'><g><d>2024-01-01</d></g>\n<g><d>2024-01-02</d>\n<d> 2024-01-01 </d></g></Op>";
    let found = contract.validate(message.as_bytes());
    let found: Vec<_> = found.iter().map(|it| (it.line, it.column, it.path.as_str(), it.message.as_str())).collect();
    assert_eq!(found, [(3, 1, "/Op/g[2]/d[2]", "days: duplicate key 2024-01-01")]);
}
