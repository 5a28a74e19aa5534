// Calls services that require WS-Security with gSOAP and its plugin wsse.
//
//     secured_client URL KEYS
//
// Prints one JSON object per test; tests/interop/README.md documents it.

#include <cstring>
#include <utility>

#include "BankSoap11.nsmap"
#include "keys.h"
#include "testing.h"

namespace {

// --- what becomes of messages on their way

std::function<std::string(std::string)> on_its_way;
int (*send_plainly)(struct soap *, const char *, size_t);
// Changes received bytes, and returns true if it found what it changes.
std::function<bool(std::string &)> on_its_way_back;
size_t (*receive_plainly)(struct soap *, char *, size_t);

int send(struct soap *soap, const char *data, size_t len) {
  if (!on_its_way) return send_plainly(soap, data, len);
  const auto changed = on_its_way(std::string(data, len));
  return changed.empty() ? SOAP_OK : send_plainly(soap, changed.data(), changed.size());
}

// The bytes that arrive have the same length after the change.
size_t receive(struct soap *soap, char *data, size_t size) {
  const size_t len = receive_plainly(soap, data, size);
  std::string text(data, len);
  if (on_its_way_back && on_its_way_back(text)) text.copy(data, len);
  return len;
}

// Changes requests while it lives.
struct Meddler {
  explicit Meddler(std::function<std::string(std::string)> change) { on_its_way = std::move(change); }
  ~Meddler() { on_its_way = nullptr; }
};

// --- calls

using Protect = std::function<int(struct soap *)>;

const Identity &client() {
  static const Identity identity("client");
  return identity;
}

const Identity &stranger() {
  static const Identity identity("stranger");
  return identity;
}

class Service {
 public:
  // Responses are to be signed unless only the user is of interest.
  Service(Endpoint &endpoint, const std::string &path)
      : endpoint_(endpoint), address_(url + path), has_signed_responses_(path != "/users") {
    auto *soap = endpoint.soap();
    if (!soap_lookup_plugin(soap, soap_wsse_id)) {
      use_security(soap);
      send_plainly = soap->fsend;
      soap->fsend = send;
      receive_plainly = soap->frecv;
      soap->frecv = receive;
    }
  }

  // Ends what was set for one message.
  ~Service() {
    soap_wsse_delete_Security(endpoint_.soap());
    soap_wsse_verify_done(endpoint_.soap());
    endpoint_.soap()->header = nullptr;
    endpoint_.clear();
  }

  int call(std::string note, int amount, bank__TransferResponse &receipt, const Protect &protect) {
    auto *soap = endpoint_.soap();
    soap_wsse_delete_Security(soap);
    if (has_signed_responses_) endpoint_.check(verify(soap, client()));
    endpoint_.check(protect(soap));
    bank__Transfer transfer;
    transfer.to = "Bob";
    transfer.amount = amount;
    transfer.note = &note;
    return soap_call___bank__transfer(soap, address_.c_str(), nullptr, &transfer, receipt);
  }

  // Succeeds if calls do, with the right responses.
  void accepts(const std::string &from, const Protect &protect) {
    // The last is longer than a buffer.
    for (auto [times, amount] : {std::pair(1, 150), {2, 250}, {2, 123456789}, {3000, 250}}) {
      std::string note;
      for (int n = 0; n < times; ++n) note += "<Ada> & \"Ä\", 漢🦀\t";
      bank__TransferResponse receipt;
      endpoint_.check(call(note, amount, receipt, protect));
      if (has_signed_responses_) endpoint_.check(check_signed(endpoint_.soap()));
      expect(receipt.from, from, "from");
      expect(receipt.note ? *receipt.note : "", note, "note");
      expect(receipt.amount, amount, "amount");
      endpoint_.clear();
    }
  }

  // Succeeds if a call fails with a fault of this code or subcode.
  void refuses(const char *code, const Protect &protect) {
    bank__TransferResponse receipt;
    auto *soap = endpoint_.soap();
    if (!call("", 250, receipt, protect)) throw std::runtime_error("expected a fault, got a response");
    if (soap->error != SOAP_FAULT && soap->error != SOAP_CLI_FAULT && soap->error != SOAP_SVR_FAULT) endpoint_.fail();
    const char *subcode = soap_fault_subcode(soap);
    const std::string found = std::string(*soap_faultcode(soap)) + " " + (subcode ? subcode : "");
    if (found.find(code) == std::string::npos) throw std::runtime_error("another fault: " + found);
  }

  // Succeeds if a request is accepted, and the same bytes are refused afterwards.
  void refuses_again(const Protect &protect) {
    std::string first;
    {
      Meddler listener([&](std::string text) { return first += text, text; });
      bank__TransferResponse receipt;
      endpoint_.check(call("", 250, receipt, protect));
    }
    Meddler repeater([&](std::string) { return std::exchange(first, ""); });
    refuses("MessageExpired", protect);
  }

  // Succeeds if a request is refused in which `change` finds what it changes.
  void refuses_changed(const char *code, const std::function<bool(std::string &)> &change, const Protect &protect) {
    bool is_changed = false;
    Meddler meddler([&](std::string text) {
      is_changed |= change(text);
      return text;
    });
    refuses(code, protect);
    expect(is_changed, true, "the request is changed");
  }

