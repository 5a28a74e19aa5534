// HTTP/1.1 requests over a persistent connection, one chunk per gSOAP buffer. There are no answers.

#pragma once

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>

#include "codec.h"

class Connection final : public Output {
public:
    // `buffer`: limit of unacknowledged octets; 0 for the system's default.
    Connection(uint16_t port, int buffer) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        set(IPPROTO_TCP, TCP_NODELAY, 1);
        set(SOL_SOCKET, SO_KEEPALIVE, 1);
        if (buffer > 0) set(SOL_SOCKET, SO_SNDBUF, buffer);
        if (::connect(socket_, reinterpret_cast<sockaddr *>(&address), sizeof address) != 0) {
            std::string reason = std::strerror(errno);
            ::close(socket_);
            throw std::runtime_error("cannot connect: " + reason);
        }
    }
    ~Connection() override { ::close(socket_); }
    Connection(const Connection &) = delete;
    Connection &operator=(const Connection &) = delete;

    bool begin() { return send_all(HEAD, sizeof HEAD - 1, MSG_MORE); }
    bool end() { return send_all("0\r\n\r\n", 5, 0); }

    bool write(const char *from, size_t n) override {
        if (n == 0) return true;
        char size[24];
        int length = std::snprintf(size, sizeof size, "%zx\r\n", n);
        iovec parts[] = {{size, static_cast<size_t>(length)}, {const_cast<char *>(from), n}, {const_cast<char *>("\r\n"), 2}};
        return send_parts(parts, 3, MSG_MORE);
    }

private:
    static constexpr char HEAD[] =
        "POST /bench HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/xml; charset=utf-8\r\n"
        "SOAPAction: \"\"\r\nTransfer-Encoding: chunked\r\n\r\n";

    void set(int level, int option, int value) { ::setsockopt(socket_, level, option, &value, sizeof value); }

    bool send_all(const char *from, size_t n, int flags) {
        iovec part = {const_cast<char *>(from), n};
        return send_parts(&part, 1, flags);
    }

    // Sends all parts, however much the system takes at a time. With MSG_MORE the system waits for
    // more until a segment is full, so that a short message is one segment, as if its header were
    // in the buffer of its body.
    bool send_parts(iovec *parts, int count, int flags) {
        while (count > 0) {
            msghdr message{};
            message.msg_iov = parts;
            message.msg_iovlen = static_cast<size_t>(count);
            ssize_t sent = ::sendmsg(socket_, &message, flags);
            if (sent < 0 && errno == EINTR) continue;
            if (sent < 0) return false;
            for (; count > 0 && static_cast<size_t>(sent) >= parts->iov_len; parts++, count--)
                sent -= static_cast<ssize_t>(parts->iov_len);
            if (count > 0) {
                parts->iov_base = static_cast<char *>(parts->iov_base) + sent;
                parts->iov_len -= static_cast<size_t>(sent);
            }
        }
        return true;
    }

    int socket_;
};
