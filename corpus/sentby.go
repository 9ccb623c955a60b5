package corpus

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus/protocol"
)

// protocolKey is the header line `protocol`, which says how the statements of the sessions are sent.
const protocolKey = "protocol"

// Protocol is what the header says; text where it says nothing, or nothing that can be read.
func (c *Case) Protocol() protocol.Protocol {
	value, ok := c.Get(protocolKey)
	if !ok {
		return protocol.Protocol{}
	}
	p, err := protocol.Parse(value)
	if err != nil {
		return protocol.Protocol{}
	}
	return p
}

// SetProtocol has the statements of a case sent so. That they are text takes no header line.
func (c *Case) SetProtocol(p protocol.Protocol) {
	if p.IsText() {
		c.Header = slices.DeleteFunc(slices.Clone(c.Header), func(f Field) bool { return f.Key == protocolKey })
		return
	}
	c.Header = slices.Clone(c.Header)
	c.Set(protocolKey, p.String())
}
