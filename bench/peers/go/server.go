package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
)

// handler answers the operation whose element begins at `start`.
type handler func(decoder *xml.Decoder, start xml.StartElement) (response any, err error)

// count is the content of a response with a number.
type count struct {
	XMLName   xml.Name
	Namespace string `xml:"xmlns:ns,attr"`
	Count     int    `xml:"count"`
}

type nothing struct {
	XMLName   xml.Name
	Namespace string `xml:"xmlns:ns,attr"`
}

var handlers = map[string]handler{
	"echoVoid": func(decoder *xml.Decoder, start xml.StartElement) (any, error) {
		return &nothing{response(start), benchNamespace}, decoder.Skip()
	},
	"echoInts":    echoList[int32],
	"echoDoubles": echoList[float64],
	"echoStrings": echoList[string],
	"echoMios":    echoList[mio],
	"echoEvents":  echoList[event],
	"echoBase64": func(decoder *xml.Decoder, start xml.StartElement) (any, error) {
		var content data[octets]
		err := decoder.DecodeElement(&content, &start)
		return &writtenData[octets]{response(start), benchNamespace, content.Data}, err
	},
	"sendInts":    sendList[int32],
	"sendDoubles": sendList[float64],
	"sendStrings": sendList[string],
	"sendMios":    sendList[mio],
	"sendEvents":  sendList[event],
	"sendBase64": func(decoder *xml.Decoder, start xml.StartElement) (any, error) {
		var content data[octets]
		err := decoder.DecodeElement(&content, &start)
		return &count{response(start), benchNamespace, len(content.Data)}, err
	},
}

func operations() string {
	var names []string
	for name := range handlers {
		names = append(names, fmt.Sprintf("%q", name))
	}
	return strings.Join(names, ",")
}

func response(start xml.StartElement) xml.Name {
	return xml.Name{Local: "ns:" + start.Name.Local + "Response"}
}

func echoList[T any](decoder *xml.Decoder, start xml.StartElement) (any, error) {
	var content list[T]
	err := decoder.DecodeElement(&content, &start)
	return &writtenList[T]{response(start), benchNamespace, content.Item}, err
}

func sendList[T any](decoder *xml.Decoder, start xml.StartElement) (any, error) {
	var content list[T]
	err := decoder.DecodeElement(&content, &start)
	return &count{response(start), benchNamespace, len(content.Item)}, err
}

// dispatch finds the operation's handler when the operation's element begins.
type dispatch struct {
	response any
}

func (d *dispatch) UnmarshalXML(decoder *xml.Decoder, start xml.StartElement) (err error) {
	handle := handlers[start.Name.Local]
	if handle == nil || start.Name.Space != benchNamespace {
		return fmt.Errorf("no operation %v", start.Name)
	}
	d.response, err = handle(decoder, start)
	return err
}

type request struct {
	XMLName xml.Name `xml:"http://schemas.xmlsoap.org/soap/envelope/ Envelope"`
	Body    struct {
		Operation dispatch `xml:",any"`
	} `xml:"http://schemas.xmlsoap.org/soap/envelope/ Body"`
}

func answer(body io.Reader) (*bytes.Buffer, error) {
	var message bytes.Buffer
	if _, err := message.ReadFrom(body); err != nil {
		return nil, err
	}
	var envelope request
	if err := xml.Unmarshal(message.Bytes(), &envelope); err != nil {
		return nil, err
	}
	message.Reset()
	message.WriteString(xml.Header[:len(xml.Header)-1])
	written := writtenEnvelope{Soap: soapNamespace, Body: writtenBody{Operation: envelope.Body.Operation.response}}
	return &message, xml.NewEncoder(&message).Encode(&written)
}

func serve(connections string) (string, error) {
	if n, err := strconv.Atoi(connections); err != nil || n < 1 {
		return "", errors.New("no connections to serve")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	http.HandleFunc("/bench", func(writer http.ResponseWriter, request *http.Request) {
		message, err := answer(request.Body)
		if err != nil {
			http.Error(writer, err.Error(), http.StatusInternalServerError)
			return
		}
		writer.Header().Set("Content-Type", "text/xml; charset=utf-8")
		writer.Header().Set("Content-Length", strconv.Itoa(message.Len()))
		_, _ = writer.Write(message.Bytes())
	})
	go func() { _ = http.Serve(listener, nil) }()
	return fmt.Sprintf(`{"ok":true,"port":%d}`, listener.Addr().(*net.TCPAddr).Port), nil
}
