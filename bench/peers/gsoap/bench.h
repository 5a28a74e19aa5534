// The operations of the benchmark service, in soapcpp2's own C++ dialect.
//
// soapcpp2 turns this file into the (de)serializers; nothing here is compiled as it stands.
// The choice of containers is explained in README.md.

//gsoap ns service name:      bench
//gsoap ns service style:     document
//gsoap ns service encoding:  literal
//gsoap ns service namespace: urn:bench
//gsoap ns schema namespace:  urn:bench
//gsoap ns schema form:       unqualified

#import "stlvector.h"

// xsd:base64Binary; gSOAP recognizes this pair of fields by its name.
class xsd__base64Binary { public: unsigned char *__ptr; int __size; };

// Mesh interface object: two coordinates and a value.
class ns__Mio { public: int x; int y; double v; };

// A simple event: a number, a reading, and a text.
class ns__Event { public: int id; double value; char *message; };

// A recorded answer of vSphere: a tree of resource pools. Only in process.
//gsoap vim schema namespace: urn:vim25
//gsoap vim schema form:      qualified
class vim__SharesInfo { public: int shares; char *level; };
class vim__ResourceAllocationInfo {
public:
    LONG64 *reservation 0;
    bool *expandableReservation 0;
    LONG64 *limit 0;
    vim__SharesInfo *shares 0;
    LONG64 *overheadLimit 0;
};
class vim__ResourceConfigSpec {
public:
    char *changeVersion 0;
    char *lastModified 0;
    vim__ResourceAllocationInfo cpuAllocation;
    vim__ResourceAllocationInfo memoryAllocation;
};
class vim__HostSystemResourceInfo {
public:
    char *key;
    vim__ResourceConfigSpec *config 0;
    std::vector<vim__HostSystemResourceInfo> child 0;
};
class vim__FetchResponse { public: vim__HostSystemResourceInfo returnval; };

// An array of SOAP encoding; gSOAP recognizes this pair of fields by its name.
class ArrayOfString { public: char **__ptr; int __size; };

// Composite types, generated from ../../definitions/composites.wsdl when the peer is built: only in
// process and for sending.
#import "composites.h"

// In process and on the wire.
int ns__sendInts(std::vector<int> item, struct ns__sendIntsResponse { int count; } &response);
int ns__sendDoubles(std::vector<double> item, struct ns__sendDoublesResponse { int count; } &response);
int ns__sendStrings(std::vector<char *> item, struct ns__sendStringsResponse { int count; } &response);
int ns__sendMios(std::vector<ns__Mio> item, struct ns__sendMiosResponse { int count; } &response);
int ns__sendEvents(std::vector<ns__Event> item, struct ns__sendEventsResponse { int count; } &response);
int ns__sendBase64(xsd__base64Binary data, struct ns__sendBase64Response { int count; } &response);

// In SOAP encoding.
//gsoap ns service method-encoding: sendEncodedStrings encoded
int ns__sendEncodedStrings(ArrayOfString item, struct ns__sendEncodedStringsResponse { int count; } &response);
//gsoap ns service method-encoding: sendRepeatedStrings encoded
int ns__sendRepeatedStrings(ArrayOfString item, struct ns__sendRepeatedStringsResponse { int count; } &response);

// Only on the wire.
int ns__echoVoid(struct ns__echoVoidResponse {} &response);
int ns__echoInts(std::vector<int> item, struct ns__echoIntsResponse { std::vector<int> item; } &response);
int ns__echoDoubles(std::vector<double> item, struct ns__echoDoublesResponse { std::vector<double> item; } &response);
int ns__echoStrings(std::vector<char *> item, struct ns__echoStringsResponse { std::vector<char *> item; } &response);
int ns__echoMios(std::vector<ns__Mio> item, struct ns__echoMiosResponse { std::vector<ns__Mio> item; } &response);
int ns__echoEvents(std::vector<ns__Event> item, struct ns__echoEventsResponse { std::vector<ns__Event> item; } &response);
int ns__echoBase64(xsd__base64Binary data, struct ns__echoBase64Response { xsd__base64Binary data; } &response);
int ns__receiveInts(int count, struct ns__receiveIntsResponse { std::vector<int> item; } &response);
int ns__receiveDoubles(int count, struct ns__receiveDoublesResponse { std::vector<double> item; } &response);
int ns__receiveStrings(int count, struct ns__receiveStringsResponse { std::vector<char *> item; } &response);
int ns__receiveMios(int count, struct ns__receiveMiosResponse { std::vector<ns__Mio> item; } &response);
int ns__receiveEvents(int count, struct ns__receiveEventsResponse { std::vector<ns__Event> item; } &response);
int ns__receiveBase64(int count, struct ns__receiveBase64Response { xsd__base64Binary data; } &response);

// In SOAP encoding.
//gsoap ns service method-encoding: receiveEncodedStrings encoded
int ns__receiveEncodedStrings(int count, struct ns__receiveEncodedStringsResponse { ArrayOfString item; } &response);
//gsoap ns service method-encoding: receiveRepeatedStrings encoded
int ns__receiveRepeatedStrings(int count, struct ns__receiveRepeatedStringsResponse { ArrayOfString item; } &response);
