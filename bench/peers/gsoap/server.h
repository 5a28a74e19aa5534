// gSOAP's stand-alone server: a thread accepts connections, and a pool of threads serves them, one
// connection per thread.
//
// This is the user guide's "multi-threaded stand-alone service" with a queue. A connection occupies
// its thread until it is closed, so the pool needs as many threads as there are connections.

#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cmath>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include "soapH.h"
#include "transport.h"

class Server {
public:
    Server(const Transport &transport, size_t threads) : master_(soap_new1(FLAGS)), transport_(transport) {
        if (!master_) throw std::bad_alloc();
        master_->bind_flags = SO_REUSEADDR;
        // As in codec.h; and connections are kept until the client closes them, not for 100
        // requests.
        master_->maxoccurs = SIZE_MAX;
        master_->max_keep_alive = 0;
        master_->fserveloop = release;
        transport_.set_up_server(master_);
        if (!soap_valid_socket(soap_bind(master_, "127.0.0.1", 0, BACKLOG))) throw std::runtime_error("cannot listen");
        for (size_t i = 0; i < threads; i++) std::thread(&Server::serve, this, soap_copy(master_)).detach();
        std::thread(&Server::accept, this).detach();
    }
    // Lives as long as the process, since its threads do.
    ~Server() = delete;

    uint16_t port() const {
        sockaddr_in address{};
        socklen_t length = sizeof address;
        ::getsockname(master_->master, reinterpret_cast<sockaddr *>(&address), &length);
        return ntohs(address.sin_port);
    }

private:
    static constexpr soap_mode FLAGS = SOAP_C_UTFSTRING | SOAP_IO_KEEPALIVE | SOAP_IO_STORE;
    static constexpr int BACKLOG = 1024;

    // Called between two requests of a connection.
    static int release(soap *ctx) {
        soap_destroy(ctx);
        soap_end(ctx);
        return SOAP_OK;
    }

    void accept() {
        for (;;) {
            SOAP_SOCKET socket = soap_accept(master_);
            if (!soap_valid_socket(socket)) continue;
            std::lock_guard<std::mutex> lock(mutex_);
            waiting_.push_back(socket);
            arrived_.notify_one();
        }
    }

    void serve(soap *ctx) {
        for (;;) {
            ctx->socket = next();
            if (transport_.begin(ctx)) soap_serve(ctx);
            release(ctx);
            soap_force_closesock(ctx);
        }
    }

    SOAP_SOCKET next() {
        std::unique_lock<std::mutex> lock(mutex_);
        arrived_.wait(lock, [this] { return !waiting_.empty(); });
        SOAP_SOCKET socket = waiting_.front();
        waiting_.pop_front();
        return socket;
    }

    soap *master_;
    const Transport transport_;
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::deque<SOAP_SOCKET> waiting_;
};

// The operations. gSOAP passes vectors by value. Each sets how its response is sent, since a
// context keeps its settings; the reasons are in README.md.

int ns__echoVoid(soap *ctx, ns__echoVoidResponse &) {
    soap_set_omode(ctx, SOAP_IO_CHUNK);
    return SOAP_OK;
}

#define ECHO(NAME, ITEM)                                                                         \
    int ns__echo##NAME(soap *ctx, std::vector<ITEM> item, ns__echo##NAME##Response &response) {  \
        soap_set_omode(ctx, SOAP_IO_STORE);                                                      \
        response.item.swap(item);                                                                \
        return SOAP_OK;                                                                          \
    }                                                                                            \
    int ns__send##NAME(soap *ctx, std::vector<ITEM> item, ns__send##NAME##Response &response) {  \
        soap_set_omode(ctx, SOAP_IO_STORE);                                                      \
        response.count = static_cast<int>(item.size());                                          \
        return SOAP_OK;                                                                          \
    }

ECHO(Ints, int)
ECHO(Doubles, double)
ECHO(Strings, char *)
ECHO(Mios, ns__Mio)
ECHO(Events, ns__Event)
#undef ECHO

