package main

import "encoding/base64"

func decodeBase64(text []byte) ([]byte, error) {
	decoded := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(decoded, text)
	return decoded[:n], err
}

func encodeBase64(octets []byte) []byte {
	text := make([]byte, base64.StdEncoding.EncodedLen(len(octets)))
	base64.StdEncoding.Encode(text, octets)
	return text
}
