// The line protocol of ../PROTOCOL.md over stdin and stdout, for libraries that decode and encode.
//
// A library is a class `Toolkit` with
//     template <class Values> void decode(const std::string &message, Values &into);
//     template <class Values> void encode(const Values &values, std::string &out); // `out` is
//     empty and keeps its capacity
// for the types of values.h, both throwing std::exception.

#pragma once

#include <malloc.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "../gsoap/memory.h"
#include "values.h"

namespace protocol {

constexpr size_t COPIES = 16;

// One prepared workload.
class Workload {
public:
    virtual ~Workload() = default;
    virtual void run_once() = 0;
    virtual std::string checksum() = 0;
    virtual size_t bytes() const = 0;
    virtual const std::string &output() const = 0;

    // Called once when everything except the timed work has been allocated.
    void mark_baseline() {
        malloc_trim(0);
        baseline_ = memory::resident();
    }
    long peak_growth() const { return std::max(0L, memory::peak() - baseline_); }

private:
    long baseline_ = 0;
};

template <class Values> std::string checksum_of(const Values &values) {
    Checksum sum;
    sum.add(values);
    return sum.hex();
}

template <class Toolkit, class Values> class Decode final : public Workload {
public:
    explicit Decode(std::string message) : copies_(COPIES, message) {
        std::string().swap(message);
        mark_baseline();
        run_once();
    }
    // Releases the values of the previous run, but keeps the capacity of their vector.
    void run_once() override {
        clear(values_);
        toolkit_.decode(copies_[next_++ % COPIES], values_);
    }
    std::string checksum() override { return checksum_of(values_); }
    size_t bytes() const override { return copies_[0].size(); }
    const std::string &output() const override { throw std::runtime_error("a decode has no output"); }

private:
    template <class Item> static void clear(std::vector<Item> &items) { items.clear(); }
    static void clear(Octets &data) { data.octets.clear(); }
    static void clear(Doubles64 &data) { data.doubles.clear(); }
    static void clear(Resource &resource) { resource = Resource(); }

    std::vector<std::string> copies_;
    size_t next_ = 0;
    Toolkit toolkit_;
    Values values_;
};

template <class Toolkit, class Values> class Encode final : public Workload {
public:
    explicit Encode(std::string message) {
        Toolkit().decode(message, values_);
        std::string().swap(message);
        mark_baseline();
        run_once();
    }
    void run_once() override {
        output_.clear();
        toolkit_.encode(values_, output_);
    }
    std::string checksum() override {
        std::string sum;
        {
            Values again;
            Toolkit().decode(output_, again);
            sum = checksum_of(again);
        }
        malloc_trim(0);
        return sum;
    }
    size_t bytes() const override { return output_.size(); }
    const std::string &output() const override { return output_; }

private:
    Values values_;
    Toolkit toolkit_;
    std::string output_;
};

struct Kind {
    const char *name;
    std::function<std::unique_ptr<Workload>(std::string)> decode, encode;
};

template <class Toolkit, class Values> Kind kind(const char *name) {
    return {name, [](std::string m) { return std::make_unique<Decode<Toolkit, Values>>(std::move(m)); },
            [](std::string m) { return std::make_unique<Encode<Toolkit, Values>>(std::move(m)); }};
}

// A message that is only read.
template <class Toolkit, class Values> Kind read_kind(const char *name) {
    return {name, [](std::string m) { return std::make_unique<Decode<Toolkit, Values>>(std::move(m)); }, nullptr};
}

template <class Toolkit> class Peer {
public:
    // `more` are kinds that not all libraries support.
    Peer(std::string name, std::string version, std::vector<Kind> more = {}) : name_(std::move(name)), version_(std::move(version)) {
        for (Kind &kind : more) KINDS.push_back(std::move(kind));
    }

    // Answers requests until the input ends.
    void serve() {
        for (std::string line; read_line(line) && line != "quit";) {
            try {
                answer(line);
            } catch (const std::exception &e) {
                report(e.what());
            }
            std::fflush(stdout);
        }
    }

private:
    void answer(const std::string &line) {
        std::istringstream words(line);
        std::string command;
        words >> command;
        if (command == "hello") hello();
        else if (command == "prepare") prepare(words);
        else if (command == "run") run(words);
        else if (command == "output") output();
        else throw std::runtime_error("this peer does not know " + command);
    }

    void hello() {
        std::string names;
        for (const char *direction : {"decode-", "encode-"})
            for (const Kind &kind : KINDS)
                if (kind.encode || *direction == 'd') names += (names.empty() ? "\"" : ",\"") + std::string(direction) + kind.name + '"';
        std::printf("{\"peer\":\"%s\",\"version\":\"%s\",\"workloads\":[%s]}\n", name_.c_str(), version_.c_str(), names.c_str());
    }

    // The message always follows the line, so it is read before anything can fail.
    void prepare(std::istringstream &arguments) {
        std::string workload;
        size_t items = 0, length = 0;
        if (!(arguments >> workload >> items >> length)) throw std::runtime_error("usage: prepare WORKLOAD N LEN");
        std::string message(length, '\0');
        if (std::fread(&message[0], 1, length, stdin) != length) std::exit(1);
        prepared_.reset();
        prepared_ = make(workload, std::move(message));
        std::printf("{\"ok\":true,\"checksum\":\"%s\",\"bytes\":%zu}\n", current().checksum().c_str(), current().bytes());
    }

    std::unique_ptr<Workload> make(const std::string &workload, std::string message) {
        for (const Kind &kind : KINDS) {
            if (workload == std::string("decode-") + kind.name) return kind.decode(std::move(message));
            if (kind.encode && workload == std::string("encode-") + kind.name) return kind.encode(std::move(message));
        }
        throw std::runtime_error("unknown workload " + workload);
    }

    void run(std::istringstream &arguments) {
        size_t count = 0;
        if (!(arguments >> count) || count == 0) throw std::runtime_error("usage: run COUNT");
        Workload &workload = current();
        std::string times;
        times.reserve(std::min<size_t>(count, 100000) * 12);
        memory::reset_peak();
        for (size_t i = 0; i < count; i++) times += (i ? "," : "") + std::to_string(timed(workload));
        long peak = workload.peak_growth();
        std::printf("{\"ns\":[%s],\"checksum\":\"%s\",\"peak_bytes\":%ld}\n", times.c_str(), workload.checksum().c_str(), peak);
    }

    static uint64_t timed(Workload &workload) {
        auto start = std::chrono::steady_clock::now();
        workload.run_once();
        auto spent = std::chrono::steady_clock::now() - start;
        return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(spent).count());
    }

