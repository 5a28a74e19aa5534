// Code shared by both servers: a thread for each connection.

#pragma once

#include <cstdio>
#include <cstdlib>
#include <thread>

#include "soapH.h"

namespace {

int characters(const std::string &text) {
  int count = 0;
  for (unsigned char byte : text) count += (byte & 0xC0) != 0x80;
  return count;
}

// Serves one connection until it ends.
void serve_connection(struct soap *soap, bool secure, int (*prepare)(struct soap *)) {
  if (prepare) prepare(soap);
  if (!secure || !soap_ssl_accept(soap)) soap_serve(soap);
  soap_destroy(soap);
  soap_end(soap);
  soap_free(soap);
}

// Listens on a free port and prints the URL; with TLS, if there is a file with certificate and key.
struct soap *listen(const char *identity, const char *path) {
  auto *soap = soap_new1(SOAP_IO_KEEPALIVE | SOAP_C_UTFSTRING);
  soap->bind_flags = SO_REUSEADDR;
  soap->accept_timeout = 0;
  soap->send_timeout = soap->recv_timeout = 60;
  if (identity && soap_ssl_server_context(soap, SOAP_SSL_DEFAULT, identity, nullptr, nullptr, nullptr, nullptr, nullptr,
                                          nullptr)) {
    soap_print_fault(soap, stderr);
    std::exit(1);
  }
  if (!soap_valid_socket(soap_bind(soap, "127.0.0.1", 0, 100))) {
    soap_print_fault(soap, stderr);
    std::exit(1);
  }
  sockaddr_in address;
  socklen_t length = sizeof address;
  getsockname(soap->master, reinterpret_cast<sockaddr *>(&address), &length);
  std::printf("listening on %s://localhost:%d%s\n", identity ? "https" : "http", ntohs(address.sin_port), path);
  std::fflush(stdout);
  return soap;
}

// Serves each connection with a context of its own, which may be prepared.
void serve(struct soap *soap, bool secure, int (*prepare)(struct soap *) = nullptr) {
  while (soap_valid_socket(soap_accept(soap))) {
    std::thread(serve_connection, soap_copy(soap), secure, prepare).detach();
  }
}

}  // namespace
