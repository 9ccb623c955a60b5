package invariant

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// queue is a table of jobs: workers lock open ones, stepping over those that others have locked, and mark them done.
var queue = Workload{
	Name: "queue",
	Says: "each job is done once and none is lost; what a worker has written of a job is there as a whole or not at all",
	Kinds: []Opportunity{
		{JobTwice, "took a job while another one was taking one"}, {Lost, "added or did jobs and were acknowledged"},
		{HalfDone, "did a job"},
	},
	define: func(d *dialect) []string {
		job, done := "job (id BIGINT NOT NULL PRIMARY KEY, state INT NOT NULL, token BIGINT NOT NULL",
			"job_done (token BIGINT NOT NULL, job BIGINT NOT NULL, PRIMARY KEY (token, job))"
		if d.postgres {
			return []string{"CREATE TABLE " + job + ")", "CREATE INDEX by_state ON job (state, id)", "CREATE TABLE " + done}
		}
		return []string{"CREATE TABLE " + job + ", KEY by_state (state, id))" + d.engine, "CREATE TABLE " + done + d.engine}
	},
	begin: func(e *Epoch) state { return &jobs{e: e, next: e.first, added: map[int64]*effort{}} },
}

const (
	jobsAtFirst = 40
	jobsAtOnce  = 3
)

// effort is a transaction that adds or does jobs.
type effort struct {
	token    int64
	status   kv.Status
	does     bool
	jobs     []int64
	from, to int64
}

type jobs struct {
	e       *Epoch
	mu      sync.Mutex
	next    int64
	takers  int
	added   map[int64]*effort // by job
	efforts []*effort
}

func (q *jobs) fill() []string {
	first := &effort{status: kv.OK}
	sql := "INSERT INTO job (id, state, token) VALUES "
	for i := range jobsAtFirst {
		if i > 0 {
			sql += ", "
		}
		id := q.e.first + int64(i)
		sql += fmt.Sprintf("(%d, 0, 0)", id)
		q.added[id], first.jobs = first, append(first.jobs, id)
	}
	q.next = q.e.first + jobsAtFirst
	q.efforts = append(q.efforts, first)
	return []string{sql}
}

func (q *jobs) discard() []string {
	return []string{fmt.Sprintf("DELETE FROM job WHERE id < %d", q.e.first),
		fmt.Sprintf("DELETE FROM job_done WHERE job < %d", q.e.first)}
}

func (q *jobs) transact(t *txn) {
	w := &effort{token: t.token, does: t.rand.IntN(3) > 0}
	if w.does {
		q.mu.Lock()
		q.takers++
		beside := q.takers > 1
		q.mu.Unlock()
		t.settle = func(s kv.Status) {
			q.mu.Lock()
			q.takers--
			beside = beside || q.takers > 0
			q.mu.Unlock()
			if s == kv.OK && len(w.jobs) > 0 {
				t.meets(HalfDone, Lost)
				if beside {
					t.meets(JobTwice)
				}
			}
			q.settled(t, w, s)
		}
		t.within(func() error { return q.work(t, w) })
		return
	}
	q.mu.Lock()
	for range 1 + t.rand.IntN(jobsAtOnce) {
		w.jobs = append(w.jobs, q.next)
		q.added[q.next] = w
		q.next++
	}
	q.mu.Unlock()
	t.settle = func(s kv.Status) {
		t.meets(Lost)
		q.settled(t, w, s)
	}
	t.within(func() error {
		for _, id := range w.jobs {
			if err := t.exec(fmt.Sprintf("INSERT INTO job (id, state, token) VALUES (%d, 0, 0)", id), id); err != nil {
				return err
			}
		}
		return nil
	})
}

func (q *jobs) work(t *txn, w *effort) error {
	skip := ""
	if t.set.dialect.skips {
		skip = " SKIP LOCKED"
	}
	n := 1 + t.rand.IntN(2)
	rows, err := t.query(fmt.Sprintf("SELECT id FROM job WHERE state = 0 AND %s ORDER BY id LIMIT %d FOR UPDATE%s",
		between("id", q.e.first, q.e.last), n, skip))
	if err != nil {
		return err
	}
	for _, r := range rows {
		id := number(r[0])
		n, err := t.change(fmt.Sprintf("UPDATE job SET state = 1, token = %d WHERE id = %d", t.token, id), id)
		if err == nil && n != 1 {
			t.violates(violation(Lost, []int64{id},
				"an UPDATE of job %d, which the transaction has locked, changed %d rows", id, n))
		}
		if err == nil {
			err = t.exec(fmt.Sprintf("INSERT INTO job_done (token, job) VALUES (%d, %d)", t.token, id), id)
		}
		w.jobs = append(w.jobs, id)
		if err != nil {
			return err
		}
	}
	return nil
}

