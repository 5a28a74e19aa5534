// Serves services that require WS-Security with gSOAP and its plugin wsse.
//
//     secured_server KEYS
//
// Prints a line `listening on URL`, and serves until it is killed. The last part of the path says
// what is required: /users, /signed, /tokens or /encrypted.

#include <csignal>
#include <cstring>

#include "BankSoap11.nsmap"
#include "keys.h"
#include "serving.h"

namespace {

const Identity &server() {
  static const Identity identity("server");
  return identity;
}

bool is_at(struct soap *soap, const char *path) { return std::strstr(soap->path, path); }

int check_user(struct soap *soap, std::string &from) {
  const char *user = soap_wsse_get_Username(soap);
  if (!user || std::strcmp(user, USER)) return soap_wsse_fault(soap, wsse__FailedAuthentication, nullptr);
  from = user;
  return soap_wsse_verify_Password(soap, PASSWORD);
}

int check_token(struct soap *soap, std::string &from) {
  if (soap_wsse_verify_element(soap, SOAP_NAMESPACE_OF_wsse, "UsernameToken") == 1) return check_user(soap, from);
  return soap_wsse_sender_fault(soap, "no signed user name", nullptr);
}

int check_encrypted(struct soap *soap) {
  const auto *security = soap_wsse_Security(soap);
  if (security && security->xenc__EncryptedKey) return SOAP_OK;
  return soap_wsse_sender_fault(soap, "not encrypted", nullptr);
}

// Checks what the path requires, and returns the sender.
int check(struct soap *soap, std::string &from) {
  if (is_at(soap, "/users")) return check_user(soap, from);
  from = signer(soap);
  if (is_at(soap, "/encrypted") && check_encrypted(soap)) return soap->error;
  if (check_signed(soap)) return soap->error;
  return is_at(soap, "/tokens") ? check_token(soap, from) : SOAP_OK;
}

// Secures the response as the path requires.
int protect(struct soap *soap) {
  static auto *recipient = read<X509>("client.pem", PEM_read_X509);
  soap_wsse_delete_Security(soap);
  if (is_at(soap, "/users")) return SOAP_OK;
  return sign(soap, server()) || (is_at(soap, "/encrypted") && encrypt(soap, recipient)) ? soap->error : SOAP_OK;
}

int (*parse_plainly)(struct soap *);

// Reads the head of an HTTP request. Only then the path is known: messages without signature are
// refused elsewhere.
int parse(struct soap *soap) {
  if (parse_plainly(soap)) return soap->error;
  return is_at(soap, "/users") ? soap_wsse_verify_done(soap) : SOAP_OK;
}

int expect_signed(struct soap *soap) { return verify(soap, server()); }

int prepare(struct soap *soap) {
  use_security(soap);
  soap->fparse = parse;
  soap->fserveloop = expect_signed;
  return expect_signed(soap);
}

}  // namespace

int __bank__transfer(struct soap *soap, bank__Transfer *request, bank__TransferResponse &response) {
  if (check(soap, response.from)) {
    const int error = soap->error;
    soap_wsse_delete_Security(soap);
    return error;
  }
  response.amount = request->amount;
  response.note = request->note;
  return protect(soap);
}

// The WSDL has two ports, so each operation exists twice.
int __bank__transfer_(struct soap *soap, bank__Transfer *request, bank__TransferResponse &response) {
  return __bank__transfer(soap, request, response);
}

int main(int argc, char **argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: secured_server KEYS\n"), 2;
  folder = argv[1];
  std::signal(SIGPIPE, SIG_IGN);
  auto *soap = listen(nullptr, "/secured");
  parse_plainly = soap->fparse;
  serve(soap, false, prepare);
}
