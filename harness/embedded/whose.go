//go:build !notidb

package embedded

import (
	"context"

	"github.com/pingcap/tidb/pkg/util/logutil"
	"github.com/tikv/client-go/v2/util"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// connCore is a log's core that knows of which connection it tells. TiDB gives each connection a logger with the field
// LogFieldConn, in the context that all that the connection does is done under, goroutines of its statements included:
// so the core tells whose a request to the store is, also before TiDB has noted a session's ID in the context, as when
// a transaction begins.
type connCore struct {
	zapcore.Core
	conn uint64 // 0: of none
}

// With implements zapcore.Core.
func (c *connCore) With(fields []zapcore.Field) zapcore.Core {
	conn := c.conn
	for _, f := range fields {
		if f.Key == logutil.LogFieldConn && f.Type == zapcore.Uint64Type {
			conn = uint64(f.Integer)
		}
	}
	return &connCore{c.Core.With(fields), conn}
}

// Check implements zapcore.Core.
func (c *connCore) Check(e zapcore.Entry, to *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(e.Level) {
		return to.AddCore(e, c)
	}
	return to
}

// connOf returns the connection under whose context something is done, 0 if that is none's: of TiDB's own work, or
// behind the answer to a statement.
func connOf(ctx context.Context) uint64 {
	if l, ok := ctx.Value(logutil.CtxLogKey).(*zap.Logger); ok {
		if c, ok := l.Core().(*connCore); ok && c.conn != 0 {
			return c.conn
		}
	}
	conn, _ := ctx.Value(util.SessionID).(uint64)
	return conn
}
