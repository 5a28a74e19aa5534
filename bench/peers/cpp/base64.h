// Base64 for libraries without it, with tables: four characters and three octets at a time.

#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "values.h"

namespace base64 {

inline constexpr char LETTERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

inline constexpr std::array<uint8_t, 256> digits() {
    std::array<uint8_t, 256> table{};
    for (auto &entry : table) entry = 0xff;
    for (uint8_t i = 0; i < 64; i++) table[static_cast<unsigned char>(LETTERS[i])] = i;
    return table;
}
inline constexpr auto DIGITS = digits();

// Without white space, padded.
inline void decode(std::string_view text, std::string &out) {
    if (text.size() % 4) throw std::runtime_error("no base64");
    size_t padding = text.size() && text[text.size() - 1] == '=' ? 1 + (text[text.size() - 2] == '=') : 0;
    size_t whole = text.size() / 4;
    out.resize(whole * 3);
    auto *from = reinterpret_cast<const unsigned char *>(text.data());
    auto *to = reinterpret_cast<unsigned char *>(&out[0]);
    for (size_t i = 0; i < whole; i++, from += 4, to += 3) {
        bool last = i + 1 == whole;
        uint32_t d[4];
        for (size_t k = 0; k < 4; k++) {
            d[k] = last && k >= 4 - padding ? 0 : DIGITS[from[k]];
            if (d[k] == 0xff) throw std::runtime_error("no base64");
        }
        uint32_t bits = d[0] << 18 | d[1] << 12 | d[2] << 6 | d[3];
        to[0] = static_cast<unsigned char>(bits >> 16);
        to[1] = static_cast<unsigned char>(bits >> 8);
        to[2] = static_cast<unsigned char>(bits);
    }
    out.resize(whole * 3 - padding);
}

inline void encode(std::string_view octets, std::string &out) {
    out.resize((octets.size() + 2) / 3 * 4);
    auto *from = reinterpret_cast<const unsigned char *>(octets.data());
    char *to = &out[0];
    size_t left = octets.size();
    for (; left >= 3; left -= 3, from += 3, to += 4) {
        uint32_t bits = uint32_t{from[0]} << 16 | uint32_t{from[1]} << 8 | from[2];
        for (int k = 0; k < 4; k++) to[k] = LETTERS[bits >> (18 - 6 * k) & 63];
    }
    if (left == 0) return;
    uint32_t bits = uint32_t{from[0]} << 16 | (left == 2 ? uint32_t{from[1]} << 8 : 0);
    for (int k = 0; k < 4; k++) to[k] = LETTERS[bits >> (18 - 6 * k) & 63];
    to[3] = '=';
    if (left == 1) to[2] = '=';
}

// Doubles are stored as their octets in memory: this program runs on little-endian machines.
inline void decode(std::string_view text, Octets &into) { decode(text, into.octets); }
inline void decode(std::string_view text, Doubles64 &into) {
    std::string octets;
    decode(text, octets);
    if (octets.size() % sizeof(double)) throw std::runtime_error("no doubles");
    into.doubles.resize(octets.size() / sizeof(double));
    if (!octets.empty()) std::memcpy(into.doubles.data(), octets.data(), octets.size());
}
inline void encode(const Octets &from, std::string &out) { encode(from.octets, out); }
inline void encode(const Doubles64 &from, std::string &out) {
    encode({reinterpret_cast<const char *>(from.doubles.data()), from.doubles.size() * sizeof(double)}, out);
}

}  // namespace base64