int ns__echoBase64(soap *ctx, xsd__base64Binary data, ns__echoBase64Response &response) {
    soap_set_omode(ctx, SOAP_IO_STORE);
    response.data = data;
    return SOAP_OK;
}

int ns__sendBase64(soap *ctx, xsd__base64Binary data, ns__sendBase64Response &response) {
    soap_set_omode(ctx, SOAP_IO_STORE);
    response.count = data.__size;
    return SOAP_OK;
}

// Returns items for a number, as suite.wsdl requires; `i` counts from 1. Strings live as long as
// the context's other values.

inline char *text_of(soap *ctx, int i, size_t width) {
    std::string text = "Message #" + std::to_string(i);
    if (text.size() < width) text.resize(width, '.');
    return soap_strdup(ctx, text.c_str());
}

inline void made(soap *, int i, int &item) { item = i; }
inline void made(soap *, int i, double &item) { item = std::sqrt(static_cast<double>(i)); }
inline void made(soap *ctx, int i, char *&item) { item = text_of(ctx, i, 100); }
inline void made(soap *, int i, ns__Mio &item) {
    item.x = item.y = i;
    item.v = std::sqrt(static_cast<double>(i));
}
inline void made(soap *ctx, int i, ns__Event &item) {
    item.id = i;
    item.value = std::sqrt(static_cast<double>(i));
    item.message = text_of(ctx, i, 0);
}

// Arrays of SOAP encoding. Repeated strings cycle through distinct ones, each of them stored once.
#define ENCODED(NAME, DIFFERENT)                                                                   \
    int ns__send##NAME(soap *ctx, ArrayOfString item, ns__send##NAME##Response &response) {        \
        soap_set_omode(ctx, SOAP_IO_STORE);                                                        \
        response.count = item.__size;                                                              \
        return SOAP_OK;                                                                            \
    }                                                                                              \
    int ns__receive##NAME(soap *ctx, int count, ns__receive##NAME##Response &response) {           \
        soap_set_omode(ctx, SOAP_IO_STORE);                                                        \
        if (count < 0) return soap_sender_fault(ctx, "the count is negative", nullptr);            \
        size_t size = static_cast<size_t>(count) * sizeof(char *);                                 \
        char **items = static_cast<char **>(soap_malloc(ctx, size + 1));                           \
        for (int i = 0; i < count; i++)                                                            \
            items[i] = i < (DIFFERENT) ? text_of(ctx, i + 1, 100) : items[i - (DIFFERENT)];        \
        response.item.__ptr = items;                                                               \
        response.item.__size = count;                                                              \
        return SOAP_OK;                                                                            \
    }

ENCODED(EncodedStrings, count)
ENCODED(RepeatedStrings, 1000)
#undef ENCODED

#define RECEIVE(NAME, ITEM)                                                                      \
    int ns__receive##NAME(soap *ctx, int count, ns__receive##NAME##Response &response) {         \
        soap_set_omode(ctx, SOAP_IO_STORE);                                                      \
        if (count < 0) return soap_sender_fault(ctx, "the count is negative", nullptr);          \
        response.item.resize(static_cast<size_t>(count));                                        \
        for (int i = 0; i < count; i++) made(ctx, i + 1, response.item[static_cast<size_t>(i)]); \
        return SOAP_OK;                                                                          \
    }

RECEIVE(Ints, int)
RECEIVE(Doubles, double)
RECEIVE(Strings, char *)
RECEIVE(Mios, ns__Mio)
RECEIVE(Events, ns__Event)
#undef RECEIVE

int ns__receiveBase64(soap *ctx, int count, ns__receiveBase64Response &response) {
    soap_set_omode(ctx, SOAP_IO_STORE);
    if (count < 0) return soap_sender_fault(ctx, "the count is negative", nullptr);
    response.data.__size = count;
    response.data.__ptr = static_cast<unsigned char *>(soap_malloc(ctx, static_cast<size_t>(count) + 1));
    for (int i = 0; i < count; i++) response.data.__ptr[i] = static_cast<unsigned char>(i);
    return SOAP_OK;
}
