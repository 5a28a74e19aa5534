// gSOAP in process: one envelope in, values out, and back.
//
// This is what the generated skeleton `soap_serve_ns__...` does between the HTTP headers; the
// socket is replaced by two callbacks that copy from and to a buffer.

#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>

#include "soapH.h"

// soapcpp2 gives an operation's function and its request struct the same name; these name the
// structs.
using SendInts = struct ns__sendInts;
using SendDoubles = struct ns__sendDoubles;
using SendStrings = struct ns__sendStrings;
using SendMios = struct ns__sendMios;
using SendEvents = struct ns__sendEvents;
using SendBase64 = struct ns__sendBase64;
using SendEncodedStrings = struct ns__sendEncodedStrings;
using SendRepeatedStrings = struct ns__sendRepeatedStrings;

// The generated functions of one request type, so that templates find them.
template <class Request> struct Generated;

#define GENERATED(TYPE, NAME)                                                            \
    template <> struct Generated<TYPE> {                                                 \
        static void vacate(soap *ctx, TYPE *r) { soap_default_ns__##NAME(ctx, r); }      \
        static bool get(soap *ctx, TYPE *r) {                                            \
            return soap_get_ns__##NAME(ctx, r, "ns:" #NAME, nullptr) != nullptr;         \
        }                                                                                \
        static void serialize(soap *ctx, const TYPE *r) {                                \
            soap_serialize_ns__##NAME(ctx, r);                                           \
        }                                                                                \
        static bool put(soap *ctx, const TYPE *r) {                                      \
            return soap_put_ns__##NAME(ctx, r, "ns:" #NAME, "") == SOAP_OK;              \
        }                                                                                \
    };

GENERATED(SendInts, sendInts)
GENERATED(SendDoubles, sendDoubles)
GENERATED(SendStrings, sendStrings)
GENERATED(SendMios, sendMios)
GENERATED(SendEvents, sendEvents)
GENERATED(SendBase64, sendBase64)
GENERATED(SendEncodedStrings, sendEncodedStrings)
GENERATED(SendRepeatedStrings, sendRepeatedStrings)

// composites.inc has one line per composite type: its name, and each of its fields.
#define COMPOSITE(NAME, FIELDS)         \
    using NAME = struct ns__send##NAME; \
    GENERATED(NAME, send##NAME)
#include "composites.inc"
#undef COMPOSITE
#undef GENERATED

// Read-only messages.
template <> struct Generated<vim__FetchResponse> {
    static void vacate(soap *ctx, vim__FetchResponse *r) { r->soap_default(ctx); }
    static bool get(soap *ctx, vim__FetchResponse *r) { return r->soap_in(ctx, "vim:FetchResponse", nullptr) != nullptr; }
};

// The encoding of requests: literal, except for these. With an encoding gSOAP looks for strings
// with several references.
template <class Request> constexpr const char *ENCODING = nullptr;
template <> inline constexpr const char *ENCODING<SendEncodedStrings> = "http://schemas.xmlsoap.org/soap/encoding/";
template <> inline constexpr const char *ENCODING<SendRepeatedStrings> = ENCODING<SendEncodedStrings>;

// Repeated strings are shared before anything is timed: equal ones become one pointer, which is how
// gSOAP compares them. Except empty ones, which gSOAP does not find when it reads its own message.
template <class Request> void share(Request &) {}
inline void share(SendRepeatedStrings &request) {
    std::unordered_map<std::string_view, char *> known;
    for (int i = 0; i < request.item.__size; i++) {
        char *&text = request.item.__ptr[i];
        if (text && *text) text = known.emplace(text, text).first->second;
    }
}

// Doubles sent as base64 of their bits; this program and its hosts are little-endian, as are the
// bits on the wire.
struct SendDoubles64 {
    std::vector<double> item;
};

// The destination of a written message, a gSOAP buffer at a time.
class Output {
public:
    virtual ~Output() = default;
    // Returns false if it cannot be written.
    virtual bool write(const char *from, size_t n) = 0;
};

// Memory with a reused capacity.
class Text final : public Output {
public:
    bool write(const char *from, size_t n) override {
        text.append(from, n);
        return true;
    }
    std::string text;
};

// A soap context that lives as long as the process and is cleared between messages.
class Context {
public:
    Context() : ctx_(soap_new1(SOAP_C_UTFSTRING | SOAP_IO_BUFFER)) {
        if (!ctx_) throw std::bad_alloc();
        ctx_->user = this;
        ctx_->frecv = receive;
        ctx_->fsend = send;
        // The default of 100,000 elements is a limit against abuse, not part of the decoder's work.
        ctx_->maxoccurs = SIZE_MAX;
    }
    ~Context() {
        release();
        soap_free(ctx_);
    }
    Context(const Context &) = delete;
    Context &operator=(const Context &) = delete;

    // Frees everything that gSOAP allocated for the last message.
    void release() {
        soap_destroy(ctx_);
        soap_end(ctx_);
    }

    template <class Request> void decode(const std::string &message, Request &into) {
        rest_ = message.data();
        left_ = message.size();
        Generated<Request>::vacate(ctx_, &into);
        check(soap_begin_recv(ctx_) == SOAP_OK && soap_envelope_begin_in(ctx_) == SOAP_OK &&
              soap_recv_header(ctx_) == SOAP_OK && soap_body_begin_in(ctx_) == SOAP_OK &&
              Generated<Request>::get(ctx_, &into) && soap_body_end_in(ctx_) == SOAP_OK &&
              soap_envelope_end_in(ctx_) == SOAP_OK && soap_end_recv(ctx_) == SOAP_OK);
    }

    template <class Request> void encode(const Request &request, Output &output) {
        output_ = &output;
        ctx_->encodingStyle = ENCODING<Request>;
        soap_serializeheader(ctx_);
        Generated<Request>::serialize(ctx_, &request);
        check(soap_begin_send(ctx_) == SOAP_OK && soap_envelope_begin_out(ctx_) == SOAP_OK &&
              soap_putheader(ctx_) == SOAP_OK && soap_body_begin_out(ctx_) == SOAP_OK &&
              Generated<Request>::put(ctx_, &request) && soap_body_end_out(ctx_) == SOAP_OK &&
              soap_envelope_end_out(ctx_) == SOAP_OK && soap_end_send(ctx_) == SOAP_OK);
    }

    // gSOAP's own base64 into the context's memory, and a copy of that into doubles.
    void decode(const std::string &message, SendDoubles64 &into) {
        SendBase64 request;
        decode(message, request);
        size_t size = static_cast<size_t>(request.data.__size);
        if (size % sizeof(double)) throw std::runtime_error("no array of doubles");
        into.item.resize(size / sizeof(double));
        if (size) std::memcpy(into.item.data(), request.data.__ptr, size);
    }
    // The doubles are gSOAP's octets in memory: nothing is copied.
    void encode(const SendDoubles64 &request, Output &output) {
        SendBase64 octets;
        octets.data.__ptr = reinterpret_cast<unsigned char *>(const_cast<double *>(request.item.data()));
        octets.data.__size = static_cast<int>(request.item.size() * sizeof(double));
        encode(octets, output);
    }

private:
    static size_t receive(soap *ctx, char *to, size_t room) {
        auto *self = static_cast<Context *>(ctx->user);
        size_t n = std::min(room, self->left_);
        std::memcpy(to, self->rest_, n);
        self->rest_ += n;
        self->left_ -= n;
        return n;
    }
    static int send(soap *ctx, const char *from, size_t n) {
        return static_cast<Context *>(ctx->user)->output_->write(from, n) ? SOAP_OK : SOAP_EOF;
    }

    void check(bool ok) {
        if (ok) return;
        char text[1024] = "";
        soap_set_fault(ctx_);
        soap_sprint_fault(ctx_, text, sizeof text);
        release();
        ctx_->error = SOAP_OK;
        throw std::runtime_error(text);
    }

    soap *ctx_;
    const char *rest_ = nullptr;
    size_t left_ = 0;
    Output *output_ = nullptr;
};
