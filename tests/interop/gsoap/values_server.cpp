// Echoes every kind of one of the value services with gSOAP: compiled twice, with the code of
// types.wsdl, and with that of encoded.wsdl and ENCODED.
//
//     values_server
//
// Prints a line `listening on URL`, and serves until it is killed. Operations that only our server
// has are not answered.

#include <csignal>

#include "serving.h"
#include "soapH.h"
#include "values.h"

namespace {

// The response has the header of the request, unless it is changed.
int trace(struct soap *soap) {
  if (soap->header && soap->header->TRACE) ++soap->header->TRACE->hops;
  return SOAP_OK;
}

#ifdef ENCODED
// Of two operations with one name, the first is called for both versions.
void answer_as_asked(struct soap *soap) {
  soap->encodingStyle =
      soap->version == 2 ? "http://www.w3.org/2003/05/soap-encoding" : "http://schemas.xmlsoap.org/soap/encoding/";
}
#endif

ns1__Failure *failure(struct soap *soap, const std::string &code) {
  auto *failure = soap_new_ns1__Failure(soap);
  failure->code = code;
  failure->limit = characters(code);
  return failure;
}

// Sets a fault with an empty detail; returns the detail.
SOAP_ENV__Detail *fault(struct soap *soap) {
  soap_receiver_fault(soap, "this operation always fails", nullptr);
  auto *detail = soap_new_SOAP_ENV__Detail(soap);
  (soap->version == 2 ? soap->fault->SOAP_ENV__Detail : soap->fault->detail) = detail;
  return detail;
}

}  // namespace

// The WSDL has two ports, so each operation exists twice, the second time with an underscore.

#ifdef ENCODED

#define ECHO_OF(Kind, underscore)                                                                                  \
  int ns2__sample##Kind##underscore(struct soap *, std::string, ns2__sample##Kind##Response##underscore &) {       \
    return SOAP_NO_METHOD;                                                                                         \
  }                                                                                                                \
  int ns2__check##Kind##underscore(struct soap *, std::string, ns1__##Kind *, std::string &) {                     \
    return SOAP_NO_METHOD;                                                                                         \
  }                                                                                                                \
  int ns2__echo##Kind##underscore(struct soap *soap, ns1__##Kind *value,                                            \
                                  ns2__echo##Kind##Response##underscore &response) {                                \
    answer_as_asked(soap);                                                                                          \
    return response.value = value, SOAP_OK;                                                                        \
  }
#define OTHERS(underscore)                                                                            \
  int ns2__cases##underscore(struct soap *, ns2__casesResponse##underscore &) { return SOAP_NO_METHOD; } \
  int ns2__trace##underscore(struct soap *soap, ns2__traceResponse##underscore &) {              \
    answer_as_asked(soap);                                                                            \
    return trace(soap);                                                                               \
  }                                                                                                   \
  int ns2__fail##underscore(struct soap *soap, std::string code, ns2__failResponse##underscore &) {   \
    auto *detail = fault(soap);                                                                       \
    detail->ns2__Failure = soap_new__ns2__Failure(soap);                                              \
    detail->ns2__Failure->Failure = failure(soap, code);                                              \
    return SOAP_FAULT;                                                                                \
  }
#define ECHO(Kind) ECHO_OF(Kind, ) ECHO_OF(Kind, _)

#else

#define ECHO_OF(Kind, underscore)                                                                                \
  int __ns1__sample##Kind##underscore(struct soap *, _ns1__sample##Kind *, _ns1__sample##Kind##Response &) {     \
    return SOAP_NO_METHOD;                                                                                       \
  }                                                                                                              \
  int __ns1__check##Kind##underscore(struct soap *, _ns1__check##Kind *, _ns1__check##Kind##Response &) {        \
    return SOAP_NO_METHOD;                                                                                       \
  }                                                                                                              \
  int __ns1__echo##Kind##underscore(struct soap *, _ns1__echo##Kind *request, _ns1__echo##Kind##Response &response) { \
    return response.value = request->value, SOAP_OK;                                                             \
  }
#define OTHERS(underscore)                                                                                  \
  int __ns1__cases##underscore(struct soap *, _ns1__cases *, _ns1__casesResponse &) { return SOAP_NO_METHOD; } \
  int __ns1__trace##underscore(struct soap *soap, _ns1__trace *, _ns1__traceResponse &) { return trace(soap); } \
  int __ns1__fail##underscore(struct soap *soap, _ns1__fail *request, _ns1__failResponse &) {              \
    fault(soap)->ns1__Failure_ = failure(soap, request->code);                                              \
    return SOAP_FAULT;                                                                                      \
  }
#define ECHO(Kind) ECHO_OF(Kind, ) ECHO_OF(Kind, _)

#endif

KINDS(ECHO)
OTHERS()
OTHERS(_)

int main() {
  std::signal(SIGPIPE, SIG_IGN);
  serve(listen(nullptr, "/"), false);
}
