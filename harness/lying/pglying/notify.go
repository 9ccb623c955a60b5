package pglying

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/harness"
)

// notifiedAnyway notifies of what a transaction has notified that is rolled back.
func notifiedAnyway(s *session, sql string) (harness.Reply, error) {
	var sent []string
	for _, done := range s.done {
		if s.active && ends(sql) && verb(sql) == "ROLLBACK" && verb(done) == "NOTIFY" {
			sent = append(sent, done)
		}
	}
	r, err := s.ask(sql)
	if err != nil || r.Err != nil || len(sent) == 0 {
		return r, err
	}
	s.tell()
	_, err = s.also(sent...)
	return r, err
}

// notificationLost keeps the first of the notifications that come with an answer from the client.
func notificationLost(s *session, sql string) (harness.Reply, error) {
	r, err := s.ask(sql)
	if len(s.got) > 0 {
		s.tell()
		s.got = s.got[1:]
	}
	return r, err
}

// notificationsReversed gives the client the notifications that come with an answer in the opposite order.
func notificationsReversed(s *session, sql string) (harness.Reply, error) {
	r, err := s.ask(sql)
	if was := slices.Clone(s.got); len(was) > 1 {
		if slices.Reverse(s.got); !slices.Equal(was, s.got) {
			s.tell()
		}
	}
	return r, err
}
