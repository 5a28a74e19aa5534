// pugixml as a peer of the benchmark: a tree is built in both directions.

#include <pugixml.hpp>

#include "base64.h"
#include "protocol.h"

namespace {

// pugixml does not support namespaces: names are compared after the colon.
const char *local(const char *name) {
    const char *colon = std::strchr(name, ':');
    return colon ? colon + 1 : name;
}

pugi::xml_node child(const pugi::xml_node &parent, const char *name) {
    for (pugi::xml_node node : parent.children())
        if (!std::strcmp(local(node.name()), name)) return node;
    throw std::runtime_error(std::string("there is no ") + name);
}

void read(const pugi::xml_node &node, int32_t &into) { into = node.text().as_int(); }
void read(const pugi::xml_node &node, double &into) { into = node.text().as_double(); }
void read(const pugi::xml_node &node, std::string &into) { into = node.text().get(); }

// Fields are in schema order: no search by name.
void read(const pugi::xml_node &node, Mio &into) {
    pugi::xml_node field = node.first_child();
    read(field, into.x);
    read(field = field.next_sibling(), into.y);
    read(field.next_sibling(), into.v);
}
void read(const pugi::xml_node &node, Event &into) {
    pugi::xml_node field = node.first_child();
    read(field, into.id);
    read(field = field.next_sibling(), into.value);
    read(field.next_sibling(), into.message);
}

// Each child is visited once, and assigned by its name.
void read(const pugi::xml_node &node, Allocation &into) {
    for (pugi::xml_node field : node.children()) {
        const char *name = local(field.name());
        if (!std::strcmp(name, "reservation")) into.reservation = field.text().as_llong();
        else if (!std::strcmp(name, "expandableReservation")) into.expandable = field.text().as_bool();
        else if (!std::strcmp(name, "limit")) into.limit = field.text().as_llong();
        else if (!std::strcmp(name, "shares")) {
            read(child(field, "shares"), into.shares);
            read(child(field, "level"), into.level);
        } else if (!std::strcmp(name, "overheadLimit")) into.overhead = field.text().as_llong();
    }
}
void read(const pugi::xml_node &node, Resource &into) {
    for (pugi::xml_node field : node.children()) {
        const char *name = local(field.name());
        if (!std::strcmp(name, "key")) read(field, into.key);
        else if (!std::strcmp(name, "config")) {
            read(child(field, "cpuAllocation"), into.cpu);
            read(child(field, "memoryAllocation"), into.memory);
        } else if (!std::strcmp(name, "child")) read(field, into.children.emplace_back());
    }
}

template <class Item> void read_all(const pugi::xml_node &operation, std::vector<Item> &into) {
    for (pugi::xml_node node : operation.children("item")) read(node, into.emplace_back());
}
void read_all(const pugi::xml_node &operation, Resource &into) { read(child(operation, "returnval"), into); }
template <class Data> void read_all(const pugi::xml_node &operation, Data &into) {
    base64::decode(child(operation, "data").text().get(), into);
}

void write(pugi::xml_node node, int32_t v) { node.text().set(v); }
void write(pugi::xml_node node, double v) { node.text().set(v); }
void write(pugi::xml_node node, const std::string &v) { node.text().set(v.c_str()); }
void write(pugi::xml_node node, const Mio &mio) {
    write(node.append_child("x"), mio.x);
    write(node.append_child("y"), mio.y);
    write(node.append_child("v"), mio.v);
}
void write(pugi::xml_node node, const Event &event) {
    write(node.append_child("id"), event.id);
    write(node.append_child("value"), event.value);
    write(node.append_child("message"), event.message);
}

template <class Item> void write_all(pugi::xml_node operation, const std::vector<Item> &items) {
    for (const Item &item : items) write(operation.append_child("item"), item);
}
template <class Data> void write_all(pugi::xml_node operation, const Data &data) {
    std::string text;
    base64::encode(data, text);
    operation.append_child("data").text().set(text.c_str());
}

struct Text final : pugi::xml_writer {
    explicit Text(std::string &text) : text(text) {}
    void write(const void *data, size_t size) override { text.append(static_cast<const char *>(data), size); }
    std::string &text;
};

class Toolkit {
public:
    template <class Values> void decode(const std::string &message, Values &into) {
        pugi::xml_parse_result result = document_.load_buffer(message.data(), message.size(), OPTIONS, pugi::encoding_utf8);
        if (!result) throw std::runtime_error(result.description());
        read_all(child(child(document_.document_element(), "Body"), OPERATION<Values>), into);
    }

    template <class Values> void encode(const Values &values, std::string &out) {
        document_.reset();
        pugi::xml_node envelope = document_.append_child("soap:Envelope");
        envelope.append_attribute("xmlns:soap") = "http://schemas.xmlsoap.org/soap/envelope/";
        std::string name = std::string("ns:") + OPERATION<Values>;
        pugi::xml_node operation = envelope.append_child("soap:Body").append_child(name.c_str());
        operation.append_attribute("xmlns:ns") = "urn:bench";
        write_all(operation, values);
        Text text(out);
        document_.save(text, "", pugi::format_raw, pugi::encoding_utf8);
    }

private:
    static constexpr unsigned OPTIONS = pugi::parse_default | pugi::parse_embed_pcdata;
    pugi::xml_document document_;
};

}  // namespace

int main() {
    constexpr int version = PUGIXML_VERSION;
    protocol::Peer<Toolkit>("pugixml", std::to_string(version / 1000) + "." + std::to_string(version / 10 % 100),
                            {protocol::read_kind<Toolkit, Resource>("resource")})
        .serve();
}
