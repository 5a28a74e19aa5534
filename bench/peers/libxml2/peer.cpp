// libxml2 as a peer of the benchmark: its SAX2 interface for reading, its text writer for writing.

#include <libxml/parser.h>
#include <libxml/xmlwriter.h>

#include <charconv>

#include "base64.h"
#include "protocol.h"

namespace {

constexpr const char *SOAP = "http://schemas.xmlsoap.org/soap/envelope/";
constexpr const char *BENCH = "urn:bench";

const xmlChar *xml(const char *text) { return reinterpret_cast<const xmlChar *>(text); }

template <class Number> void parse(const std::string &text, Number &into) {
    const char *end = text.data() + text.size();
    auto [stop, error] = std::from_chars(text.data(), end, into);
    if (error != std::errc() || stop != end) throw std::runtime_error("no number: " + text);
}

// Receives the elements inside the operation's. `level` is 1 for an item (or `data`), 2 for its
// fields.
template <class Values> struct Sink;

template <class Item> struct Scalars {
    std::vector<Item> *items;
    void open(int level, int) {
        if (level != 1) throw std::runtime_error("an element inside a simple one");
    }
    void close(int, int, std::string &text) {
        if constexpr (std::is_same_v<Item, std::string>) items->push_back(text);
        else parse(text, items->emplace_back());
    }
};
template <> struct Sink<Ints> : Scalars<int32_t> {};
template <> struct Sink<Doubles> : Scalars<double> {};
template <> struct Sink<Strings> : Scalars<std::string> {};

// Fields are in schema order.
template <class Item> struct Structs {
    std::vector<Item> *items;
    void open(int level, int) {
        if (level == 1) items->emplace_back();
        if (level > 2) throw std::runtime_error("an element inside a field");
    }
    void close(int level, int field, std::string &text) {
        if (level == 2) set(items->back(), field, text);
    }
    static void set(Mio &mio, int field, std::string &text) {
        if (field == 0) parse(text, mio.x);
        else if (field == 1) parse(text, mio.y);
        else parse(text, mio.v);
    }
    static void set(Event &event, int field, std::string &text) {
        if (field == 0) parse(text, event.id);
        else if (field == 1) parse(text, event.value);
        else event.message = text;
    }
};
template <> struct Sink<Mios> : Structs<Mio> {};
template <> struct Sink<Events> : Structs<Event> {};

template <class Data> struct Base64 {
    Data *data;
    void open(int, int) {}
    void close(int, int, std::string &text) { base64::decode(text, *data); }
};
template <> struct Sink<Octets> : Base64<Octets> {};
template <> struct Sink<Doubles64> : Base64<Doubles64> {};

// The callbacks of one message. Exceptions must not unwind through libxml2: the first is kept, and
// stops the parser.
template <class Values> class Reader {
public:
    Reader(Values &into, std::string &text) : sink_{{&into}}, text_(text) {}

    static xmlSAXHandler handler() {
        xmlSAXHandler handler{};
        handler.initialized = XML_SAX2_MAGIC;
        handler.startElementNs = start;
        handler.endElementNs = end;
        handler.characters = characters;
        handler.cdataBlock = characters;
        handler.serror = [](void *, xmlErrorPtr) {};
        return handler;
    }

    void attach(xmlParserCtxtPtr parser) { (parser_ = parser)->_private = this; }
    void conclude() const {
        if (!error_.empty()) throw std::runtime_error(error_);
        if (!seen_) throw std::runtime_error("another operation");
    }

private:
    static Reader *of(void *parser) { return static_cast<Reader *>(static_cast<xmlParserCtxtPtr>(parser)->_private); }

    template <class Work> void attempt(Work work) {
        try {
            work();
        } catch (const std::exception &e) {
            error_ = e.what();
            xmlStopParser(parser_);
        }
    }

    static void start(void *parser, const xmlChar *name, const xmlChar *, const xmlChar *uri, int, const xmlChar **, int, int,
                      const xmlChar **) {
        Reader *self = of(parser);
        self->attempt([=] { self->open(name, uri); });
    }
    static void end(void *parser, const xmlChar *, const xmlChar *, const xmlChar *) {
        Reader *self = of(parser);
        self->attempt([=] { self->close(); });
    }
    static void characters(void *parser, const xmlChar *text, int length) {
        of(parser)->text_.append(reinterpret_cast<const char *>(text), static_cast<size_t>(length));
    }

    void open(const xmlChar *name, const xmlChar *uri) {
        static constexpr const char *HEAD[] = {"Envelope", "Body", OPERATION<Values>};
        if (depth_ < 3) expect(name, uri, HEAD[depth_], depth_ < 2 ? SOAP : BENCH);
        else sink_.open(depth_ - 2, field_);
        if (depth_ == 3) field_ = -1;
        if (depth_ == 4) field_++;
        depth_++;
        text_.clear();
    }
    void close() {
        depth_--;
        if (depth_ == 2) seen_ = true;
        if (depth_ >= 3) sink_.close(depth_ - 2, field_, text_);
    }
    static void expect(const xmlChar *name, const xmlChar *uri, const char *local, const char *nspace) {
        if (!xmlStrEqual(name, xml(local)) || !xmlStrEqual(uri, xml(nspace)))
            throw std::runtime_error(std::string("not ") + local);
    }

    Sink<Values> sink_;
    std::string &text_;
    xmlParserCtxtPtr parser_ = nullptr;
    int depth_ = 0, field_ = -1;
    bool seen_ = false;
    std::string error_;
};

class Toolkit {
public:
    Toolkit() : parser_(xmlNewParserCtxt()) {
        if (!parser_) throw std::bad_alloc();
    }
    ~Toolkit() { xmlFreeParserCtxt(parser_); }
    Toolkit(const Toolkit &) = delete;
    Toolkit &operator=(const Toolkit &) = delete;

