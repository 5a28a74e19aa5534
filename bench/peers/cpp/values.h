// The content of the messages, and its checksum, as ../PROTOCOL.md defines both.

#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

struct Mio {
    int32_t x = 0, y = 0;
    double v = 0;
};

struct Event {
    int32_t id = 0;
    double value = 0;
    std::string message;
};

// A recorded answer of vSphere: a tree of resource pools. Absent numbers are 0.
struct Allocation {
    int64_t reservation = 0;
    bool expandable = false;
    int64_t limit = 0;
    int32_t shares = 0;
    std::string level;
    int64_t overhead = 0;
};
struct Resource {
    std::string key;
    Allocation cpu, memory;
    std::vector<Resource> children;
};

using Ints = std::vector<int32_t>;
using Doubles = std::vector<double>;
using Strings = std::vector<std::string>;
using Mios = std::vector<Mio>;
using Events = std::vector<Event>;
struct Octets {
    std::string octets;
};
struct Doubles64 {
    Doubles doubles;
};

// The operation of each type: the element's local name.
template <class Values> constexpr const char *OPERATION = nullptr;
template <> inline constexpr const char *OPERATION<Ints> = "sendInts";
template <> inline constexpr const char *OPERATION<Doubles> = "sendDoubles";
template <> inline constexpr const char *OPERATION<Strings> = "sendStrings";
template <> inline constexpr const char *OPERATION<Mios> = "sendMios";
template <> inline constexpr const char *OPERATION<Events> = "sendEvents";
template <> inline constexpr const char *OPERATION<Octets> = "sendBase64";
template <> inline constexpr const char *OPERATION<Doubles64> = "sendBase64";
template <> inline constexpr const char *OPERATION<Resource> = "FetchResponse";

// 64-bit FNV-1a.
class Checksum {
public:
    void add(int32_t v) { integer(static_cast<uint32_t>(v), 4); }
    void add(double v) {
        uint64_t bits;
        std::memcpy(&bits, &v, sizeof bits);
        integer(bits, 8);
    }
    void add(const std::string &text) {
        integer(text.size(), 4);
        bytes(text);
    }
    void add(const Mio &mio) {
        add(mio.x);
        add(mio.y);
        add(mio.v);
    }
    void add(const Event &event) {
        add(event.id);
        add(event.value);
        add(event.message);
    }
    void add(const Allocation &allocation) {
        integer(static_cast<uint64_t>(allocation.reservation), 8);
        add(static_cast<int32_t>(allocation.expandable));
        integer(static_cast<uint64_t>(allocation.limit), 8);
        add(allocation.shares);
        add(allocation.level);
        integer(static_cast<uint64_t>(allocation.overhead), 8);
    }
    void add(const Resource &resource) {
        add(resource.key);
        add(resource.cpu);
        add(resource.memory);
        add(resource.children);
    }
    void add(const Octets &data) { bytes(data.octets); }
    void add(const Doubles64 &data) { add(data.doubles); }
    template <class Item> void add(const std::vector<Item> &items) {
        for (const Item &item : items) add(item);
    }

    std::string hex() const {
        char text[17];
        std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(state_));
        return text;
    }

private:
    void octet(unsigned char b) { state_ = (state_ ^ b) * 0x100000001b3ULL; }
    void bytes(const std::string &s) {
        for (char c : s) octet(static_cast<unsigned char>(c));
    }
    void integer(uint64_t v, int width) {
        for (int i = 0; i < width; i++) octet(static_cast<unsigned char>(v >> (8 * i)));
    }

    uint64_t state_ = 0xcbf29ce484222325ULL;
};
