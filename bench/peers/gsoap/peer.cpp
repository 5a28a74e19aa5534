// gSOAP as a peer of the benchmark: the line protocol of ../PROTOCOL.md over stdin and stdout.

#include <malloc.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "bench.nsmap"
#include "checksum.h"
#include "client.h"
#include "codec.h"
#include "connection.h"
#include "memory.h"
#include "server.h"

namespace {

constexpr size_t COPIES = 16;

// One prepared workload, for `prepare`, `run` and `output`.
class Workload {
public:
    virtual ~Workload() = default;
    virtual void run_once() = 0;
    // Called outside the measured time, after the runs.
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

template <class Request> class Decode final : public Workload {
public:
    explicit Decode(std::string message) : copies_(COPIES - 1, message) {
        copies_.push_back(std::move(message));
        mark_baseline();
        run_once();
    }
    // Releases the values of the run before, as a server does between two messages. The request
    // itself stays, so that its vector keeps its capacity.
    void run_once() override {
        context_.release();
        context_.decode(copies_[next_++ % COPIES], request_);
    }
    std::string checksum() override { return checksum_of(request_); }
    size_t bytes() const override { return copies_[0].size(); }
    const std::string &output() const override { throw std::runtime_error("a decode workload has no output"); }

private:
    std::vector<std::string> copies_;
    size_t next_ = 0;
    Context context_;
    Request request_;
};

// Values that are written repeatedly.
template <class Request> class Write : public Workload {
public:
    explicit Write(std::string message) {
        values_.decode(message, request_);
        share(request_);
        std::string().swap(message);
        mark_baseline();
        encode();
    }
    // Decodes the output and releases the memory, so that it does not count as encoding.
    std::string checksum() override {
        std::string sum;
        {
            Context context;
            Request request;
            context.decode(memory_.text, request);
            sum = checksum_of(request);
        }
        malloc_trim(0);
        return sum;
    }
    size_t bytes() const override { return memory_.text.size(); }
    const std::string &output() const override { return memory_.text; }

protected:
    void encode() {
        context_.release();
        memory_.text.clear();
        context_.encode(request_, memory_);
    }

    Context values_;  // owns what `request_` points to
    Request request_;
    Context context_;
    Text memory_;
};

template <class Request> class Encode final : public Write<Request> {
public:
    using Write<Request>::Write;
    void run_once() override { this->encode(); }
};

// The connection for sending messages, if there is one.
std::unique_ptr<Connection> connection;

template <class Request> class Send final : public Write<Request> {
public:
    using Write<Request>::Write;
    void run_once() override {
        if (!connection) throw std::runtime_error("not connected");
        this->context_.release();
        bool ok = connection->begin();
        this->context_.encode(this->request_, *connection);
        if (!ok || !connection->end()) throw std::runtime_error("the connection is closed");
    }
};

// Calls of an operation by gSOAP's own client.
class Call final : public Workload {
public:
    explicit Call(std::unique_ptr<Calls> calls) : calls_(std::move(calls)) {
        mark_baseline();
        run_once();
    }
    void run_once() override { calls_->call_once(); }
    std::string checksum() override { return calls_->checksum(); }
    size_t bytes() const override { return calls_->bytes(); }
    const std::string &output() const override { throw std::runtime_error("a call has no output"); }

private:
    std::unique_ptr<Calls> calls_;
};

struct Kind {
    const char *name;
    std::function<std::unique_ptr<Workload>(std::string)> decode, encode, send;
};

template <class Request> Kind kind(const char *name) {
    return {name,
            [](std::string m) { return std::unique_ptr<Workload>(new Decode<Request>(std::move(m))); },
            [](std::string m) { return std::unique_ptr<Workload>(new Encode<Request>(std::move(m))); },
            [](std::string m) { return std::unique_ptr<Workload>(new Send<Request>(std::move(m))); }};
}

const std::vector<Kind> KINDS = {
    kind<SendInts>("ints"),       kind<SendDoubles>("easy"), kind<SendDoubles>("hard"),
    kind<SendStrings>("strings"), kind<SendMios>("structs"), kind<SendEvents>("events"),
    kind<SendBase64>("base64"),   kind<SendDoubles64>("doubles64"),
    kind<SendEncodedStrings>("encoded"), kind<SendRepeatedStrings>("repeated"),
};

// Selects by the type's name.
const std::vector<Kind> COMPOSITES = {
#define COMPOSITE(NAME, FIELDS) kind<NAME>(#NAME),
#include "composites.inc"
#undef COMPOSITE
};

std::unique_ptr<Workload> prepared;
Transport transport;

Workload &current() {
    if (!prepared) throw std::runtime_error("no workload is prepared");
    return *prepared;
}

// The workloads of this program. Built with references, it only has those in which they matter.
#ifdef ENCODED_ALONE
constexpr const char *NAME = "gsoap-multiref";
const std::vector<std::string> LITERAL_KINDS, LITERAL_OPERATIONS;
const std::vector<std::string> READ_ALONE;
#else
constexpr const char *NAME = "gsoap";
const std::vector<std::string> LITERAL_KINDS = {"ints",   "easy",   "hard",      "strings",   "structs",
                                                "events", "base64", "doubles64", "composites"};
const std::vector<std::string> LITERAL_OPERATIONS = {"Ints", "Doubles", "Strings", "Mios", "Events", "Base64"};
const std::vector<std::string> READ_ALONE = {"decode-resource"};
#endif
const std::vector<std::string> ENCODED_KINDS = {"encoded", "repeated"};
const std::vector<std::string> ENCODED_OPERATIONS = {"EncodedStrings", "RepeatedStrings"};

// Each direction of each name.
void add(std::vector<std::string> &to, const std::vector<std::string> &directions, const std::vector<std::string> &names) {
    for (const std::string &direction : directions)
        for (const std::string &name : names) to.push_back(direction + name);
}

// As JSON, without the brackets.
std::string listed(const std::vector<std::string> &all) {
    std::string text;
    for (const std::string &one : all) text += (text.empty() ? "\"" : ",\"") + one + '"';
    return text;
}

void hello() {
    std::vector<std::string> workloads;
    add(workloads, {"decode-", "encode-", "send-"}, LITERAL_KINDS);
    add(workloads, {"decode-", "encode-", "send-"}, ENCODED_KINDS);
    add(workloads, {""}, READ_ALONE);
    std::vector<std::string> all;
    if (!LITERAL_OPERATIONS.empty()) all.push_back("echoVoid");
    add(all, {"echo", "send", "receive"}, LITERAL_OPERATIONS);
    add(all, {"send", "receive"}, ENCODED_OPERATIONS);
    const std::string names = listed(workloads), operations = listed(all);
    std::printf("{\"peer\":\"%s\",\"version\":\"%d.%d.%d\",\"workloads\":[%s],\"operations\":[%s],\"calls\":[%s],\"transports\":%s}\n",
                NAME, GSOAP_VERSION / 100000, GSOAP_VERSION / 1000 % 100, GSOAP_VERSION % 1000, names.c_str(), operations.c_str(),
                operations.c_str(), Transport::names());
}

// The message always follows the line, so it is read before anything can fail.
std::string read_message(size_t length) {
    std::string message(length, '\0');
    if (std::fread(&message[0], 1, length, stdin) != length) std::exit(1);
    return message;
}

// Returns the composite type of a message: what follows `:send` in the name of its element.
std::string composite_in(const std::string &message) {
    size_t start = message.find(":sendI");
    if (start == std::string::npos) throw std::runtime_error("no composite type");
    start += std::strlen(":send");
    return message.substr(start, message.find_first_of(" />", start) - start);
}

const Kind &kind_of(const std::string &name, const std::string &message) {
    bool is_composite = name == "composites";
    std::string wanted = is_composite ? composite_in(message) : name;
    for (const Kind &kind : is_composite ? COMPOSITES : KINDS)
        if (wanted == kind.name) return kind;
    throw std::runtime_error("unknown values " + wanted);
}

std::unique_ptr<Workload> make(const std::string &workload, std::string message) {
    size_t dash = workload.find('-');
    std::string direction = workload.substr(0, dash);
    if (workload == "decode-resource") return std::unique_ptr<Workload>(new Decode<vim__FetchResponse>(std::move(message)));
    const Kind &kind = kind_of(dash == std::string::npos ? "" : workload.substr(dash + 1), message);
    if (direction == "decode") return kind.decode(std::move(message));
    if (direction == "encode") return kind.encode(std::move(message));
    if (direction == "send") return kind.send(std::move(message));
    throw std::runtime_error("unknown workload " + workload);
}

void prepare(std::istringstream &arguments) {
    std::string workload;
    size_t items = 0, length = 0;
    if (!(arguments >> workload >> items >> length)) throw std::runtime_error("usage: prepare WORKLOAD N LEN");
    std::string message = read_message(length);
    prepared.reset();
    prepared = make(workload, std::move(message));
    std::printf("{\"ok\":true,\"checksum\":\"%s\",\"bytes\":%zu}\n", current().checksum().c_str(), current().bytes());
}

void call(std::istringstream &arguments) {
    uint16_t port = 0;
    std::string operation;
    size_t items = 0, length = 0;
    if (!(arguments >> port >> operation >> items >> length)) throw std::runtime_error("usage: call PORT OPERATION N LEN");
    std::string message = read_message(length);
    prepared.reset();
    prepared.reset(new Call(calls_named(operation, {transport, port}, items, message)));
    std::printf("{\"ok\":true,\"checksum\":\"%s\",\"bytes\":%zu}\n", current().checksum().c_str(), current().bytes());
}

void set_transport(std::istringstream &arguments) {
    std::string name, folder;
    if (!(arguments >> name >> folder)) throw std::runtime_error("usage: transport NAME FOLDER");
    transport = Transport::named(name, folder);
    std::printf("{\"ok\":true}\n");
}

// Maximum number of sent octets that are not acknowledged yet.
constexpr int BUFFER = 32768;

void connect(std::istringstream &arguments) {
    uint16_t port = 0;
    if (!(arguments >> port)) throw std::runtime_error("usage: connect PORT [BUFFER]");
    int buffer = 0;
    if (!(arguments >> buffer)) buffer = BUFFER;
    connection.reset();
    connection.reset(new Connection(port, buffer));
    std::printf("{\"ok\":true}\n");
}

// The server, after it was started.
Server *server = nullptr;

void serve(std::istringstream &arguments) {
    size_t connections = 0;
    if (!(arguments >> connections) || connections == 0) throw std::runtime_error("usage: serve CONNECTIONS");
    if (server) throw std::runtime_error("serving already");
    server = new Server(transport, connections);
    std::printf("{\"ok\":true,\"port\":%u}\n", static_cast<unsigned>(server->port()));
}

// Returns the processor time of this thread in nanoseconds.
uint64_t thread_time() {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<uint64_t>(time.tv_sec) * 1000000000 + static_cast<uint64_t>(time.tv_nsec);
}

uint64_t timed(Workload &workload) {
    auto start = std::chrono::steady_clock::now();
    workload.run_once();
    auto spent = std::chrono::steady_clock::now() - start;
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(spent).count());
}

void run(std::istringstream &arguments) {
    size_t count = 0;
    if (!(arguments >> count) || count == 0) throw std::runtime_error("usage: run COUNT");
    Workload &workload = current();
    std::vector<uint64_t> times;
    times.reserve(std::min<size_t>(count, 100000));
    memory::reset_peak();
    uint64_t before = thread_time();
    for (size_t i = 0; i < count; i++) times.push_back(timed(workload));
    uint64_t cpu = thread_time() - before;
    long peak = workload.peak_growth();
    std::string text;
    for (uint64_t time : times) text += (text.empty() ? "" : ",") + std::to_string(time);
    std::printf("{\"ns\":[%s],\"checksum\":\"%s\",\"peak_bytes\":%ld,\"cpu_ns\":%llu}\n", text.c_str(),
                workload.checksum().c_str(), peak, static_cast<unsigned long long>(cpu));
}

void output() {
    const std::string &message = current().output();
    std::printf("%zu\n", message.size());
    std::fwrite(message.data(), 1, message.size(), stdout);
}

void report(const char *error) {
    std::string text;
    for (const char *p = error; *p; p++) {
        if (*p == '"' || *p == '\\') text += '\\';
        text += static_cast<unsigned char>(*p) < 0x20 ? ' ' : *p;
    }
    std::printf("{\"ok\":false,\"error\":\"%s\"}\n", text.c_str());
}

void answer(const std::string &line) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    if (command == "hello") hello();
    else if (command == "prepare") prepare(words);
    else if (command == "call") call(words);
    else if (command == "transport") set_transport(words);
    else if (command == "connect") connect(words);
    else if (command == "serve") serve(words);
    else if (command == "run") run(words);
    else if (command == "output") output();
    else throw std::runtime_error("unknown command " + command);
}

bool read_line(std::string &line) {
    line.clear();
    for (int c; (c = std::getchar()) != EOF; line += static_cast<char>(c))
        if (c == '\n') return true;
    return false;
}

}  // namespace

int main() {
    // A closed connection is an error, not the end.
    std::signal(SIGPIPE, SIG_IGN);
    std::string line;
    while (read_line(line) && line != "quit") {
        try {
            answer(line);
        } catch (const std::exception &e) {
            report(e.what());
        }
        std::fflush(stdout);
    }
}
