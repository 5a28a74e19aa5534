package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
)

// kind is a kind of workload: how its values are read, written and added to the checksum.
type kind struct {
	name string
	// decode returns the values of a message.
	decode func(message []byte) (any, error)
	// encode appends the complete message.
	encode func(out *bytes.Buffer, values any) error
	sum    func(values any) string
}

var kinds = []kind{
	lists("ints", "sendInts", (*checksum).int),
	lists("easy", "sendDoubles", (*checksum).double),
	lists("hard", "sendDoubles", (*checksum).double),
	lists("strings", "sendStrings", (*checksum).string),
	lists("structs", "sendMios", (*checksum).mio),
	lists("events", "sendEvents", (*checksum).event),
	binaries("base64", "sendBase64", func(c *checksum, value octets) { c.bytes(value) }),
	binaries("doubles64", "sendBase64", func(c *checksum, value doubles64) {
		for _, double := range value {
			c.double(double)
		}
	}),
}

func lists[T any](name, operation string, add func(*checksum, T)) kind {
	write := func(values any) any {
		return &writtenList[T]{xml.Name{Local: "ns:" + operation}, benchNamespace, values.(*list[T]).Item}
	}
	sum := func(values any) string {
		c := newChecksum()
		for _, item := range values.(*list[T]).Item {
			add(c, item)
		}
		return c.hex()
	}
	return kind{name, decoder[list[T]](operation), encoder(write), sum}
}

func binaries[T any](name, operation string, add func(*checksum, T)) kind {
	write := func(values any) any {
		return &writtenData[T]{xml.Name{Local: "ns:" + operation}, benchNamespace, values.(*data[T]).Data}
	}
	sum := func(values any) string {
		c := newChecksum()
		add(c, values.(*data[T]).Data)
		return c.hex()
	}
	return kind{name, decoder[data[T]](operation), encoder(write), sum}
}

func decoder[C any](operation string) func([]byte) (any, error) {
	return func(message []byte) (any, error) {
		var envelope readEnvelope[C]
		if err := xml.Unmarshal(message, &envelope); err != nil {
			return nil, err
		}
		found := envelope.Body.Operation.XMLName
		if found != (xml.Name{Space: benchNamespace, Local: operation}) {
			return nil, fmt.Errorf("%v is another operation", found)
		}
		return &envelope.Body.Operation.Content, nil
	}
}

func encoder(write func(values any) any) func(*bytes.Buffer, any) error {
	return func(out *bytes.Buffer, values any) error {
		out.WriteString(xml.Header[:len(xml.Header)-1])
		envelope := writtenEnvelope{Soap: soapNamespace, Body: writtenBody{Operation: write(values)}}
		return xml.NewEncoder(out).Encode(&envelope)
	}
}