  // Succeeds if the response is refused after it was changed. It may not be compressed.
  void refuses_response(const std::function<bool(std::string &)> &change, const Protect &protect) {
    bool is_changed = false;
    Meddler uncompressed([](std::string text) {
      const std::string codings = "gzip,deflate";
      const auto at = text.find(codings);
      return at == std::string::npos ? text : text.replace(at, codings.size(), "identity");
    });
    on_its_way_back = [&](std::string &text) {
      const bool is_found = change(text);
      is_changed |= is_found;
      return is_found;
    };
    bank__TransferResponse receipt;
    // Another request than the repeated one: equal ones of one second have equal signatures.
    const int error = call("another", 250, receipt, protect);
    on_its_way_back = nullptr;
    expect(is_changed, true, "the response is changed");
    if (!error) throw std::runtime_error("the changed response is accepted");
    const std::string fault = *soap_faultstring(endpoint_.soap()) ? *soap_faultstring(endpoint_.soap()) : "";
    expect<std::string>(fault, "The signature or decryption was invalid", "fault");
  }

 private:
  Endpoint &endpoint_;
  std::string address_;
  bool has_signed_responses_;
};

// --- tests

Protect text(const char *password) {
  return [=](struct soap *soap) { return soap_wsse_add_UsernameTokenText(soap, "User", USER, password); };
}

Protect digest(const char *password) {
  return [=](struct soap *soap) { return soap_wsse_add_UsernameTokenDigest(soap, "User", USER, password); };
}

int sign_as_client(struct soap *soap) { return sign(soap, client()); }
int sign_as_stranger(struct soap *soap) { return sign(soap, stranger()); }
int sign_with_user(struct soap *soap) { return digest(PASSWORD)(soap) || sign(soap, client()); }

int sign_and_encrypt(struct soap *soap) {
  static const auto *recipient = read<X509>("server.pem", PEM_read_X509);
  return sign(soap, client()) || encrypt(soap, const_cast<X509 *>(recipient));
}

// Replaces a text by one of the same length.
std::function<bool(std::string &)> replace(const std::string &from, const std::string &to) {
  return [=](std::string &text) {
    const auto at = text.find(from);
    if (at == std::string::npos) return false;
    text.replace(at, from.size(), to);
    return true;
  };
}

// Changes the ciphertext of the body.
bool spoil_content(std::string &text) {
  const std::string before = "<xenc:CipherValue>";
  const auto at = text.rfind(before);
  if (text.find("<xenc:EncryptedData") > at) return false;
  auto &changed = text[at + before.size() + 30];
  changed = changed == 'A' ? 'B' : 'A';
  return true;
}

template <class Run>
void add(const char *feature, const char *name, const char *path, Run run) {
  test(feature, name, [=](Endpoint &endpoint) {
    Service service(endpoint, path);
    run(service);
  });
}

void register_users() {
  const char *users = "security user", *path = "/users";
  add(users, "passwords as text", path, [](Service &it) { it.accepts(USER, text(PASSWORD)); });
  add(users, "passwords as digests", path, [](Service &it) { it.accepts(USER, digest(PASSWORD)); });
  add(users, "a wrong password is refused", path, [](Service &it) { it.refuses("FailedAuthentication", text("guess")); });
  add(users, "a wrong digest is refused", path, [](Service &it) { it.refuses("FailedAuthentication", digest("guess")); });
  add(users, "a replayed request is refused", path, [](Service &it) { it.refuses_again(digest(PASSWORD)); });
}

void register_signatures() {
  const char *signatures = "security signed", *path = "/signed";
  add(signatures, "signed both ways", path,
      [](Service &it) { it.accepts("CN=client", sign_as_client); });
  add(signatures, "signed user names", "/tokens",
      [](Service &it) { it.accepts(USER, sign_with_user); });
  add(signatures, "a changed user name is refused", "/tokens",
      [](Service &it) { it.refuses_changed("Failed", replace(">ada<", ">bob<"), sign_with_user); });
  add(signatures, "a changed request is refused", path,
      [](Service &it) { it.refuses_changed("FailedCheck", replace(">250<", ">950<"), sign_as_client); });
  add(signatures, "a request of a stranger is refused", path,
      [](Service &it) { it.refuses("InvalidSecurityToken", sign_as_stranger); });
  add(signatures, "a changed response is refused", path,
      [](Service &it) { it.refuses_response(replace(">250<", ">950<"), sign_as_client); });
  add(signatures, "a replayed request is refused", path, [](Service &it) { it.refuses_again(sign_as_client); });
}

void register_encryption() {
  const char *encryption = "security encrypted", *path = "/encrypted";
  add(encryption, "encrypted both ways", path,
      [](Service &it) { it.accepts("CN=client", sign_and_encrypt); });
  add(encryption, "a changed request is refused", path,
      [](Service &it) { it.refuses_changed("FailedCheck", spoil_content, sign_and_encrypt); });
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: secured_client URL KEYS\n"), 2;
  url = argv[1];
  folder = argv[2];
  register_users();
  register_signatures();
  register_encryption();
  for (int version : {1, 2}) {
    Endpoint endpoint(version);
    for (const auto &each : tests) run(endpoint, each);
  }
}
