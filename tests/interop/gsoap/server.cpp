// Serves testdata/wsdl/bench.wsdl with gSOAP.
//
//     server IDENTITY-FILE      a PEM file with certificate and key
//
// Prints a line `listening on URL` for HTTP and one for HTTPS, and serves until it is killed. The
// path below /bench selects the form of the answer: /bench/chunked, /bench/gzip.

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "BenchSoap11.nsmap"
#include "serving.h"
#include "soapH.h"

namespace {

std::mutex lock;
std::map<std::string, int> topics;

// Called first by every operation: sets the form of the response.
void answer_as_asked(struct soap *soap) {
  soap_clr_omode(soap, SOAP_IO_CHUNK | SOAP_ENC_ZLIB | SOAP_ENC_MTOM);
  if (std::strstr(soap->path, "/chunked")) soap_set_omode(soap, SOAP_IO_CHUNK);
  if (std::strstr(soap->path, "/gzip")) soap_set_omode(soap, SOAP_ENC_ZLIB);
}

}  // namespace

// The WSDL has two ports, so each operation exists twice. The context has the version of the call.
#define OPERATION(name, Request, request, Response, response)                                \
  int __ns1__##name(struct soap *, Request *, Response &);                                   \
  int __ns1__##name##_(struct soap *soap, Request *request, Response &response) {            \
    return __ns1__##name(soap, request, response);                                           \
  }                                                                                          \
  OPERATION_OF_ONE_PORT(name, Request, request, Response, response)

#define OPERATION_OF_ONE_PORT(name, Request, request, Response, response)                    \
  static int name(struct soap *, Request *, Response &);                                     \
  int __ns1__##name(struct soap *soap, Request *request, Response &response) {               \
    answer_as_asked(soap);                                                                   \
    return name(soap, request, response);                                                    \
  }                                                                                          \
  static int name([[maybe_unused]] struct soap *soap, [[maybe_unused]] Request *request,     \
                  [[maybe_unused]] Response &response)

#define ECHO(name, Type) \
  OPERATION(name, Type, request, Type, response) { return response.item = request->item, SOAP_OK; }

#define COUNT(name, Type)                              \
  OPERATION(name, Type, request, ns1__Count, response) \
  { return response.count = static_cast<int>(request->item.size()), SOAP_OK; }

ECHO(echoBooleans, ns1__Booleans)
ECHO(echoInts, ns1__Ints)
ECHO(echoLongs, ns1__Longs)
ECHO(echoFloats, ns1__Floats)
ECHO(echoDoubles, ns1__Doubles)
ECHO(echoDecimals, ns1__Decimals)
ECHO(echoDateTimes, ns1__DateTimes)
ECHO(echoStrings, ns1__Strings)
ECHO(echoMios, ns1__Mios)
COUNT(sendInts, ns1__Ints)
COUNT(sendDoubles, ns1__Doubles)
COUNT(sendStrings, ns1__Strings)
COUNT(sendMios, ns1__Mios)

OPERATION(echoVoid, ns1__Nothing, request, ns1__Nothing, response) { return SOAP_OK; }

OPERATION(echoBase64, ns1__Base64, request, ns1__Base64, response) { return response.data = request->data, SOAP_OK; }

OPERATION(sendBase64, ns1__Base64, request, ns1__Count, response) {
  return response.count = request->data.__size, SOAP_OK;
}

OPERATION(echoStruct, ns1__Struct, request, ns1__Struct, response) {
  return response.person = request->person, SOAP_OK;
}

// The response has the header of the request, unless it is changed.
OPERATION_OF_ONE_PORT(trace, ns1__Nothing, request, __ns1__traceResponse, response) {
  response.ns1__traceResponse = soap_new_ns1__Nothing(soap);
  if (soap->header && soap->header->ns1__Trace) ++soap->header->ns1__Trace->hops;
  return SOAP_OK;
}

// Responses with a header block have a different type for each port.
int __ns1__trace_(struct soap *soap, ns1__Nothing *request, __ns1__traceResponse_ &response) {
  __ns1__traceResponse other;
  int error = __ns1__trace(soap, request, other);
  return response.ns1__traceResponse = other.ns1__traceResponse, error;
}

OPERATION(echoAttachment, ns1__Attachment, request, ns1__Attachment, response) {
  response.name = request->name;
  response.data = request->data;
  if (soap->imode & SOAP_ENC_MTOM) {
    soap_set_omode(soap, SOAP_ENC_MTOM);
    response.data.id = nullptr;
    response.data.type = const_cast<char *>("application/octet-stream");
  }
  return SOAP_OK;
}

OPERATION(sendAttachment, ns1__Attachment, request, ns1__Count, response) {
  return response.count = request->data.__size, SOAP_OK;
}

OPERATION(notified, ns1__Topic, request, ns1__Count, response) {
  std::lock_guard<std::mutex> guard(lock);
  return response.count = topics[request->topic], SOAP_OK;
}

int __ns1__notify(struct soap *soap, ns1__Topic *request) {
  {
    std::lock_guard<std::mutex> guard(lock);
    ++topics[request->topic];
  }
  return soap_send_empty_response(soap, SOAP_OK);
}

int __ns1__notify_(struct soap *soap, ns1__Topic *request) { return __ns1__notify(soap, request); }

OPERATION(fail, _ns1__fail, request, ns1__Nothing, response) {
  soap_receiver_fault(soap, "this operation always fails", nullptr);
  auto *detail = soap_new_SOAP_ENV__Detail(soap);
  detail->ns1__BenchFault = soap_new__ns1__BenchFault(soap);
  detail->ns1__BenchFault->code = request->code;
  detail->ns1__BenchFault->limit = characters(request->code);
  (soap->version == 2 ? soap->fault->SOAP_ENV__Detail : soap->fault->detail) = detail;
  return SOAP_FAULT;
}

int main(int argc, char **argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: server IDENTITY-FILE\n"), 2;
  std::signal(SIGPIPE, SIG_IGN);
  soap_ssl_init();
  auto *plain = listen(nullptr, "/bench"), *secure = listen(argv[1], "/bench");
  std::thread(serve, secure, true, nullptr).detach();
  serve(plain, false);
}
