// FNV-1a (64 bits) over decoded values, as PROTOCOL.md defines it.

#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "codec.h"

class Checksum {
public:
    void add(int32_t v) { integer(static_cast<uint32_t>(v), 4); }
    void add(double v) {
        uint64_t bits;
        std::memcpy(&bits, &v, sizeof bits);
        integer(bits, 8);
    }
    void add(const char *text) {
        size_t length = text ? std::strlen(text) : 0;
        integer(length, 4);
        bytes(text, length);
    }
    void add(const ns__Mio &mio) {
        add(static_cast<int32_t>(mio.x));
        add(static_cast<int32_t>(mio.y));
        add(mio.v);
    }
    void add(const ns__Event &event) {
        add(static_cast<int32_t>(event.id));
        add(event.value);
        add(event.message);
    }
    void add(const vim__ResourceAllocationInfo &allocation) {
        integer(static_cast<uint64_t>(allocation.reservation ? *allocation.reservation : 0), 8);
        add(static_cast<int32_t>(allocation.expandableReservation && *allocation.expandableReservation));
        integer(static_cast<uint64_t>(allocation.limit ? *allocation.limit : 0), 8);
        add(static_cast<int32_t>(allocation.shares ? allocation.shares->shares : 0));
        add(allocation.shares ? allocation.shares->level : nullptr);
        integer(static_cast<uint64_t>(allocation.overheadLimit ? *allocation.overheadLimit : 0), 8);
    }
    void add(const vim__HostSystemResourceInfo &resource) {
        add(resource.key);
        const vim__ResourceConfigSpec none{};
        const vim__ResourceConfigSpec &config = resource.config ? *resource.config : none;
        add(config.cpuAllocation);
        add(config.memoryAllocation);
        add(resource.child);
    }
    template <class Item> void add(const std::vector<Item> &items) {
        for (const Item &item : items) add(item);
    }
    void add(const ArrayOfString &items) {
        for (int i = 0; i < items.__size; i++) add(items.__ptr[i]);
    }
    void add(const xsd__base64Binary &data) {
        bytes(reinterpret_cast<const char *>(data.__ptr), static_cast<size_t>(data.__size));
    }

    std::string hex() const {
        char text[17];
        std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(state_));
        return text;
    }

private:
    void octet(unsigned char b) { state_ = (state_ ^ b) * 0x100000001b3ULL; }
    void bytes(const char *p, size_t n) {
        for (size_t i = 0; i < n; i++) octet(static_cast<unsigned char>(p[i]));
    }
    void integer(uint64_t v, int width) {
        for (int i = 0; i < width; i++) octet(static_cast<unsigned char>(v >> (8 * i)));
    }

    uint64_t state_ = 0xcbf29ce484222325ULL;
};

template <class Request> std::string checksum_of(const Request &request) {
    Checksum sum;
    sum.add(request.item);
    return sum.hex();
}
inline std::string checksum_of(const SendBase64 &request) {
    Checksum sum;
    sum.add(request.data);
    return sum.hex();
}

inline std::string checksum_of(const vim__FetchResponse &response) {
    Checksum sum;
    sum.add(response.returnval);
    return sum.hex();
}

#define FIELD(NAME) sum.add(request.NAME);
#define COMPOSITE(NAME, FIELDS)                            \
    inline std::string checksum_of(const NAME &request) { \
        Checksum sum;                                      \
        FIELDS                                             \
        return sum.hex();                                  \
    }
#include "composites.inc"
#undef COMPOSITE
#undef FIELD
