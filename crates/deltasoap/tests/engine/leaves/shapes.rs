//! The types, each with an initial document.

use super::stream::Kind;
use deltasoap::lexical::BigEndian;
use deltasoap::schema::QName;
use deltasoap::types::{Empty, Node, Packed};
use deltasoap::{Binary, Nillable, Soap, SoapArray};

macro_rules! kind {
    ($type:ty, $content:expr) => {
        Kind::of::<$type>(concat!(
            "<r xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' xmlns:xsd='http://www.w3.org/2001/XMLSchema' \
             xmlns:e='http://schemas.xmlsoap.org/soap/encoding/' xmlns:q='urn:q' kind='1'>",
            $content,
            "</r>"
        ))
    };
}

pub const KINDS: [Kind; 17] = [
    kind!(
        Bounded,
        "<p><x>1</x></p><p><x>2</x></p><p><x>3</x><y>21</y></p><p><x>4</x></p><p><x>5</x></p><p><x>6</x><y>42</y></p>\
         <p><x>7</x></p><p><x>8</x></p><p><x>9</x><y>63</y></p><p><x>10</x></p><p><x>11</x></p>\
         <p><x>12</x><y>84</y></p>\
         <mid>1</mid><f><a>1</a><b>a</b></f><f><a>2</a><b>b</b></f><f><a>3</a><b>c</b></f><f><a>4</a><b>d</b></f>\
         <f><a>5</a><b>e</b></f><f><a>6</a><b>f</b></f><f><a>7</a><b>g</b></f><f><a>8</a><b>h</b></f>\
         <f><a>9</a><b>i</b></f><f><a>10</a><b>j</b></f>\
         <choices><i>1</i><s>z</s><i>3</i><s>x</s><i>5</i><s>z</s><i>7</i><s>x</s><i>9</i><s>z</s></choices><last>9</last>"
    ),
    kind!(
        Points,
        "<p id='1'><x>1.5</x><y>2</y><z>3</z></p><p><x>2.5</x></p><p><x>3</x><z>1</z></p><p id='4'><x>4</x><y>5</y></p>\
         <p><x>5</x></p><p><x>6</x><y>1</y></p><p><x>7</x></p><p><x>8</x></p><q><x>1</x></q><last>9</last>"
    ),
    kind!(
        TwoLists,
        "<i>1</i><s>a</s><s>b</s><i>2</i><i>3</i><f><a>1</a><b>x</b></f><f><a>2</a><b>y</b></f><s>c</s><i>4</i>\
         <f><a>3</a><b>z</b></f><many><i>1</i><s>d</s><i>2</i></many><two>1</two><two>2</two><two>3</two><three>t</three>\
         <three>u</three>"
    ),
    kind!(
        AnyOrder,
        "<a>1</a><b>x</b><a>2</a><a>3</a><b>y</b><c><x>1</x></c><n>7</n><a>4</a><c><x>2</x><y>3</y></c><within><b>1</b><a>1</a>\
         <a>2</a><n>1</n><c><x>1</x></c></within><within><a>3</a><c><x>1</x></c><b>4</b></within><within/>"
    ),
    kind!(
        Choices,
        "<one><a>1</a><b>x</b></one><list><item>1</item><item>2</item><item>3</item></list><point><x>1</x></point>\
         <list e:arrayType='xsd:int[2]'><item>1</item><item>2</item></list><nothing/><many>1</many><many>2</many><many>3</many>\
         <end>1</end><wrapped><point><x>1</x></point></wrapped><wrapped><many>1</many><many>2</many></wrapped>\
         <wrapped><list><item>5</item></list></wrapped><last>0</last>"
    ),
    kind!(
        Nils,
        "<a>1</a><a xsi:nil='true'/><a>2</a><a xsi:nil='1'></a><p xsi:nil='true'/><p><x>1</x><y>2</y></p><p><x>2</x></p>\
         <array e:arrayType='xsd:int[2]'><item>1</item><item xsi:nil='true'/><item>3</item></array><array xsi:nil='true'/>\
         <only><x>4</x></only><maybe><item>1</item><item>2</item></maybe>"
    ),
    kind!(
        Absences,
        "<a>1</a><text>x</text><p><x>1</x><y>2</y></p><array><item>1</item><item>2</item></array><data>Zm9v</data>\
         <within><text xsi:nil='true'/><a>1</a><p xsi:nil='1'></p></within><within><a xsi:nil='true'/><text>y</text>\
         <p><x>1</x></p></within><within><text>z</text></within><within><p><x>4</x></p><a>2</a><text></text></within>\
         <within><text xsi:nil='true'></text><a xsi:nil='false'>3</a></within><inner><a>4</a><array xsi:nil='true'/></inner>\
         <last>9</last>"
    ),
    kind!(
        Codes,
        "<c>12</c><c>0</c><c>new &amp; other</c><c> 12\n</c><c>12</c><row><n>1</n><c>12</c></row><row><n>2</n><c>13</c></row>\
         <row><n>3</n><c>0</c></row><row><n>4</n><c>0</c></row><row><n>5</n><c> x </c></row><coded code='12'><c>0</c></coded>\
         <coded code='14'/><last>12</last>"
    ),
    kind!(
        Tree,
        "<v>1</v><child><v>2</v><child><v>3</v></child><child><v>4</v><child><v>5</v></child></child></child>\
         <child><v>6</v><leaf><v>7</v><leaf><v>8</v></leaf></leaf></child><child><v>9</v></child><child><v>10</v></child>\
         <leaf><child><v>11</v></child></leaf>"
    ),
    kind!(
        Arrays,
        "<flat e:arrayType='q:Flat[4]'><item><a>1</a><b>x</b></item><item><a>2</a><b>y</b></item><item><a>3</a><b>z</b></item>\
         <item><a>4</a><b>w</b></item></flat><deep e:arrayType='q:Point[4]'><item id='1'><x>1</x></item><item><x>2</x>\
         <y>3</y></item><item><x>3</x></item><item><x>4</x></item></deep><rows e:arrayType='xsd:int[][3]'>\
         <item e:arrayType='xsd:int[2]'><item>1</item><item>2</item></item><item e:arrayType='xsd:int[1]'><item>3</item></item>\
         <item e:arrayType='xsd:int[3]'><item>4</item><item>5</item><item>6</item></item></rows>\
         <more e:arrayType='xsd:int[2]'><item>1</item><item>2</item></more><more e:arrayType='xsd:int[9]'/>\
         <more e:arrayType='xsd:int[1]'><item>7</item></more>"
    ),
    kind!(
        Open,
        "<other><a>1</a></other><a>1</a><list><x>1</x><any/><y>2</y></list><list><x>2</x></list><other/><list><x>3</x></list>\
         <list><any>1</any><x>4</x></list><tree><t u='v'>text<w/></t></tree><other>1</other><tree><t/></tree><s>1</s><s>2</s>"
    ),
    kind!(
        Lists,
        "<row><n>1</n><i>1</i><i>2</i><i>3</i></row><row><n>2</n><i>4</i></row><row><n>3</n><i>5</i><i>6</i><i>1</i></row>\
         <pairs><f><a>1</a><b>x</b></f><f><a>2</a><b>y</b></f><f><a>3</a><b>z</b></f></pairs><pairs/>\
         <sparse e:arrayType='xsd:int[5]'><item>1</item><item>2</item><item>3</item></sparse>\
         <structs><f e:arrayType='q:Flat[3]'><item><a>1</a><b>x</b></item><item><a>2</a><b>y</b></item>\
         <item><a>3</a><b>z</b></item></f></structs><last><n>4</n><i>7</i><i>8</i><i>9</i></last>"
    ),
    kind!(
        Mixed,
        "<h version='1'><n>1</n></h><rows><p><x>1</x></p><flat><item><a>1</a><b>x</b></item><item><a>2</a><b>y</b></item></flat>\
         <price currency='EUR'>9</price></rows><rows><p id='1'><x>1</x></p><p><x>2</x></p><flat e:arrayType='q:F[1]'>\
         <item><a>3</a><b>z</b></item></flat><price>1</price></rows><rows><flat/><price>2</price></rows><name>q:local</name>\
         <empty/><rest><v>1</v></rest>"
    ),
    kind!(
        Binaries,
        "<b>Zm9vYmFy</b><b><i:Include xmlns:i='http://www.w3.org/2004/08/xop/include' href='cid:1'/></b><b href='cid:2'/><b/>\
         <p><x>1</x></p><b xmlns:i='http://www.w3.org/2004/08/xop/include'><i:Include href='cid:3'><x>1</x></i:Include></b>\
         <b>Z g==</b><b>Zm8=</b><p><x>2</x></p><maybe href='cid:1'/><nil xsi:nil='true'/><nil href='cid:2'></nil>\
         <nil><i:Include xmlns:i='http://www.w3.org/2004/08/xop/include' href='cid:1'/></nil><nil>Zg==</nil>\
         <picture kind='a'>Zm9v</picture><picture><i:Include xmlns:i='http://www.w3.org/2004/08/xop/include' href='cid:4'/></picture>\
         <picture kind='b'/><picture kind='c'> Zm 9v</picture>"
    ),
    kind!(
        Numbers,
        "<packed>AQACAAMA</packed><packed><i:Include xmlns:i='http://www.w3.org/2004/08/xop/include' href='cid:1'/></packed>\
         <packed href='cid:2'/><packed/><packed>AQ AC\nAAMA</packed><packed>AQACAAMABAAFAAYABwAIAAkACgALAAwADQAOAA8A</packed>\
         <maybe>AAAAAQAAAAI=</maybe><nil xsi:nil='true'/><nil>AQA=</nil><nil href='cid:2'></nil>\
         <series unit='m'>AAAAAQAAAAI=</series><series><i:Include xmlns:i='http://www.w3.org/2004/08/xop/include' href='cid:4'/></series>\
         <series unit='s'/><series unit='kg'> AAAA AQ==</series>"
    ),
    kind!(
        Figures,
        "<f><x>1</x></f><f xsi:type='Flat'><a>1</a><b>x</b></f><f xsi:type='Points' kind='k'><p><x>1</x></p><p><x>2</x></p></f>\
         <f xsi:type='q:star'><points>5</points></f><f><x>2</x><y>3</y></f><f xsi:type='Point' id='3'><x>4</x></f>\
         <f xsi:type='Points' kind='l'><p><x>1</x></p><last>2</last></f><one xsi:type='Flat'><a>2</a><b>y</b></one>\
         <maybe xsi:type='Figures' kind='in'><f><x>7</x></f><one xsi:type='Flat'><a>3</a><b>z</b></one></maybe>"
    ),
    kind!(
        Wild,
        "<a>1</a><u:t xmlns:u='urn:u'><v>1</v></u:t><t/><b>2</b><c>3</c><w x='1'>text</w><w/><c>4</c><end>5</end><one><t>1</t></one>"
    ),
];

