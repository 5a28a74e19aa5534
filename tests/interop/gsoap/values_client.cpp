// Fetches every case of one of the value services from our server with gSOAP, and sends it back to
// be checked: compiled twice, with the code of types.wsdl, and with that of encoded.wsdl and
// ENCODED.
//
//     values_client TYPES-URL ENCODED-URL
//
// Prints one JSON object per test; tests/interop/README.md documents it.

#include <map>

#include "soapH.h"
#include "testing.h"
#include "values.h"

namespace {

// --- operations: arguments and results

#ifdef ENCODED

// Each operation exists twice: the one that is called determines the version of the encoding.
#define CALL(endpoint, operation, ...)                                                                              \
  (endpoint.version() == 1 ? soap_call_ns2__##operation(endpoint.soap(), endpoint.address(), nullptr, __VA_ARGS__)  \
                           : soap_call_ns2__##operation##_(endpoint.soap(), endpoint.address(), nullptr, __VA_ARGS__))

#define ADD(Kind)                                                           \
  checks[#Kind] = [](Endpoint &endpoint, const std::string &name) {         \
    Sampled<ns2__sample##Kind##Response, ns2__sample##Kind##Response_> sampled; \
    std::string problem;                                                    \
    endpoint.check(CALL(endpoint, sample##Kind, name, sampled));            \
    endpoint.check(CALL(endpoint, check##Kind, name, sampled.value(), problem)); \
    return problem;                                                         \
  };

// The response of an operation, in either version.
template <class One, class Two>
struct Response {
  One one;
  Two two;
  operator One &() { return one; }
  operator Two &() { return two; }
};

// The response of an operation with a value, in either version.
template <class One, class Two>
struct Sampled : Response<One, Two> {
  decltype(One::value) value() { return this->one.value ? this->one.value : this->two.value; }
};

std::vector<ns1__Case *> call_cases(Endpoint &endpoint) {
  ns2__casesResponse response;
  endpoint.check(soap_call_ns2__cases(endpoint.soap(), endpoint.address(), nullptr, response));
  return {response.cases->__ptr, response.cases->__ptr + response.cases->__size};
}

int call_trace(Endpoint &endpoint) {
  Response<ns2__traceResponse, ns2__traceResponse_> response;
  return CALL(endpoint, trace, response);
}

int call_fail(Endpoint &endpoint, const std::string &code) {
  Response<ns2__failResponse, ns2__failResponse_> response;
  return CALL(endpoint, fail, code, response);
}

const ns1__Failure *failure(const SOAP_ENV__Detail *detail) {
  return detail->ns2__Failure ? detail->ns2__Failure->Failure : nullptr;
}

#else

#define ADD(Kind)                                                                                                 \
  checks[#Kind] = [](Endpoint &endpoint, const std::string &name) {                                               \
    _ns1__sample##Kind sample;                                                                                    \
    _ns1__sample##Kind##Response sampled;                                                                         \
    _ns1__check##Kind check;                                                                                      \
    _ns1__check##Kind##Response checked;                                                                          \
    auto *soap = endpoint.soap();                                                                                 \
    sample.case_ = check.case_ = name;                                                                            \
    endpoint.check(soap_call___ns1__sample##Kind(soap, endpoint.address(), nullptr, &sample, sampled));           \
    check.value = sampled.value;                                                                                  \
    endpoint.check(soap_call___ns1__check##Kind(soap, endpoint.address(), nullptr, &check, checked));             \
    return checked.problem;                                                                                       \
  };

std::vector<ns1__Case *> call_cases(Endpoint &endpoint) {
  _ns1__cases request;
  _ns1__casesResponse response;
  endpoint.check(soap_call___ns1__cases(endpoint.soap(), endpoint.address(), nullptr, &request, response));
  return response.case_;
}

int call_trace(Endpoint &endpoint) {
  _ns1__trace request;
  _ns1__traceResponse response;
  return soap_call___ns1__trace(endpoint.soap(), endpoint.address(), nullptr, &request, response);
}

int call_fail(Endpoint &endpoint, const std::string &code) {
  _ns1__fail request;
  _ns1__failResponse response;
  request.code = code;
  return soap_call___ns1__fail(endpoint.soap(), endpoint.address(), nullptr, &request, response);
}

const ns1__Failure *failure(const SOAP_ENV__Detail *detail) { return detail->ns1__Failure_; }

#endif

using Check = std::string (*)(Endpoint &, const std::string &);

const std::map<std::string, Check> &all_checks() {
  static std::map<std::string, Check> checks;
  if (checks.empty()) {
    KINDS(ADD)
  }
  return checks;
}

// --- tests

constexpr auto YEAR_1 = "the year 1 is taken for 1970";
constexpr auto OFFSETS = "offsets are decoded only if the generated header file is edited by hand";

// What gSOAP does not offer, and why: features, or single tests of one.
const std::map<std::string, const char *> LACKS = {
    {"literal primitives/an early time", YEAR_1},
    {"encoded primitives/an early time", YEAR_1},
    {"literal lists/nil items", "a repeated number cannot be nil"},
    {"encoded arrays/nil items", "strings in an array cannot be nil"},
    {"encoded sparse/a partially transmitted array", OFFSETS},
    {"encoded sparse/both", OFFSETS},
    {"encoded faults", "it expects the part of a fault within an element with the message's name"},
    {"literal utf-16", "messages are written in UTF-8 or Latin-1"},
};

void add(const std::string &feature, const std::string &name, std::function<void(Endpoint &)> run) {
  const auto known = [](const std::string &what) { return LACKS.count(what) ? LACKS.at(what) : nullptr; };
  const auto *all = known(STYLE " " + feature), *one = known(STYLE " " + feature + "/" + name);
  test(STYLE " " + feature, name, std::move(run), all ? all : one);
}

void check(Endpoint &endpoint, const std::string &kind, const std::string &name) {
  expect<std::string>(all_checks().at(kind)(endpoint, name), "", "problem");
  endpoint.clear();
}

void trace(Endpoint &endpoint, bool sends) {
  auto *soap = endpoint.soap();
  soap->header = sends ? soap_new_SOAP_ENV__Header(soap) : nullptr;
  if (sends) {
    soap->header->TRACE = soap_new_ns1__Trace(soap);
    soap->header->TRACE->id = "abc <1>";
    soap->header->TRACE->hops = 41;
  }
  endpoint.check(call_trace(endpoint));
  const auto *block = soap->header ? soap->header->TRACE : nullptr;
  expect<std::string>(block ? block->id + std::to_string(block->hops) : "none", sends ? "abc <1>42" : "none", "block");
  soap->header = nullptr;
  endpoint.clear();
}

void fail(Endpoint &endpoint, const std::string &code, int characters) {
  if (!call_fail(endpoint, code)) throw std::runtime_error("expected a fault, got a response");
  const auto *fault = endpoint.soap()->fault;
  const auto *detail = fault ? endpoint.version() == 1 ? fault->detail : fault->SOAP_ENV__Detail : nullptr;
  if (!detail || !failure(detail)) endpoint.fail();
  expect(failure(detail)->code, code, "code");
  expect(failure(detail)->limit, characters, "limit");
  endpoint.clear();
}

void register_all(Endpoint &endpoint) {
  for (const auto *one : call_cases(endpoint)) {
    const auto kind = one->kind, name = one->name;
    add(one->feature, name, [=](Endpoint &endpoint) { check(endpoint, kind, name); });
  }
  endpoint.clear();
  add("headers", "a header block", [](Endpoint &endpoint) { trace(endpoint, true); });
  add("headers", "no header block", [](Endpoint &endpoint) { trace(endpoint, false); });
  add("faults", "a typed fault, code quota", [](Endpoint &endpoint) { fail(endpoint, "quota", 5); });
  add("faults", "a typed fault, code <a & b> 漢字", [](Endpoint &endpoint) { fail(endpoint, "<a & b> 漢字", 10); });
#ifdef ENCODED
  add("references", "a tree without references", [](Endpoint &endpoint) {
    soap_set_omode(endpoint.soap(), SOAP_XML_TREE);
    check(endpoint, "Graph", "a tree");
    soap_clr_omode(endpoint.soap(), SOAP_XML_TREE);
  });
#else
  add("utf-16", "requests", nullptr);
#endif
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: values_client TYPES-URL ENCODED-URL\n"), 2;
  url = argv[std::string(STYLE) == "literal" ? 1 : 2];
  for (int version : {1, 2}) {
    Endpoint endpoint(version);
    if (tests.empty()) register_all(endpoint);
    for (const auto &each : tests) run(endpoint, each);
  }
}
