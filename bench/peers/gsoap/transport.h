// The transport of server and client: the protocol's `transport`. A runtime without OpenSSL and
// zlib only supports plain HTTP.

#pragma once

#include <stdexcept>
#include <string>

#include "soapH.h"

struct Transport {
    bool is_gzip = false;
    bool is_tls = false;
    // Folder of the certificate and its key.
    std::string folder;

    static Transport named(const std::string &name, const std::string &folder) {
        bool is_known = name == "plain";
#if defined(WITH_OPENSSL) && defined(WITH_GZIP)
        is_known = is_known || name == "gzip" || name == "tls" || name == "gzip+tls";
#endif
        if (!is_known) throw std::runtime_error("no transport " + name);
        return {name.rfind("gzip", 0) == 0, name.find("tls") != std::string::npos, folder};
    }

    const char *scheme() const { return is_tls ? "https" : "http"; }

    // Names of the transports besides plain HTTP, as JSON.
    static const char *names() {
#if defined(WITH_OPENSSL) && defined(WITH_GZIP)
        return "[\"gzip\",\"tls\",\"gzip+tls\"]";
#else
        return "[]";
#endif
    }

    void set_up_server(soap *ctx) const {
        compress(ctx);
#ifdef WITH_OPENSSL
        std::string identity = folder + "/identity.pem";
        if (is_tls && soap_ssl_server_context(ctx, SOAP_SSL_NO_AUTHENTICATION, identity.c_str(), nullptr, nullptr, nullptr, nullptr, nullptr, nullptr))
            throw std::runtime_error("the certificate is of no use");
#endif
    }

    // The certificate must be the known one; its name is not checked, since gSOAP only looks among
    // host names.
    void set_up_client(soap *ctx) const {
        compress(ctx);
#ifdef WITH_OPENSSL
        std::string certificate = folder + "/certificate.pem";
        if (is_tls && soap_ssl_client_context(ctx, SOAP_SSL_REQUIRE_SERVER_AUTHENTICATION | SOAP_SSL_SKIP_HOST_CHECK, nullptr, nullptr,
                                              certificate.c_str(), nullptr, nullptr))
            throw std::runtime_error("the certificate is of no use");
#endif
    }

    // Performs the TLS handshake on an accepted connection.
    bool begin(soap *ctx) const {
#ifdef WITH_OPENSSL
        if (is_tls) return soap_ssl_accept(ctx) == SOAP_OK;
#endif
        return ctx != nullptr;
    }

private:
    void compress(soap *ctx) const {
#ifdef WITH_GZIP
        if (is_gzip) soap_set_omode(ctx, SOAP_ENC_ZLIB);
#endif
        (void)ctx;
    }
};
