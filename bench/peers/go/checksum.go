package main

import (
	"encoding/binary"
	"fmt"
	"math"
)

// checksum is 64-bit FNV-1a over decoded values, as PROTOCOL.md defines it.
type checksum struct {
	state uint64
}

func newChecksum() *checksum {
	return &checksum{0xcbf29ce484222325}
}

func (c *checksum) bytes(octets []byte) {
	for _, octet := range octets {
		c.state = (c.state ^ uint64(octet)) * 0x100000001b3
	}
}

func (c *checksum) int(value int32) {
	c.bytes(binary.LittleEndian.AppendUint32(nil, uint32(value)))
}

func (c *checksum) double(value float64) {
	c.bytes(binary.LittleEndian.AppendUint64(nil, math.Float64bits(value)))
}

func (c *checksum) string(value string) {
	c.int(int32(len(value)))
	c.bytes([]byte(value))
}

func (c *checksum) mio(value mio) {
	c.int(value.X)
	c.int(value.Y)
	c.double(value.V)
}

func (c *checksum) event(value event) {
	c.int(value.ID)
	c.double(value.Value)
	c.string(value.Message)
}

func (c *checksum) hex() string {
	return fmt.Sprintf("%016x", c.state)
}