    template <class Values> void decode(const std::string &message, Values &into) {
        Reader<Values> reader(into, text_);
        *parser_->sax = Reader<Values>::handler();
        reader.attach(parser_);
        // No tree is returned: the handler's missing callbacks would have built it.
        xmlCtxtReadMemory(parser_, message.data(), static_cast<int>(message.size()), nullptr, nullptr, OPTIONS);
        reader.conclude();
        if (!parser_->wellFormed) throw std::runtime_error("not well-formed");
    }

    template <class Values> void encode(const Values &values, std::string &out) {
        xmlOutputBufferPtr buffer = xmlOutputBufferCreateIO(append, nullptr, &out, nullptr);
        writer_ = xmlNewTextWriter(buffer);
        if (!writer_) throw std::runtime_error("no writer");
        xmlTextWriterStartDocument(writer_, nullptr, "UTF-8", nullptr);
        xmlTextWriterStartElementNS(writer_, xml("soap"), xml("Envelope"), xml(SOAP));
        xmlTextWriterStartElement(writer_, xml("soap:Body"));
        xmlTextWriterStartElementNS(writer_, xml("ns"), xml(OPERATION<Values>), xml(BENCH));
        write_all(values);
        xmlTextWriterEndDocument(writer_);
        xmlFreeTextWriter(writer_);
    }

private:
    static int append(void *out, const char *text, int length) {
        static_cast<std::string *>(out)->append(text, static_cast<size_t>(length));
        return length;
    }

    template <class Item> void write_all(const std::vector<Item> &items) {
        for (const Item &item : items) write("item", item);
    }
    template <class Data> void write_all(const Data &data) {
        base64::encode(data, text_);
        raw("data", text_.c_str());
    }

    void write(const char *name, const std::string &text) { xmlTextWriterWriteElement(writer_, xml(name), xml(text.c_str())); }
    template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number>>> void write(const char *name, Number number) {
        char text[32];
        *std::to_chars(text, text + sizeof text - 1, number).ptr = '\0';
        raw(name, text);
    }
    void write(const char *name, const Mio &mio) {
        xmlTextWriterStartElement(writer_, xml(name));
        write("x", mio.x);
        write("y", mio.y);
        write("v", mio.v);
        xmlTextWriterEndElement(writer_);
    }
    void write(const char *name, const Event &event) {
        xmlTextWriterStartElement(writer_, xml(name));
        write("id", event.id);
        write("value", event.value);
        write("message", event.message);
        xmlTextWriterEndElement(writer_);
    }
    // Text without characters to escape.
    void raw(const char *name, const char *text) {
        xmlTextWriterStartElement(writer_, xml(name));
        xmlTextWriterWriteRaw(writer_, xml(text));
        xmlTextWriterEndElement(writer_);
    }

    static constexpr int OPTIONS = XML_PARSE_HUGE | XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING;
    xmlParserCtxtPtr parser_;
    xmlTextWriterPtr writer_ = nullptr;
    std::string text_;
};

}  // namespace

int main() {
    xmlInitParser();
    protocol::Peer<Toolkit>("libxml2", LIBXML_DOTTED_VERSION).serve();
}
