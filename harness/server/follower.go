package server

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// dialect is how a family speaks of replicas.
type dialect struct {
	// asPrimary and asReplica return the arguments of a server for its part.
	asPrimary func() []string
	asReplica func(*replication) []string
	// resilient are options of a replica that is killed now and then, by their names as variables.
	resilient [][2]string
	// detach stops a replica and has it forget what it got, forget empties a binary log.
	detach, forget []string
	// attach are the statements by which a replica begins behind a server.
	attach func(host, port, user, password string) []string
	// position asks a primary how far it is, reached (with that position and seconds) waits on a replica for it and
	// gives arrived if it is there.
	position, reached, arrived string
	// status asks a replica how it is; the columns that matter are runs and error.
	status  string
	columns statusColumns
	// byWorker asks which error stopped an applier, where the status does not say it; empty: it does.
	byWorker string
}

// statusColumns names columns of a replica's status.
type statusColumns struct{ receives, applies, code, text, ioCode, ioText string }

// binlogFile bounds a file of the binary log: those that every replica has read are removed whole.
const binlogFile = "--max-binlog-size=16M"

var dialects = map[history.DBMS]dialect{
	// https://dev.mysql.com/doc/refman/en/replication-gtids-howto.html
	history.MySQL: {
		asPrimary: func() []string { return append([]string{"--server-id=1"}, mysqlNode...) },
		asReplica: func(r *replication) []string {
			args := append([]string{"--server-id=2", "--read-only=1", "--relay-log=relay"}, mysqlNode...)
			if r.workers >= 0 {
				args = append(args, "--replica-parallel-workers="+strconv.Itoa(r.workers))
			}
			if r.order != "" {
				args = append(args, "--replica-preserve-commit-order="+r.order)
			}
			return args
		},
		// https://dev.mysql.com/doc/refman/9.7/en/replication-solutions-unexpected-replica-halt.html
		resilient: [][2]string{
			{"relay_log_recovery", "ON"}, {"replica_net_timeout", silentFor}, {"skip_replica_start", "OFF"},
		},
		detach: []string{"STOP REPLICA", "RESET REPLICA ALL"},
		forget: []string{"RESET BINARY LOGS AND GTIDS"},
		attach: func(host, port, user, password string) []string {
			return []string{
				fmt.Sprintf("CHANGE REPLICATION SOURCE TO SOURCE_HOST='%s', SOURCE_PORT=%s, SOURCE_USER='%s', "+
					"SOURCE_PASSWORD='%s', SOURCE_AUTO_POSITION=1, GET_SOURCE_PUBLIC_KEY=1, "+
					"SOURCE_CONNECT_RETRY=1, SOURCE_RETRY_COUNT=86400, SOURCE_SSL=0", host, port, user, password),
				"START REPLICA",
			}
		},
		position: "SELECT @@GLOBAL.gtid_executed",
		reached:  "SELECT WAIT_FOR_EXECUTED_GTID_SET('%s', %g)", arrived: "0",
		status: "SHOW REPLICA STATUS",
		columns: statusColumns{"Replica_IO_Running", "Replica_SQL_Running", "Last_SQL_Errno", "Last_SQL_Error",
			"Last_IO_Errno", "Last_IO_Error"},
		byWorker: "SELECT LAST_ERROR_NUMBER, LAST_ERROR_MESSAGE " +
			"FROM performance_schema.replication_applier_status_by_worker " +
			"WHERE LAST_ERROR_NUMBER <> 0 ORDER BY LAST_ERROR_TIMESTAMP LIMIT 1",
	},
	// https://mariadb.com/docs/server/ha-and-performance/standard-replication/gtid
	history.MariaDB: {
		asPrimary: func() []string { return []string{"--server-id=1", "--gtid-strict-mode=1", binlogFile} },
		asReplica: func(r *replication) []string {
			args := []string{
				"--server-id=2", "--gtid-strict-mode=1", "--log-slave-updates", "--read-only=1", "--relay-log=relay", binlogFile,
			}
			if r.workers >= 0 {
				args = append(args, "--slave-parallel-threads="+strconv.Itoa(r.workers))
			}
			return args
		},
		// https://mariadb.com/docs/server/ha-and-performance/standard-replication/gtid
		resilient: [][2]string{{"relay_log_recovery", "ON"}, {"slave_net_timeout", silentFor}},
		// The position is refused to be none while the replica's own binary log holds something: what was dropped there.
		detach: []string{"STOP SLAVE", "RESET SLAVE ALL", "RESET MASTER", "SET GLOBAL gtid_slave_pos = ''"},
		forget: []string{"RESET MASTER"},
		attach: func(host, port, user, password string) []string {
			return []string{
				"SET GLOBAL gtid_slave_pos = ''",
				fmt.Sprintf("CHANGE MASTER TO MASTER_HOST='%s', MASTER_PORT=%s, MASTER_USER='%s', "+
					"MASTER_PASSWORD='%s', MASTER_USE_GTID=slave_pos, MASTER_SSL=0, "+
					"MASTER_SSL_VERIFY_SERVER_CERT=0, MASTER_CONNECT_RETRY=1", host, port, user, password),
				"START SLAVE",
			}
		},
		position: "SELECT @@GLOBAL.gtid_binlog_pos",
		reached:  "SELECT MASTER_GTID_WAIT('%s', %g)", arrived: "0",
		status: "SHOW SLAVE STATUS",
		columns: statusColumns{"Slave_IO_Running", "Slave_SQL_Running", "Last_SQL_Errno", "Last_SQL_Error",
			"Last_IO_Errno", "Last_IO_Error"},
	},
}

