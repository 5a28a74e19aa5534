// gSOAP's own client: the stubs that soapcpp2 generates, over a persistent connection.

#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "checksum.h"
#include "codec.h"
#include "transport.h"

// The server's address.
struct End {
    Transport transport;
    uint16_t port;
};

// A client's context. It keeps its connection as long as it calls the same server.
class Client {
public:
    Client(const Transport &transport, uint16_t port)
        : ctx_(soap_new1(SOAP_C_UTFSTRING | SOAP_IO_KEEPALIVE | SOAP_IO_STORE)),
          url_(std::string(transport.scheme()) + "://127.0.0.1:" + std::to_string(port) + "/bench") {
        if (!ctx_) throw std::bad_alloc();
        // As in codec.h; and a connection may serve any number of calls.
        ctx_->maxoccurs = SIZE_MAX;
        ctx_->max_keep_alive = 0;
        transport.set_up_client(ctx_);
    }
    ~Client() {
        release();
        soap_free(ctx_);
    }
    Client(const Client &) = delete;
    Client &operator=(const Client &) = delete;

    // Frees everything that gSOAP allocated for the last response.
    void release() {
        soap_destroy(ctx_);
        soap_end(ctx_);
    }

    soap *context() { return ctx_; }
    const char *url() const { return url_.c_str(); }

    void check(int status) {
        if (status == SOAP_OK) return;
        char text[1024] = "";
        soap_set_fault(ctx_);
        soap_sprint_fault(ctx_, text, sizeof text);
        release();
        soap_force_closesock(ctx_);
        throw std::runtime_error(text);
    }

private:
    soap *ctx_;
    std::string url_;
};

// The relevant content of a response.
template <class Item> void add(Checksum &sum, const std::vector<Item> &items) { sum.add(items); }
inline void add(Checksum &sum, const xsd__base64Binary &data) { sum.add(data); }
inline void add(Checksum &sum, const ArrayOfString &items) { sum.add(items); }
inline void add(Checksum &sum, int count) { sum.add(static_cast<int32_t>(count)); }

// An operation: the stub that calls it, and the checked part of its response.
template <class Response> using Digest = void (*)(Checksum &, const Response &);

// Calls of an operation with the values of a message, or with a number.
class Calls {
public:
    virtual ~Calls() = default;
    virtual void call_once() = 0;
    virtual std::string checksum() = 0;
    virtual size_t bytes() const = 0;
};

// `Stub` is called with a context, an address, and a response; it holds the values.
template <class Response, class Stub> class CallsOf final : public Calls {
public:
    CallsOf(const End &end, size_t bytes, Stub stub, Digest<Response> digest)
        : client_(end.transport, end.port), bytes_(bytes), stub_(std::move(stub)), digest_(digest) {}
    // Releases the values of the previous call. The response struct stays, with the capacity of its
    // vectors.
    void call_once() override {
        client_.release();
        client_.check(stub_(client_.context(), client_.url(), response_));
    }
    std::string checksum() override {
        Checksum sum;
        digest_(sum, response_);
        return sum.hex();
    }
    size_t bytes() const override { return bytes_; }

private:
    Client client_;
    size_t bytes_;
    Stub stub_;
    Digest<Response> digest_;
    Response response_;
};

template <class Response, class Stub>
std::unique_ptr<Calls> calls_of(const End &end, size_t bytes, Stub stub, Digest<Response> digest) {
    return std::unique_ptr<Calls>(new CallsOf<Response, Stub>(end, bytes, std::move(stub), digest));
}

// The values of a message that sends them; the context owns their memory.
template <class Request> struct Values {
    explicit Values(const std::string &message) {
        context.decode(message, request);
        share(request);
    }
    Context context;
    Request request{};
};

inline std::unique_ptr<Calls> void_calls(const End &end) {
    using Response = struct ns__echoVoidResponse;
    auto stub = [](soap *ctx, const char *url, Response &response) {
        return soap_call_ns__echoVoid(ctx, url, "urn:bench#echoVoid", response);
    };
    return calls_of<Response>(end, 0, stub, [](Checksum &, const Response &) {});
}

// The calls of a type of items: `FIELD` contains them in requests and responses.
#define ECHOES(NAME, FIELD)                                                                                            \
    inline std::unique_ptr<Calls> echo##NAME(const End &end, const std::string &message) {                             \
        using Response = struct ns__echo##NAME##Response;                                                              \
        auto values = std::make_shared<Values<Send##NAME>>(message);                                                   \
        auto stub = [values](soap *ctx, const char *url, Response &response) {                                         \
            return soap_call_ns__echo##NAME(ctx, url, "urn:bench#echo" #NAME, values->request.FIELD, response);        \
        };                                                                                                             \
        auto digest = [](Checksum &sum, const Response &response) { add(sum, response.FIELD); };                       \
        return calls_of<Response>(end, message.size(), stub, digest);                                                  \
    }
#define CALLS(NAME, FIELD)                                                                                             \
    inline std::unique_ptr<Calls> send##NAME(const End &end, const std::string &message) {                             \
        using Response = struct ns__send##NAME##Response;                                                              \
        auto values = std::make_shared<Values<Send##NAME>>(message);                                                   \
        auto stub = [values](soap *ctx, const char *url, Response &response) {                                         \
            return soap_call_ns__send##NAME(ctx, url, "urn:bench#send" #NAME, values->request.FIELD, response);        \
        };                                                                                                             \
        auto digest = [](Checksum &sum, const Response &response) { add(sum, response.count); };                       \
        return calls_of<Response>(end, message.size(), stub, digest);                                                  \
    }                                                                                                                  \
    inline std::unique_ptr<Calls> receive##NAME(const End &end, int n) {                                               \
        using Response = struct ns__receive##NAME##Response;                                                           \
        auto stub = [n](soap *ctx, const char *url, Response &response) {                                              \
            return soap_call_ns__receive##NAME(ctx, url, "urn:bench#receive" #NAME, n, response);                      \
        };                                                                                                             \
        auto digest = [](Checksum &sum, const Response &response) { add(sum, response.FIELD); };                       \
        return calls_of<Response>(end, 0, stub, digest);                                                               \
    }

ECHOES(Ints, item)
CALLS(Ints, item)
ECHOES(Doubles, item)
CALLS(Doubles, item)
ECHOES(Strings, item)
CALLS(Strings, item)
ECHOES(Mios, item)
CALLS(Mios, item)
ECHOES(Events, item)
CALLS(Events, item)
ECHOES(Base64, data)
CALLS(Base64, data)
CALLS(EncodedStrings, item)
CALLS(RepeatedStrings, item)
#undef ECHOES
#undef CALLS

// The calls of an operation by its name.
inline std::unique_ptr<Calls> calls_named(const std::string &name, const End &end, size_t n, const std::string &message) {
    if (name == "echoVoid") return void_calls(end);
#define NAMED(NAME)                                                                                                    \
    if (name == "send" #NAME) return send##NAME(end, message);                                                         \
    if (name == "receive" #NAME) return receive##NAME(end, static_cast<int>(n));
#define ECHOED(NAME)                                           \
    if (name == "echo" #NAME) return echo##NAME(end, message); \
    NAMED(NAME)
    ECHOED(Ints)
    ECHOED(Doubles)
    ECHOED(Strings)
    ECHOED(Mios)
    ECHOED(Events)
    ECHOED(Base64)
    NAMED(EncodedStrings)
    NAMED(RepeatedStrings)
#undef ECHOED
#undef NAMED
    throw std::runtime_error("unknown operation " + name);
}
