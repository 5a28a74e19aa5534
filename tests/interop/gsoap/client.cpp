// Calls every operation of testdata/wsdl/bench.wsdl with gSOAP, over SOAP 1.1 and SOAP 1.2.
//
//     client URL TLS-URL CA-FILE
//
// Prints one JSON object per test; tests/interop/README.md documents it.

#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "BenchSoap11.nsmap"
#include "soapH.h"
#include "testing.h"

namespace {

std::string tls_url, ca_file;

// --- values

// A pseudo-random integer, by multiplication with a large prime.
int some_int(int n) { return static_cast<int>(static_cast<unsigned>(n) * 1'000'000'007u); }

double some_double(int n) { return some_int(n) / 7.0 * std::pow(10, n % 40 - 20); }

template <class T>
std::vector<T> many(int size, T make(int)) {
  std::vector<T> values;
  for (int n = 0; n < size; ++n) values.push_back(make(n));
  return values;
}

template <class T>
bool is_same(const T &a, const T &b) {
  return a == b;
}

template <class T>
bool is_same_float(T a, T b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

bool is_same(double a, double b) { return is_same_float(a, b); }
bool is_same(float a, float b) { return is_same_float(a, b); }
bool is_same(const timeval &a, const timeval &b) { return a.tv_sec == b.tv_sec && a.tv_usec == b.tv_usec; }
bool is_same(ns1__Mio *a, ns1__Mio *b) { return a->x == b->x && a->y == b->y && is_same(a->v, b->v); }

// An operation that takes a message with a list.
template <class Request, class Response>
using Operation = int (*)(struct soap *, const char *, const char *, Request *, Response &);

template <class List, class Items>
void echo(Endpoint &endpoint, Operation<List, List> operation, const Items &items) {
  List request, response;
  request.item = items;
  endpoint.check(operation(endpoint.soap(), endpoint.address(), nullptr, &request, response));
  expect(response.item.size(), items.size(), "number of items");
  for (size_t n = 0; n < items.size(); ++n) {
    // A vector of booleans gives no references to its items.
    typename Items::value_type sent = items[n], received = response.item[n];
    if (!is_same(sent, received)) throw std::runtime_error("another item " + std::to_string(n));
  }
  endpoint.clear();
}

template <class List, class Items>
void send(Endpoint &endpoint, Operation<List, ns1__Count> operation, const Items &items) {
  List request;
  ns1__Count response;
  request.item = items;
  endpoint.check(operation(endpoint.soap(), endpoint.address(), nullptr, &request, response));
  expect(response.count, static_cast<int>(items.size()), "count");
  endpoint.clear();
}

const int SIZES[] = {0, 1, 100};

template <class List, class Items>
void test_echo(const std::string &name, Operation<List, List> operation, Items make(int)) {
  for (int size : SIZES) {
    test("arrays", name + ", " + std::to_string(size) + " items",
         [=](Endpoint &endpoint) { echo(endpoint, operation, make(size)); });
  }
}

template <class List, class Items>
void test_send(const std::string &name, Operation<List, ns1__Count> operation, Items make(int)) {
  for (int size : SIZES) {
    test("arrays", name + ", " + std::to_string(size) + " items",
         [=](Endpoint &endpoint) { send(endpoint, operation, make(size)); });
  }
}

std::vector<bool> booleans(int size) {
  std::vector<bool> values;
  for (int n = 0; n < size; ++n) values.push_back(n % 3 == 0);
  return values;
}
std::vector<int> ints(int size) { return many<int>(size, some_int); }
std::vector<LONG64> longs(int size) {
  return many<LONG64>(size, [](int n) { return some_int(n) * LONG64(65'537); });
}
std::vector<float> floats(int size) {
  return many<float>(size, [](int n) { return static_cast<float>(some_int(n)) / 16; });
}
std::vector<double> doubles(int size) { return many<double>(size, some_double); }
std::vector<std::string> decimals(int size) {
  return many<std::string>(size, [](int n) { return std::to_string(some_int(n)) + "." + std::to_string(n % 9 + 1); });
}
std::vector<timeval> instants(int size) {
  return many<timeval>(size, [](int n) { return timeval{n * 1'000'003, n * 1000}; });
}
std::vector<std::string> strings(int size) {
  return many<std::string>(size, [](int n) { return "<item> & \"" + std::to_string(n) + "\" äß漢🦀"; });
}

// These values live as long as the program, as others do.
ns1__Mio *mio(int n) {
  auto *value = new ns1__Mio;
  value->x = some_int(n);
  value->y = -n;
  value->v = some_double(n);
  return value;
}
std::vector<ns1__Mio *> mios(int size) { return many<ns1__Mio *>(size, mio); }

void register_arrays() {
  test("arrays", "echoVoid", [](Endpoint &endpoint) {
    ns1__Nothing request, response;
    endpoint.check(soap_call___ns1__echoVoid(endpoint.soap(), endpoint.address(), nullptr, &request, response));
  });
  test_echo("echoBooleans", soap_call___ns1__echoBooleans, booleans);
  test_echo("echoInts", soap_call___ns1__echoInts, ints);
  test_echo("echoLongs", soap_call___ns1__echoLongs, longs);
  test_echo("echoFloats", soap_call___ns1__echoFloats, floats);
  test_echo("echoDoubles", soap_call___ns1__echoDoubles, doubles);
  test_echo("echoDecimals", soap_call___ns1__echoDecimals, decimals);
  test_echo("echoDateTimes", soap_call___ns1__echoDateTimes, instants);
  test_echo("echoStrings", soap_call___ns1__echoStrings, strings);
  test_echo("echoMios", soap_call___ns1__echoMios, mios);
  test_send("sendInts", soap_call___ns1__sendInts, ints);
  test_send("sendDoubles", soap_call___ns1__sendDoubles, doubles);
  test_send("sendStrings", soap_call___ns1__sendStrings, strings);
  test_send("sendMios", soap_call___ns1__sendMios, mios);
}

std::vector<unsigned char> octets(int size) {
  std::vector<unsigned char> bytes;
  for (int n = 0; n < size; ++n) bytes.push_back(static_cast<unsigned char>(n * 7 + n / 256));
  return bytes;
}

void set(xsd__base64Binary &value, std::vector<unsigned char> &bytes) {
  value.__ptr = bytes.data();
  value.__size = static_cast<int>(bytes.size());
}

void expect_bytes(const xsd__base64Binary &value, const std::vector<unsigned char> &bytes) {
  expect(value.__size, static_cast<int>(bytes.size()), "octets");
  if (std::memcmp(value.__ptr, bytes.data(), bytes.size())) throw std::runtime_error("other octets came back");
}

void register_base64() {
  // No size 0: gSOAP represents an empty value by a null pointer, and writes nothing for it.
  for (int size : {1, 2, 3, 1000}) {
    test("arrays", "base64, " + std::to_string(size) + " octets", [=](Endpoint &endpoint) {
      auto bytes = octets(size);
      ns1__Base64 request, response;
      set(request.data, bytes);
      endpoint.check(soap_call___ns1__echoBase64(endpoint.soap(), endpoint.address(), nullptr, &request, response));
      expect_bytes(response.data, bytes);
      ns1__Count count;
      endpoint.check(soap_call___ns1__sendBase64(endpoint.soap(), endpoint.address(), nullptr, &request, count));
      expect(count.count, size, "count");
    });
  }
}

template <class List, class Items>
void test_edge(const char *name, Operation<List, List> operation, Items items) {
  test("values", name, [=](Endpoint &endpoint) { echo(endpoint, operation, items); });
}

void register_edges() {
  using Double = std::numeric_limits<double>;
  using Float = std::numeric_limits<float>;
  using Texts = std::vector<std::string>;
  test_edge("ints at the limits", soap_call___ns1__echoInts, std::vector<int>{INT32_MIN, -1, 0, 1, INT32_MAX});
  test_edge("longs at the limits", soap_call___ns1__echoLongs, std::vector<LONG64>{INT64_MIN, -1, 0, 1, INT64_MAX});
  test_edge("special doubles", soap_call___ns1__echoDoubles,
            std::vector<double>{Double::infinity(), -Double::infinity(), Double::quiet_NaN(), -0.0,
                                Double::denorm_min(), Double::min(), Double::max()});
  test_edge("special floats", soap_call___ns1__echoFloats,
            std::vector<float>{Float::infinity(), -Float::infinity(), Float::quiet_NaN(), -0.0f, Float::denorm_min(),
                               Float::max()});
  test_edge("long decimals", soap_call___ns1__echoDecimals,
            Texts{"0", "-0.5", "123456789012345678.123456789012345678"});
  test_edge("strings with markup", soap_call___ns1__echoStrings,
            Texts{"<item>", "a & b", "]]>", "\"'", "&amp;", "<!-- -->", "<![CDATA[x]]>"});
  test_edge("strings with unicode", soap_call___ns1__echoStrings,
            Texts{"äöüß", "漢字かな", "🦀🧼", "e\u0301", "\uE000\uFFFD\U0010FFFF", "\u0085\u2028"});
  test_edge("strings with white space", soap_call___ns1__echoStrings,
            Texts{" leading", "trailing ", "  two  spaces  ", "a\tb", "a\nb", "a\rb", " ", "\n"});
  test_edge("empty strings among others", soap_call___ns1__echoStrings, Texts{"", "a", "", "", "b", ""});
}

// --- similar messages

const int ROUNDS = 20;

void changing_doubles(Endpoint &endpoint) {
  auto items = doubles(500);
  for (int round = 0; round < ROUNDS; ++round) {
    items[round * 23] = some_double(round + 1000);
    echo(endpoint, soap_call___ns1__echoDoubles, items);
  }
}

void changing_strings(Endpoint &endpoint) {
  auto items = strings(100);
  for (int round = 0; round < ROUNDS; ++round) {
    items[round * 3].clear();
    for (int n = 0; n < round % 5; ++n) items[round * 3] += "& long ";
    echo(endpoint, soap_call___ns1__echoStrings, items);
  }
}

void changing_mios(Endpoint &endpoint) {
  auto items = mios(200);
  for (int round = 0; round < ROUNDS; ++round) {
    if (round % 2 == 0) {
      items.insert(items.begin() + round * 5, mio(round + 1000));
    } else {
      items.erase(items.begin() + round);
    }
    echo(endpoint, soap_call___ns1__echoMios, items);
  }
}

// --- structs

// A person with the required fields; pointers are optional fields.
ns1__Person required() {
  ns1__Person person;
  static double score = 1.5;
  person.name = "Ada <&> Lovelace";
  person.score = &score;
  person.role = ns1__Role__guest;
  person.id = LONG64(1) << 62;
  return person;
}

template <class T>
std::string show(const T *value) {
  std::ostringstream text;
  value ? text << "=" << *value : text << " missing";
  return text.str();
}

std::string show(const ns1__Person &person) {
  std::ostringstream text;
  text.precision(17);
  text << person.name << " nickname" << show(person.nickname) << " score" << show(person.score) << " born"
       << show(person.born) << " role=" << person.role << " id=" << person.id << " active" << show(person.active);
  if (person.address) {
    text << " " << person.address->street << "/" << person.address->city << " zip" << show(person.address->zip);
  }
  for (const auto &tag : person.tag) text << " tag=" << tag;
  return text.str();
}

void echo_person(Endpoint &endpoint, ns1__Person &person) {
  for (int round = 0; round < 3; ++round) {
    ns1__Struct request, response;
    person.id += round;
    request.person = &person;
    endpoint.check(soap_call___ns1__echoStruct(endpoint.soap(), endpoint.address(), nullptr, &request, response));
    expect(show(*response.person), show(person), "person");
    endpoint.clear();
  }
}

void register_structs() {
  static double score = 0.1;
  static bool yes = true;
  static std::string nickname = "ada", born = "1815-12-10", zip = "SW1Y", empty;
  static ns1__Address nested, without;
  nested.street = without.street = "St. James's Square 12";
  nested.city = without.city = "London";
  nested.zip = &zip;
  test("structs", "everything", [](Endpoint &endpoint) {
    auto person = required();
    person.nickname = &nickname;
    person.score = &score;
    person.born = &born;
    person.role = ns1__Role__admin;
    person.address = &nested;
    person.tag = {"a", "b", "c"};
    person.active = &yes;
    echo_person(endpoint, person);
  });
  test("structs", "only what is required", [](Endpoint &endpoint) {
    auto person = required();
    echo_person(endpoint, person);
  });
  test("structs", "an optional one inside a nested one missing", [](Endpoint &endpoint) {
    auto person = required();
    person.address = &without;
    echo_person(endpoint, person);
  });
  test("structs", "empty strings", [](Endpoint &endpoint) {
    auto person = required();
    person.name.clear();
    person.nickname = &empty;
    echo_person(endpoint, person);
  });
  test("structs", "a nil value", [](Endpoint &endpoint) {
    auto person = required();
    person.score = nullptr;
    echo_person(endpoint, person);
  });
  test("structs", "an optional nil value", nullptr, "a null pointer stands for both absent and nil");
}

// --- faults

const _ns1__BenchFault *bench_fault(Endpoint &endpoint) {
  auto *fault = endpoint.soap()->fault;
  auto *detail = endpoint.version() == 1 ? fault->detail : fault->SOAP_ENV__Detail;
  if (!detail || !detail->ns1__BenchFault) endpoint.fail();
  return detail->ns1__BenchFault;
}

void register_fault(const std::string &code, int characters) {
  test("faults", "typed fault, code " + code, [=](Endpoint &endpoint) {
    _ns1__fail request;
    ns1__Nothing response;
    request.code = code;
    if (!soap_call___ns1__fail(endpoint.soap(), endpoint.address(), nullptr, &request, response)) {
      throw std::runtime_error("expected a fault, got a response");
    }
    expect(bench_fault(endpoint)->code, code, "code");
    expect(bench_fault(endpoint)->limit, characters, "limit");
    endpoint.clear();
  });
}

void register_faults() {
  register_fault("quota", 5);
  register_fault("<a & b>", 7);
  register_fault("漢字🦀", 3);
  test("faults", "a value that is not allowed", [](Endpoint &endpoint) {
    ns1__Decimals request, response;
    request.item = {"one"};
    if (!soap_call___ns1__echoDecimals(endpoint.soap(), endpoint.address(), nullptr, &request, response)) {
      throw std::runtime_error("expected a fault, got a response");
    }
    std::string code = *soap_faultcode(endpoint.soap());
    if (code.find(endpoint.version() == 1 ? "Client" : "Sender") == std::string::npos) endpoint.fail();
    endpoint.clear();
  });
}

// --- header blocks

void trace(Endpoint &endpoint, bool has_block) {
  auto *soap = endpoint.soap();
  for (int hops = 0; hops < 3; ++hops) {
    soap->header = nullptr;
    if (has_block) {
      soap->header = soap_new_SOAP_ENV__Header(soap);
      soap->header->ns1__Trace = soap_new__ns1__Trace(soap);
      soap->header->ns1__Trace->id = "<a> & ä";
      soap->header->ns1__Trace->hops = hops;
    }
    ns1__Nothing request;
    __ns1__traceResponse response;
    endpoint.check(soap_call___ns1__trace(soap, endpoint.address(), nullptr, &request, response));
    auto *block = soap->header ? soap->header->ns1__Trace : nullptr;
    expect(block != nullptr, has_block, "there is a block");
    if (block) {
      expect<std::string>(block->id, "<a> & ä", "id");
      expect(block->hops, hops + 1, "hops");
    }
    endpoint.clear();
  }
  soap->header = nullptr;
}

// --- the wire

void some_calls(Endpoint &endpoint) {
  for (int round = 0; round < 5; ++round) {
    auto items = doubles(1000);
    items[round * 100] = round;
    echo(endpoint, soap_call___ns1__echoDoubles, items);
  }
}

int (*parse_header)(struct soap *, const char *, const char *);
bool came_in_gzip;

// gSOAP does not keep the coding of a response after its end.
int note_header(struct soap *soap, const char *key, const char *value) {
  if (!soap_tag_cmp(key, "Content-Encoding") && !std::strcmp(value, "gzip")) came_in_gzip = true;
  return parse_header(soap, key, value);
}

void gzip(Endpoint &shared) {
  Endpoint endpoint(shared.version(), SOAP_ENC_ZLIB);
  parse_header = endpoint.soap()->fparsehdr;
  endpoint.soap()->fparsehdr = note_header;
  for (int round = 0; round < 3; ++round) {
    auto items = std::vector<std::string>(1000, "the same again");
    items[500] += std::to_string(round);
    came_in_gzip = false;
    echo(endpoint, soap_call___ns1__echoStrings, items);
    if (!came_in_gzip) throw std::runtime_error("the response was not in gzip");
  }
}

void tls(Endpoint &shared) {
  Endpoint endpoint(shared.version());
  endpoint.use_tls(tls_url, ca_file.c_str());
  some_calls(endpoint);
}

void untrusted(Endpoint &shared) {
  Endpoint endpoint(shared.version());
  endpoint.use_tls(tls_url, "/etc/ssl/certs/ca-certificates.crt");
  ns1__Nothing request, response;
  int error = soap_call___ns1__echoVoid(endpoint.soap(), endpoint.address(), nullptr, &request, response);
  if (!error) throw std::runtime_error("a certificate of an untrusted authority was accepted");
}

void echo_attachment(Endpoint &shared, int size, bool as_part) {
  Endpoint endpoint(shared.version(), as_part ? SOAP_ENC_MTOM : SOAP_IO_DEFAULT);
  auto bytes = octets(size);
  ns1__Attachment request, response;
  request.name = "a & b";
  set(request.data, bytes);
  if (as_part) request.data.type = const_cast<char *>("application/octet-stream");
  endpoint.check(soap_call___ns1__echoAttachment(endpoint.soap(), endpoint.address(), nullptr, &request, response));
  expect(response.name, request.name, "name");
  expect_bytes(response.data, bytes);
}

void send_attachment(Endpoint &shared) {
  Endpoint endpoint(shared.version(), SOAP_ENC_MTOM);
  auto bytes = octets(1'000'000);
  ns1__Attachment request;
  ns1__Count response;
  set(request.data, bytes);
  request.data.type = const_cast<char *>("application/octet-stream");
  endpoint.check(soap_call___ns1__sendAttachment(endpoint.soap(), endpoint.address(), nullptr, &request, response));
  expect(response.count, 1'000'000, "count");
}

void one_way(Endpoint &endpoint) {
  ns1__Topic topic;
  ns1__Count count;
  topic.topic = "gSOAP over " + std::to_string(endpoint.version()) + ", " + std::to_string(getpid());
  for (int n = 0; n < 3; ++n) {
    endpoint.check(soap_send___ns1__notify(endpoint.soap(), endpoint.address(), nullptr, &topic));
    endpoint.check(soap_recv_empty_response(endpoint.soap()));
  }
  for (int n = 0; n < 50 && count.count != 3; ++n) {
    endpoint.check(soap_call___ns1__notified(endpoint.soap(), endpoint.address(), nullptr, &topic, count));
    if (count.count != 3) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  expect(count.count, 3, "count");
}

void register_wire() {
  test("headers", "a header block both ways", [](Endpoint &endpoint) { trace(endpoint, true); });
  test("headers", "no header block", [](Endpoint &endpoint) { trace(endpoint, false); });
  test("utf-16", "requests in UTF-16", nullptr, "messages are written in UTF-8 or Latin-1");
  test("chunked", "chunked requests", [](Endpoint &shared) {
    Endpoint endpoint(shared.version(), SOAP_IO_CHUNK);
    some_calls(endpoint);
  });
  test("length", "requests with Content-Length", some_calls);
  test("gzip", "gzip both ways", gzip);
  test("tls", "calls over TLS", tls);
  test("tls", "an unknown authority is refused", untrusted);
  for (int size : {100, 100'000}) {
    test("mtom", "echoAttachment as a part, " + std::to_string(size) + " octets",
         [=](Endpoint &endpoint) { echo_attachment(endpoint, size, true); });
  }
  test("mtom", "echoAttachment as text", [](Endpoint &endpoint) { echo_attachment(endpoint, 1000, false); });
  test("mtom", "sendAttachment, 1000000 octets", send_attachment);
  test("one-way", "notifications arrive", one_way);
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 4) return std::fprintf(stderr, "usage: client URL TLS-URL CA-FILE\n"), 2;
  url = argv[1], tls_url = argv[2], ca_file = argv[3];
  soap_ssl_init();
  register_arrays();
  register_base64();
  register_edges();
  test("similar", "doubles, one changed a message", changing_doubles);
  test("similar", "strings that grow and shrink", changing_strings);
  test("similar", "structs inserted and removed", changing_mios);
  register_structs();
  register_faults();
  register_wire();
  for (int version : {1, 2}) {
    Endpoint endpoint(version);
    for (const auto &each : tests) run(endpoint, each);
  }
}
