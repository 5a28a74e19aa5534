// How server and client speak to each other: the protocol's `transport`. A runtime without OpenSSL and zlib knows plain HTTP alone.

#pragma once

#include <stdexcept>
#include <string>

#include "soapH.h"

struct Transport {
    bool is_gzip = false;
    bool is_tls = false;
    // Where the certificate and its key lie.
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

    // Names of those that there are besides plain HTTP, as JSON.
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

    // The certificate has to be the one that is known; the name in it, for which gSOAP looks among host names alone, is not compared.
    void set_up_client(soap *ctx) const {
        compress(ctx);
#ifdef WITH_OPENSSL
        std::string certificate = folder + "/certificate.pem";
        if (is_tls && soap_ssl_client_context(ctx, SOAP_SSL_REQUIRE_SERVER_AUTHENTICATION | SOAP_SSL_SKIP_HOST_CHECK, nullptr, nullptr,
                                              certificate.c_str(), nullptr, nullptr))
            throw std::runtime_error("the certificate is of no use");
#endif
    }

    // Shakes hands on a connection that was accepted.
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
