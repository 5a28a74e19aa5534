// Calls the services whose WSDLs our server makes from Rust types with gSOAP: /orders in document
// style, /sums in SOAP encoding.
//
//     coded_client ORDERS-URL SUMS-URL
//
// Prints one JSON object per test; tests/interop/README.md documents it.

#include <chrono>
#include <thread>
#include <unistd.h>

#include "OrdersSoap11.nsmap"
#include "soapH.h"
#include "testing.h"

namespace {

// URL of /sums; that of /orders is `url`.
std::string sums;

// Fetches an order, and returns it as it was read.
void order(Endpoint &endpoint, const std::string &name) {
  auto *soap = endpoint.soap();
  orders__SampleOrder sample;
  orders__SampleOrderResponse sampled;
  orders__CheckOrder check;
  orders__CheckOrderResponse checked;
  sample.case_ = check.case_ = name;
  endpoint.check(soap_call___orders__sampleOrder(soap, endpoint.address(), nullptr, &sample, sampled));
  const bool is_sent = sampled.order->status == orders__Status__sent;
  expect(is_sent && sampled.order->line.size() == 2, name == "most", "everything is there");
  check.order = sampled.order;
  endpoint.check(soap_call___orders__checkOrder(soap, endpoint.address(), nullptr, &check, checked));
  expect<std::string>(checked.problem, "", "problem");
  endpoint.clear();
}

int call_reserve(Endpoint &endpoint, unsigned count, orders__ReserveResponse &response) {
  orders__Reserve request;
  request.sku = "<a>";
  request.count = count;
  return soap_call___orders__reserve(endpoint.soap(), endpoint.address(), nullptr, &request, response);
}

void reserve(Endpoint &endpoint) {
  orders__ReserveResponse response;
  endpoint.check(call_reserve(endpoint, 3, response));
  expect(response.left, 7U, "left");
}

void reserve_too_many(Endpoint &endpoint) {
  orders__ReserveResponse response;
  if (!call_reserve(endpoint, 11, response)) throw std::runtime_error("expected a fault, got a response");
  const auto *fault = endpoint.soap()->fault;
  const auto *detail = fault ? endpoint.version() == 1 ? fault->detail : fault->SOAP_ENV__Detail : nullptr;
  if (!detail || !detail->orders__OutOfStock_) endpoint.fail();
  expect<std::string>(detail->orders__OutOfStock_->sku, "<a>", "sku");
  expect(detail->orders__OutOfStock_->left, 10U, "left");
  endpoint.clear();
}

void renew(Endpoint &endpoint) {
  auto *soap = endpoint.soap();
  orders__Renew request;
  orders__RenewResponse response;
  soap->header = soap_new_SOAP_ENV__Header(soap);
  soap->header->orders__Session_ = soap_new_orders__Session(soap);
  soap->header->orders__Session_->user = "Ada & co";
  soap->header->orders__Session_->hops = 41;
  endpoint.check(soap_call___orders__renew(soap, endpoint.address(), nullptr, &request, response));
  expect<std::string>(response.user, "Ada & co", "user");
  const auto *session = soap->header ? soap->header->orders__Session_ : nullptr;
  if (!session) throw std::runtime_error("no header block");
  expect(session->hops, 42, "hops");
  soap->header = nullptr;
  endpoint.clear();
}

void renew_without_session(Endpoint &endpoint) {
  orders__Renew request;
  orders__RenewResponse response;
  endpoint.soap()->header = nullptr;
  if (!soap_call___orders__renew(endpoint.soap(), endpoint.address(), nullptr, &request, response)) {
    throw std::runtime_error("expected a fault, got a response");
  }
  endpoint.clear();
}

void cancel(Endpoint &endpoint) {
  orders__Cancel request;
  orders__Cancelled question;
  orders__CancelledResponse answer;
  request.topic = question.topic = "gSOAP over " + std::to_string(endpoint.version()) + ", " + std::to_string(getpid());
  for (int n = 0; n < 3; ++n) {
    endpoint.check(soap_send___orders__cancel(endpoint.soap(), endpoint.address(), nullptr, &request));
    endpoint.check(soap_recv_empty_response(endpoint.soap()));
  }
  for (int n = 0; n < 50 && answer.count != 3; ++n) {
    endpoint.check(soap_call___orders__cancelled(endpoint.soap(), endpoint.address(), nullptr, &question, answer));
    if (answer.count != 3) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  expect(answer.count, 3U, "count");
}

// The response of an operation, in either version.
template <class One, class Two>
struct Response {
  One one;
  Two two;
};

#define CALL(endpoint, operation, response, ...)                                                          \
  endpoint.check(endpoint.version() == 1                                                                  \
                     ? soap_call_sums__##operation(endpoint.soap(), sums.c_str(), nullptr, __VA_ARGS__, response.one) \
                     : soap_call_sums__##operation##_(endpoint.soap(), sums.c_str(), nullptr, __VA_ARGS__, response.two))

// Fetches arrays, and returns them as they were read.
void sum(Endpoint &endpoint, int points) {
  Response<sums__sampleResponse, sums__sampleResponse_> sample;
  Response<sums__sumResponse, sums__sumResponse_> sum;
  const bool is_first = endpoint.version() == 1;
  CALL(endpoint, sample, sample, points);
  auto *numbers = is_first ? sample.one.numbers : sample.two.numbers;
  auto *array = is_first ? sample.one.points : sample.two.points;
  expect(array->__size, points, "size");
  CALL(endpoint, sum, sum, numbers, array);
  std::string labels;
  double total = 0.5 - 2.25 + 1e10;
  for (int n = 0; n < points; ++n) {
    labels += "<" + std::to_string(n) + ">";
    total -= n * n;
  }
  expect(is_first ? sum.one.total : sum.two.total, total, "total");
  expect(is_first ? sum.one.labels : sum.two.labels, labels, "labels");
  endpoint.clear();
}

void register_all() {
  test("coded structs", "an order with everything", [](Endpoint &endpoint) { order(endpoint, "most"); });
  test("coded structs", "an order with only what is required", [](Endpoint &endpoint) { order(endpoint, "least"); });
  test("coded faults", "no fault", reserve);
  test("coded faults", "a typed fault", reserve_too_many);
  test("coded headers", "a header block both ways", renew);
  test("coded headers", "a required block is missing", renew_without_session);
  test("coded one-way", "cancellations arrive", cancel);
  test("coded arrays", "arrays of numbers and structs", [](Endpoint &endpoint) { sum(endpoint, 100); });
  test("coded arrays", "an empty array", [](Endpoint &endpoint) { sum(endpoint, 0); });
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: coded_client ORDERS-URL SUMS-URL\n"), 2;
  url = argv[1];
  sums = argv[2];
  register_all();
  for (int version : {1, 2}) {
    Endpoint endpoint(version);
    for (const auto &each : tests) run(endpoint, each);
  }
}
