package campaign

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus/schemadump"
	"github.com/txnfuzz/txnfuzz/corpus/spelling"
	"github.com/txnfuzz/txnfuzz/mutate"
)

// SchemaError says that a file holds no tables on which cases can be made.
type SchemaError struct{ Why string }

func (e *SchemaError) Error() string { return e.Why }

// LoadSchema reads the tables of a dump; nil for the file "". told says, in lines, what it is made of and what of it is
// left out.
func LoadSchema(file string) (s *mutate.Schema, told []string, err error) {
	if file == "" {
		return nil, nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, &SchemaError{fmt.Sprintf("read the schema: %v", err)}
	}
	dump, err := schemadump.Read(file, text)
	if err != nil {
		return nil, nil, &SchemaError{err.Error()}
	}
	s, left := mutate.NewSchema(dump.Tables)
	names := s.Names()
	if len(names) == 0 {
		return nil, nil, &SchemaError{fmt.Sprintf("%s: no case can be made on its tables: %s", file, strings.Join(left, "; "))}
	}
	told = append(told, fmt.Sprintf("cases are made on %s of %s: %s", spelling.Count(len(names), "table"), file, strings.Join(names, ", ")))
	told = append(told, dump.Stands...)
	left = append(left, dump.Left...)
	slices.Sort(left)
	for _, l := range left {
		told = append(told, "left out: "+l)
	}
	return s, told, nil
}

// fitSchema leaves out of the schema what cannot be made on the target, and tells it.
func (c *campaign) fitSchema() error {
	if c.schema == nil {
		return nil
	}
	on, left := c.schema.On(c.target.Server().DBMS)
	if len(on.Names()) == 0 {
		return &SchemaError{fmt.Sprintf("%s: none of its tables can be made on %s: %s", c.s.Schema, c.target.Name, strings.Join(left, "; "))}
	}
	for _, l := range left {
		c.s.logf("left out: %s", l)
	}
	c.schema = on
	return nil
}
