//go:build !notidb

package embedded

import (
	"context"
	"encoding/hex"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pingcap/tidb/pkg/kv"
	"github.com/pingcap/tidb/pkg/meta/model"
	"github.com/pingcap/tidb/pkg/parser/charset"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/pingcap/tidb/pkg/tablecodec"
	"github.com/pingcap/tidb/pkg/types"
	"github.com/pingcap/tidb/pkg/util/codec"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// rowID is what TiDB calls the hidden key of a table without a clustered one.
const rowID = "_tidb_rowid"

// placeOf says which row or index entry a key of the store is; nil where no table of the
// schema has it. TiDB locks rows and entries of unique indexes.
// https://docs.pingcap.com/tidb/stable/tidb-computing#mapping-of-table-data-to-key-value
func (in *instance) placeOf(key kv.Key) *history.Place {
	table, index, isRow, err := tablecodec.DecodeKeyHead(key)
	if err != nil {
		return nil
	}
	t, ok := in.dom.InfoSchema().TableByID(context.Background(), table)
	if !ok {
		return nil
	}
	meta := t.Meta()
	at := &history.Place{Table: meta.Name.O, Kind: history.RecordLock, Mode: "pessimistic"}
	if !isRow {
		for _, x := range meta.Indices {
			if x.ID == index {
				at.Index = indexName(x)
				at.Fields = fieldsOf(tablecodec.CutIndexPrefix(key), columnsOf(meta, x))
			}
		}
		return at
	}
	_, handle, err := tablecodec.DecodeRecordKey(key)
	if err != nil {
		return nil
	}
	at.Index = rowID
	switch {
	case meta.PKIsHandle:
		at.Index, at.Fields = "PRIMARY", []string{handle.String()}
		if c := meta.GetPkColInfo(); c != nil && handle.IntValue() < 0 && mysql.HasUnsignedFlag(c.GetFlag()) {
			at.Fields = nil // beyond what a signed number holds
		}
	case meta.IsCommonHandle:
		for _, x := range meta.Indices {
			if x.Primary {
				at.Index = indexName(x)
				at.Fields = fieldsOf(handle.Encoded(), columnsOf(meta, x))
			}
		}
	}
	return at
}

func indexName(x *model.IndexInfo) string {
	if x.Primary {
		return "PRIMARY"
	}
	return x.Name.O
}

func columnsOf(t *model.TableInfo, x *model.IndexInfo) []*model.ColumnInfo {
	out := make([]*model.ColumnInfo, len(x.Columns))
	for i, c := range x.Columns {
		out[i] = t.Columns[c.Offset]
	}
	return out
}

// fieldsOf decodes the values of an index entry: integers as numbers, texts quoted,
// others as TiDB prints them. Of a text whose collation is no binary one the entry holds
// weights, which stay bytes.
func fieldsOf(b []byte, columns []*model.ColumnInfo) []string {
	var out []string
	for _, c := range columns {
		if len(b) == 0 {
			return nil
		}
		rest, d, err := codec.DecodeOne(b)
		if err != nil {
			return nil
		}
		b = rest
		if d.IsNull() {
			out = append(out, "NULL")
			continue
		}
		text := d.GetBytes()
		weights := types.IsString(c.GetType()) && !strings.HasSuffix(c.GetCollate(), "_bin") && c.GetCollate() != charset.CollationBin
		if d, err = tablecodec.Unflatten(d, &c.FieldType, time.UTC); err != nil {
			return nil
		}
		s, err := d.ToString()
		switch {
		case err != nil:
			return nil
		case weights || types.IsString(c.GetType()) && !utf8.Valid(text):
			s = "0x" + hex.EncodeToString(text)
		case types.IsString(c.GetType()):
			s = "'" + strings.ReplaceAll(s, "'", "''") + "'"
		}
		out = append(out, s)
	}
	return out
}
