package main

import (
	"encoding/binary"
	"encoding/xml"
	"errors"
	"math"
)

// The messages for encoding/xml: envelope, body and operation by struct tags. For reading, a tag's
// space is the namespace. For writing, these tags would declare the namespace on every element, so
// written types have separate tags, with prefixes in the names and the declarations as attributes.

const (
	soapNamespace  = "http://schemas.xmlsoap.org/soap/envelope/"
	benchNamespace = "urn:bench"
)

type mio struct {
	X int32   `xml:"x"`
	Y int32   `xml:"y"`
	V float64 `xml:"v"`
}

type event struct {
	ID      int32   `xml:"id"`
	Value   float64 `xml:"value"`
	Message string  `xml:"message"`
}

// octets are base64 in a message.
type octets []byte

// doubles64 are base64 of their bits in a message.
type doubles64 []float64

func (o *octets) UnmarshalText(text []byte) error {
	decoded, err := decodeBase64(text)
	*o = decoded
	return err
}

func (o octets) MarshalText() ([]byte, error) {
	return encodeBase64(o), nil
}

func (d *doubles64) UnmarshalText(text []byte) error {
	decoded, err := decodeBase64(text)
	if err != nil {
		return err
	}
	if len(decoded)%8 != 0 {
		return errors.New("these are no doubles")
	}
	*d = make(doubles64, len(decoded)/8)
	for i := range *d {
		(*d)[i] = math.Float64frombits(binary.LittleEndian.Uint64(decoded[8*i:]))
	}
	return nil
}

func (d doubles64) MarshalText() ([]byte, error) {
	bits := make([]byte, 8*len(d))
	for i, double := range d {
		binary.LittleEndian.PutUint64(bits[8*i:], math.Float64bits(double))
	}
	return encodeBase64(bits), nil
}

// list is the content of an operation with items.
type list[T any] struct {
	Item []T `xml:"item"`
}

// data is the content of an operation with octets.
type data[T any] struct {
	Data T `xml:"data"`
}

// readEnvelope is the type for reading a message.
type readEnvelope[C any] struct {
	XMLName xml.Name    `xml:"http://schemas.xmlsoap.org/soap/envelope/ Envelope"`
	Body    readBody[C] `xml:"http://schemas.xmlsoap.org/soap/envelope/ Body"`
}

type readBody[C any] struct {
	Operation readOperation[C] `xml:",any"`
}

type readOperation[C any] struct {
	XMLName xml.Name
	Content C
}

// UnmarshalXML reads the content in the operation's place.
func (o *readOperation[C]) UnmarshalXML(decoder *xml.Decoder, start xml.StartElement) error {
	o.XMLName = start.Name
	return decoder.DecodeElement(&o.Content, &start)
}

// writtenEnvelope is the type for writing a message.
type writtenEnvelope struct {
	XMLName xml.Name    `xml:"soap:Envelope"`
	Soap    string      `xml:"xmlns:soap,attr"`
	Body    writtenBody `xml:"soap:Body"`
}

type writtenBody struct {
	Operation any
}

type writtenList[T any] struct {
	XMLName   xml.Name
	Namespace string `xml:"xmlns:ns,attr"`
	Item      []T    `xml:"item"`
}

type writtenData[T any] struct {
	XMLName   xml.Name
	Namespace string `xml:"xmlns:ns,attr"`
	Data      T      `xml:"data"`
}
