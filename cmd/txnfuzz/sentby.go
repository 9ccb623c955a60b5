package main

import (
	"github.com/spf13/pflag"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/protocol"
)

const (
	protocolUsage = "how statements are sent: text; prepare (each is prepared, executed and closed, each time); " +
		"execute (each is prepared once in its session and kept); or 'mixed SEED' (each in one of these ways, drawn from " +
		"SEED; without it from that of the run). What the server cannot prepare is sent as text"
	loadProtocolUsage     = protocolUsage + "; with execute, values are parameters of statements that are kept (default text)"
	recordedProtocolUsage = protocolUsage + " (default: as the case's header says)"
)

// sentBy is the value of a flag --protocol.
type sentBy struct {
	protocol protocol.Protocol
	given    bool
}

func (s *sentBy) String() string {
	if !s.given {
		return ""
	}
	return s.protocol.String()
}

func (s *sentBy) Type() string { return "PROTOCOL" }

func (s *sentBy) Set(text string) (err error) {
	s.given = true
	s.protocol, err = protocol.Parse(text)
	return err
}

// addProtocol gives a command the flag --protocol.
func addProtocol(f *pflag.FlagSet, s *sentBy, usage string) { f.Var(s, "protocol", usage) }

// override has a case sent as the flag says, if it is given.
func (s *sentBy) override(c *corpus.Case) *corpus.Case {
	if !s.given || c.Protocol() == s.protocol {
		return c
	}
	c = c.Clone()
	c.SetProtocol(s.protocol)
	return c
}