var mysqlNode = []string{"--gtid-mode=ON", "--enforce-gtid-consistency=ON", binlogFile}

const (
	// askEvery is after how many seconds a replica that has not come as far as is waited for is asked whether it has
	// stopped: the servers' functions do not notice that.
	askEvery = 0.1
	// longestLag is what a replica may need to come as far as its primary is. A statement on the primary may have
	// waited, and then the replica's takes no longer.
	longestLag = 30 * time.Second
	// purgeEvery is after how many questions the files of the binary log that all have read are removed. Where a replica
	// is away now and then only old files are, and more often, since a load asks less.
	purgeEvery, purgeOldEvery = 2000, 50
)

// A replica that is away has not read what came meanwhile, be it as far as its primary a moment before.
const (
	purgeAll = "PURGE BINARY LOGS BEFORE NOW()"
	purgeOld = purgeAll + " - INTERVAL 10 MINUTE"
)

// follower implements harness.Follower. It is for one goroutine.
type follower struct {
	say              dialect
	primary, replica *side
	asked            *atomic.Int64 // of all followers of the pair; nil: nothing is purged
	// breaks: the pair is broken now and then.
	breaks bool
}

// Follow implements harness.Replicated.
func (p *pair) Follow(context.Context) (harness.Follower, error) {
	return p.follower(), nil
}

func (p *pair) follower() *follower {
	return &follower{
		say: p.say, primary: &side{to: p.private}, replica: &side{to: p.replica}, asked: &p.asked, breaks: p.durable,
	}
}

func (f *follower) CatchUp(ctx context.Context) error {
	at, err := f.primary.query(ctx, f.say.position)
	if err != nil {
		return fmt.Errorf("ask the primary how far it is: %w", err)
	}
	position := strings.ReplaceAll(string(at[0][0]), "\n", "")
	wait := fmt.Sprintf(f.say.reached, position, askEvery)
	for begun := time.Now(); ; {
		there, err := f.replica.query(ctx, wait)
		if err == nil && string(there[0][0]) == f.say.arrived {
			return f.purge(ctx)
		}
		stopped, e := f.stopped(ctx)
		switch {
		case stopped != nil:
			return stopped
		case err != nil:
			return fmt.Errorf("wait for the replica: %w", err)
		case e != nil:
			return e
		case ctx.Err() != nil:
			return ctx.Err()
		case time.Since(begun) > longestLag:
			return fmt.Errorf("the replica runs, and has not come to %s in %s", position, longestLag)
		}
	}
}

// stopped asks whether the replica has stopped.
func (f *follower) stopped(ctx context.Context) (*harness.StoppedError, error) {
	row, err := f.replica.named(ctx, f.say.status)
	if err != nil {
		return nil, fmt.Errorf("ask the replica how it is: %w", err)
	}
	c := &f.say.columns
	if row[c.applies] == "Yes" && row[c.receives] != "No" {
		return nil, nil
	}
	e := &harness.StoppedError{Text: row[c.text]}
	e.Code, _ = strconv.Atoi(row[c.code])
	if row[c.receives] == "No" && row[c.ioCode] != "0" && e.Code == 0 {
		e.Text = row[c.ioText]
		e.Code, _ = strconv.Atoi(row[c.ioCode])
	}
	if f.say.byWorker != "" {
		rows, err := f.replica.query(ctx, f.say.byWorker)
		if err == nil && len(rows) > 0 {
			e.Text = string(rows[0][1])
			e.Code, _ = strconv.Atoi(string(rows[0][0]))
		}
	}
	if e.Text == "" {
		e.Text = "it was stopped without an error"
	}
	return e, nil
}

// purge removes, every now and then, what all have read of the binary logs, which lie in memory.
func (f *follower) purge(ctx context.Context) error {
	every, sql := int64(purgeEvery), purgeAll
	if f.breaks {
		every, sql = purgeOldEvery, purgeOld
	}
	if f.asked == nil || f.asked.Add(1)%every != 0 {
		return nil
	}
	for _, s := range []*side{f.primary, f.replica} {
		if err := s.exec(ctx, sql); err != nil {
			return fmt.Errorf("purge the binary log: %w", err)
		}
	}
	return nil
}

func (f *follower) Close() error { return errors.Join(f.primary.Close(), f.replica.Close()) }

// named returns the first row of a query by the names of its columns; NULL is empty.
func (s *side) named(ctx context.Context, q string) (map[string]string, error) {
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	rows, err := s.conn.(driver.QueryerContext).QueryContext(ctx, q, nil)
	if err != nil {
		return nil, s.failed(err)
	}
	names := rows.Columns()
	out := map[string]string{}
	err = s.read(rows, func(row []driver.Value) {
		for i, v := range row {
			switch v := v.(type) {
			case nil:
			case []byte:
				out[names[i]] = string(v)
			default:
				out[names[i]] = fmt.Sprint(v)
			}
		}
	})
	return out, err
}
