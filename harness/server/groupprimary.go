package server

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
)

var _ harness.Electing = (*members)(nil)

// whoWrites asks a member for the port of the one that takes writes, if it is in touch with more than half of so many.
const whoWrites = "SELECT member_port FROM performance_schema.replication_group_members " +
	"WHERE member_role = 'PRIMARY' AND member_state = 'ONLINE' AND 2 * (SELECT COUNT(*) " +
	"FROM performance_schema.replication_group_members WHERE member_state = 'ONLINE') > %d"

// primaryPatience is how long one that is well may need to answer; one that is stopped never does.
const primaryPatience = time.Second

// Primary implements harness.Electing. All members are asked at the same time, as MySQL Router does; the first counts
// that is in touch with a majority. A member that has lost the others still calls itself the primary.
// https://dev.mysql.com/doc/mysql-router/9.7/en/mysql-router-general-metadata-cache.html
func (m *members) Primary(ctx context.Context) (node int, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, primaryPatience)
	defer cancel()
	answers := make(chan int, len(m.all))
	var asking sync.WaitGroup
	defer asking.Wait()
	defer cancel() // before it is waited
	for _, b := range m.all {
		asking.Go(func() {
			s := &side{to: b}
			defer s.Close()
			rows, err := s.query(ctx, fmt.Sprintf(whoWrites, len(m.all)))
			answer := -1
			if err == nil && len(rows) == 1 {
				answer = m.listensOn(string(rows[0][0]))
			}
			answers <- answer
		})
	}
	for range m.all {
		if node := <-answers; node >= 0 {
			return node, true
		}
	}
	return 0, false
}

// listensOn returns the node that clients reach at a port, -1 for none.
func (m *members) listensOn(port string) int {
	for i, ports := range m.at.ports {
		if strconv.Itoa(ports[groupClients]) == port {
			return i
		}
	}
	return -1
}
