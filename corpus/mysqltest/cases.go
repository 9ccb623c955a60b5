package mysqltest

import (
	"fmt"
	"path/filepath"

	"github.com/txnfuzz/txnfuzz/corpus/foreign"
)

// oneConnection is why most parts are no cases.
const oneConnection = "one connection"

// Cases makes a case of each part of a file in which several connections speak: path#1 of the first part. The note
// behind a line is the error that the file expects.
func Cases(path string, text []byte, source Source) (*foreign.Read, error) {
	list, err := parse(path, text)
	if err != nil {
		return nil, err
	}
	r := newRunner(source)
	r.run(list)
	out := &foreign.Read{}
	for _, p := range parts(r.events) {
		from := fmt.Sprintf("%s#%d", path, p.number)
		c, no := p.build(from, filepath.Base(path))
		if no != nil {
			again := *no
			again.From = from
			out.Refused = append(out.Refused, &again)
			continue
		}
		out.Cases = append(out.Cases, c)
	}
	return out, nil
}