types! {
    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(derived)]
    enum Figure {
        #[soap(base)]
        Point(Point),
        Flat(Box<Flat>),
        Points(Points),
        Figures(Box<Figures>),
        #[soap(other)]
        Other(Node),
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(derived)]
    enum NoOther {
        Flat(Flat),
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Figures {
        #[soap(attribute)]
        kind: String,
        f: Vec<Figure>,
        one: NoOther,
        maybe: Option<Nillable<Figure>>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Wild {
        #[soap(attribute)]
        kind: String,
        a: i32,
        #[soap(inline)]
        front: Vec<Node>,
        b: i32,
        #[soap(inline)]
        parts: Vec<WildPart>,
        end: Option<i32>,
        #[soap(inline)]
        one: Option<Node>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    enum WildPart {
        #[soap(name = "c")]
        C(i32),
        #[soap(inline)]
        Any(Node),
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Point {
        #[soap(attribute)]
        id: Option<u32>,
        x: f64,
        y: Option<f64>,
        #[soap(default = 7)]
        z: i32,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Flat {
        a: i32,
        b: String,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    pub struct Points {
        #[soap(attribute)]
        kind: String,
        p: Vec<Point>,
        q: Option<Point>,
        last: Option<i32>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    enum Entry {
        #[soap(name = "i")]
        Int(i32),
        #[soap(name = "s")]
        Str(String),
        #[soap(name = "f")]
        Flat(Flat),
    }

    /// Lists of bounded length, each close to a bound.
    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Bounded {
        #[soap(attribute)]
        kind: String,
        #[soap(min = 11, max = 13)]
        p: Vec<Point>,
        mid: Option<i32>,
        #[soap(min = 8)]
        f: Vec<Flat>,
        choices: Option<FewEntries>,
        last: Option<i32>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    struct FewEntries {
        #[soap(inline, min = 8, max = 11)]
        entries: Vec<Entry>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Entries {
        #[soap(inline)]
        entries: Vec<Entry>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    struct TwoLists {
        #[soap(attribute)]
        kind: String,
        #[soap(inline)]
        entries: Vec<Entry>,
        many: Vec<Entries>,
        two: Vec<i32>,
        three: Vec<String>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(all)]
    struct Unordered {
        a: Vec<i32>,
        b: Vec<String>,
        c: Vec<Point>,
        n: Option<i32>,
    }

    /// Elements in any order within others: an operation that contains them is not compared.
    #[derive(Debug, Clone, PartialEq, Soap)]
    struct AnyOrder {
        #[soap(attribute)]
        kind: String,
        #[soap(inline)]
        parts: Vec<Part>,
        within: Vec<Unordered>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    enum Part {
        #[soap(name = "a")]
        A(Vec<i32>),
        #[soap(name = "b")]
        B(String),
        #[soap(name = "c")]
        C(Point),
        #[soap(name = "n")]
        N(Option<i32>),
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(rename_all = "lowercase")]
    enum Shape {
        List(SoapArray<i32>),
        Point(Point),
        Many(Vec<i32>),
        Nothing,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(rename_all = "lowercase")]
    enum Means {
        One(Flat),
        Other(SoapArray<Flat>),
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(rename_all = "lowercase")]
    enum End {
        End(i32),
        Items(SoapArray<Point>),
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Choices {
        #[soap(attribute)]
        kind: String,
        #[soap(inline)]
        means: Option<Means>,
        #[soap(inline)]
        shapes: Vec<Shape>,
        #[soap(inline)]
        end: End,
        wrapped: Vec<Shape>,
        last: Option<i32>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Nils {
        #[soap(attribute)]
        kind: String,
        a: Vec<Nillable<i32>>,
        p: Vec<Nillable<Point>>,
        array: Vec<Nillable<SoapArray<Nillable<i32>>>>,
        only: Nillable<Point>,
        maybe: Option<Nillable<SoapArray<i32>>>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    enum Code {
        #[soap(name = "12")]
        Twelve,
        #[soap(name = "0")]
        Zero,
        #[soap(other)]
        Other(String),
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Codes {
        #[soap(attribute)]
        kind: Code,
        c: Vec<Code>,
        row: Vec<CodedRow>,
        coded: Vec<Coded>,
        last: Option<Code>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    struct CodedRow {
        n: i32,
        c: Code,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Coded {
        #[soap(attribute)]
        code: Code,
        c: Option<Code>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Absences {
        #[soap(attribute)]
        kind: Option<String>,
        #[soap(nillable)]
        a: Option<i32>,
        #[soap(nillable)]
        text: Option<String>,
        #[soap(nillable)]
        p: Option<Point>,
        #[soap(nillable)]
        array: Option<SoapArray<i32>>,
        #[soap(nillable)]
        data: Option<Binary>,
        within: Vec<Accessors>,
        #[soap(nillable)]
        inner: Option<Box<Absences>>,
        #[soap(nillable)]
        last: Option<i32>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(all)]
    struct Accessors {
        #[soap(nillable)]
        a: Option<i32>,
        #[soap(nillable)]
        text: Option<String>,
        #[soap(nillable)]
        p: Option<Point>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Tree {
        v: Option<i32>,
        child: Vec<Tree>,
        leaf: Option<Box<Tree>>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    pub struct Arrays {
        #[soap(attribute)]
        kind: String,
        flat: Option<SoapArray<Flat>>,
        deep: Option<SoapArray<Point>>,
        rows: Option<SoapArray<SoapArray<i32>>>,
        more: Vec<SoapArray<i32>>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(open)]
    struct Loose {
        x: Option<i32>,
        y: Option<i32>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(open)]
    pub struct Open {
        #[soap(attribute)]
        kind: String,
        a: Option<i32>,
        list: Vec<Loose>,
        tree: Vec<Node>,
        s: Vec<String>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Price {
        #[soap(attribute)]
        currency: Option<String>,
        #[soap(text)]
        amount: f64,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Head {
        #[soap(attribute)]
        version: Option<String>,
        n: Option<i32>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Rows {
        p: Vec<Point>,
        flat: SoapArray<Flat>,
        price: Price,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Mixed {
        #[soap(attribute)]
        kind: String,
        h: Option<Head>,
        rows: Vec<Rows>,
        name: Option<QName>,
        empty: Option<Empty>,
        rest: Vec<Tree>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    enum PointOrBinary {
        #[soap(name = "b")]
        Binary(Binary),
        #[soap(name = "p")]
        Point(Point),
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Binaries {
        #[soap(attribute)]
        kind: String,
        #[soap(inline)]
        entries: Vec<PointOrBinary>,
        maybe: Option<Binary>,
        nil: Vec<Nillable<Binary>>,
        picture: Vec<Picture>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Picture {
        #[soap(attribute)]
        kind: Option<String>,
        #[soap(text)]
        data: Binary,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Numbers {
        #[soap(attribute)]
        kind: String,
        packed: Vec<Packed<i16>>,
        maybe: Option<Packed<i32, BigEndian>>,
        nil: Vec<Nillable<Packed<u16>>>,
        series: Vec<Series>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Series {
        #[soap(attribute)]
        unit: Option<String>,
        #[soap(text)]
        data: Packed<i32, BigEndian>,
    }

    /// Flat lists at the end of elements that other elements follow.
    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Lists {
        #[soap(attribute)]
        kind: String,
        row: Vec<Row>,
        pairs: Vec<Pairs>,
        sparse: Option<SoapArray<i32>>,
        structs: Option<Structs>,
        last: Option<Row>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Row {
        n: i32,
        i: Vec<i32>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Pairs {
        f: Vec<Flat>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Structs {
        f: SoapArray<Flat>,
    }

    /// A large value from few bytes.
    #[derive(Debug, Clone, PartialEq, Soap)]
    pub struct Room {
        a: Option<String>,
        b: Option<String>,
        c: Option<String>,
        d: Option<String>,
        e: Option<String>,
        f: Option<String>,
        g: Option<String>,
        h: Option<String>,
        i: Option<String>,
        j: Option<String>,
        k: Option<String>,
        l: Option<String>,
        m: Option<String>,
        n: Option<String>,
        o: Option<String>,
        p: Option<String>,
        q: Option<String>,
        r: Option<String>,
        s: Option<String>,
        t: Option<String>,
        u: Option<String>,
        v: Option<String>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    pub struct Wide {
        w: Vec<Room>,
    }
}