    void output() {
        const std::string &message = current().output();
        std::printf("%zu\n", message.size());
        std::fwrite(message.data(), 1, message.size(), stdout);
    }

    static void report(const char *error) {
        std::string text;
        for (const char *p = error; *p; p++) text += static_cast<unsigned char>(*p) < 0x20 || *p == '"' || *p == '\\' ? ' ' : *p;
        std::printf("{\"ok\":false,\"error\":\"%s\"}\n", text.c_str());
    }

    static bool read_line(std::string &line) {
        line.clear();
        for (int c; (c = std::getchar()) != EOF; line += static_cast<char>(c))
            if (c == '\n') return true;
        return false;
    }

    Workload &current() {
        if (!prepared_) throw std::runtime_error("no workload is prepared");
        return *prepared_;
    }

    std::vector<Kind> KINDS = {
        kind<Toolkit, Ints>("ints"),       kind<Toolkit, Doubles>("easy"), kind<Toolkit, Doubles>("hard"),
        kind<Toolkit, Strings>("strings"), kind<Toolkit, Mios>("structs"), kind<Toolkit, Events>("events"),
        kind<Toolkit, Octets>("base64"),   kind<Toolkit, Doubles64>("doubles64"),
    };
    std::string name_, version_;
    std::unique_ptr<Workload> prepared_;
};

}  // namespace protocol