func (q *jobs) settled(t *txn, w *effort, s kv.Status) {
	w.status, w.from, w.to = s, t.result.Invoke, t.result.Back
	q.mu.Lock()
	defer q.mu.Unlock()
	if w.does && s == kv.OK {
		for _, other := range q.efforts {
			for _, id := range w.jobs {
				if other.does && other.status == kv.OK && slices.Contains(other.jobs, id) {
					t.violates(violation(JobTwice, []int64{id},
						"job %d was taken, marked done and committed by transaction %d and by transaction %d",
						id, other.token, w.token))
				}
			}
		}
	}
	if s != kv.Fail {
		q.efforts = append(q.efforts, w)
	}
}

func (q *jobs) finish(r *reader) ([]Violation, error) {
	var all, done [][]int64
	err := r.snapshot(func() (err error) {
		if all, err = r.numbers("SELECT id, state, token FROM job WHERE " + between("id", q.e.first, q.e.last)); err == nil {
			done, err = r.numbers("SELECT job, token FROM job_done WHERE " + between("job", q.e.first, q.e.last))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return q.judge(all, done), nil
}

// judge holds the rows of job (id, state, token) and of job_done (job, token) against what was acknowledged.
func (q *jobs) judge(all, done [][]int64) []Violation {
	var out []Violation
	says := func(kind string, id int64, format string, args ...any) {
		out = append(out, violation(kind, []int64{id}, "at the end of the epoch "+format, args...))
	}
	doer := map[int64]int64{} // by job: the token in table job, 0: it is open
	for _, j := range all {
		doer[j[0]] = j[2]
		switch w := q.added[j[0]]; {
		case w == nil || w.status == kv.Fail:
			says(Kept, j[0], "job %d is there, whose INSERT was never committed", j[0])
		case (j[1] == 1) != (j[2] != 0):
			says(HalfDone, j[0], "job %d has state %d and token %d", j[0], j[1], j[2])
		}
	}
	doers := map[int64][]int64{} // by job: the tokens in table job_done
	for _, d := range done {
		doers[d[0]] = append(doers[d[0]], d[1])
	}
	for id, tokens := range doers {
		slices.Sort(tokens)
		if len(tokens) > 1 {
			says(JobTwice, id, "job %d was done by the transactions %v: each of them has a row in table job_done", id, tokens)
		}
	}
	known := map[int64]*effort{}
	for _, w := range q.efforts {
		if w.does {
			known[w.token] = w
		}
		q.judgeEffort(w, doer, doers, says)
	}
	for _, id := range slices.Sorted(maps.Keys(doer)) {
		switch token := doer[id]; {
		case token != 0 && known[token] == nil:
			says(Kept, id, "job %d is marked done by transaction %d, which was rolled back", id, token)
		case token != 0 && !slices.Contains(doers[id], token):
			says(HalfDone, id, "job %d is marked done by transaction %d, which has no row in table job_done", id, token)
		case token == 0 && len(doers[id]) > 0:
			says(HalfDone, id, "job %d is open, and table job_done says that the transactions %v did it", id, doers[id])
		}
	}
	return out
}

// judgeEffort looks for what one transaction must have left: all of it if it was acknowledged, all or nothing of it if
// nobody knows.
func (q *jobs) judgeEffort(w *effort, doer map[int64]int64, doers map[int64][]int64,
	says func(kind string, id int64, format string, args ...any)) {
	there := func(id int64) bool {
		if w.does {
			return slices.Contains(doers[id], w.token)
		}
		_, ok := doer[id]
		return ok
	}
	some := slices.ContainsFunc(w.jobs, there)
	for _, id := range w.jobs {
		switch {
		case there(id):
		case w.status == kv.OK && w.does:
			says(Lost, id, "nothing is left of transaction %d, which did job %d and was acknowledged", w.token, id)
		case w.status == kv.OK:
			says(Lost, id, "job %d, whose INSERT was acknowledged, is not there", id)
		case some:
			says(HalfDone, id, "of transaction %d, whose outcome is unknown, some jobs are there and job %d is not", w.token, id)
		}
	}
}
