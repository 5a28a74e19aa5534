// What both clients share: endpoints, tests, and how they are run.

#pragma once

#include <cstdio>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "soapH.h"

namespace {

// Where the service is.
std::string url;

// --- the connection

// The table that soapcpp2 has made is that of SOAP 1.2, since the description has both.
const Namespace *namespaces_of(int version) {
  static std::vector<Namespace> soap11;
  if (version == 2) return namespaces;
  if (soap11.empty()) {
    const Namespace *entry = namespaces;
    do {
      soap11.push_back(*entry);
    } while (entry++->id);
    soap11[0].ns = "http://schemas.xmlsoap.org/soap/envelope/";
    soap11[1].ns = "http://schemas.xmlsoap.org/soap/encoding/";
  }
  return soap11.data();
}

class Endpoint {
 public:
  Endpoint(int version, soap_mode mode = SOAP_IO_DEFAULT)
      : version_(version), soap_(soap_new1(mode | SOAP_IO_KEEPALIVE | SOAP_C_UTFSTRING)), url_(url) {
    soap_set_namespaces(soap_, namespaces_of(version));
    soap_->send_timeout = soap_->recv_timeout = 60;
  }

  ~Endpoint() {
    clear();
    soap_free(soap_);
  }

  Endpoint(const Endpoint &) = delete;
  Endpoint &operator=(const Endpoint &) = delete;

  void use_tls(const std::string &secure_url, const char *authority) {
    url_ = secure_url;
    if (soap_ssl_client_context(soap_, SOAP_SSL_DEFAULT, nullptr, nullptr, authority, nullptr, nullptr)) fail();
  }

  // Of the messages so far. Values of a response live until then.
  void clear() {
    soap_destroy(soap_);
    soap_end(soap_);
  }

  // Raises unless a call went well.
  void check(int error) {
    if (error) fail();
  }

  [[noreturn]] void fail() {
    std::vector<char> text(1000);
    soap_sprint_fault(soap_, text.data(), text.size());
    throw std::runtime_error(text.data());
  }

  const char *address() const { return url_.c_str(); }
  struct soap *soap() const { return soap_; }
  int version() const { return version_; }

 private:
  int version_;
  struct soap *soap_;
  std::string url_;
};

// --- tests

struct Test {
  std::string feature;
  std::string name;
  std::function<void(Endpoint &)> run;
  const char *lacking = nullptr;
};

std::vector<Test> tests;

// A test, or with a reason why there is none what gSOAP does not offer.
void test(std::string feature, std::string name, std::function<void(Endpoint &)> run, const char *lacking = nullptr) {
  tests.push_back({std::move(feature), std::move(name), std::move(run), lacking});
}

template <class T>
void expect(const T &actual, const T &expected, const std::string &what) {
  if (actual == expected) return;
  std::ostringstream text;
  text << what << ": expected " << expected << ", got " << actual;
  throw std::runtime_error(text.str());
}

// --- running

std::string quoted(const std::string &text) {
  std::string json = "\"";
  for (char c : text.substr(0, 300)) {
    char escape[8];
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::snprintf(escape, sizeof escape, "\\u%04x", c);
      json += escape;
    } else {
      json += c;
    }
  }
  return json + "\"";
}

void report(const Endpoint &endpoint, const Test &test, bool ok, const std::string &detail) {
  std::string skipped = test.lacking ? ",\"skipped\":" + quoted(test.lacking) : "";
  std::printf("{\"soap\":\"1.%d\",\"feature\":\"%s\",\"test\":%s,\"ok\":%s,\"detail\":%s%s}\n", endpoint.version(),
              test.feature.c_str(), quoted(test.name).c_str(), ok ? "true" : "false", quoted(detail).c_str(), skipped.c_str());
  std::fflush(stdout);
}

void run(Endpoint &endpoint, const Test &test) {
  try {
    if (!test.lacking) test.run(endpoint);
    report(endpoint, test, true, "");
  } catch (const std::exception &error) {
    report(endpoint, test, false, error.what());
    endpoint.clear();
  }
}

}  // namespace
