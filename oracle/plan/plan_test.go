package plan

import "testing"

// TestPlans: the words of two servers, as they printed them.
func TestPlans(t *testing.T) {
	for text, want := range map[string]string{
		"id\tselect_type\ttable\ttype\tpossible_keys\tkey\tkey_len\tref\trows\tExtra\n1\tSIMPLE\tt\trange\tk\tk\t5\tNULL\t3\tUsing index condition": "t: range by k, Using index condition",
		"table\ttype\tkey\tExtra\nt\tindex\tPRIMARY\tUsing index":                                                                                   "t: index by PRIMARY, index only",
		// MariaDB 11.8
		`{"query_block": {"select_id": 1, "table": {"update": 1, "table_name": "t", "access_type": "range", "possible_keys": ["PRIMARY"], "key": "PRIMARY", "rows": 1, "attached_condition": "t.a = 5"}}}`: "t: range by PRIMARY",
		`{"query_block": {"select_id": 1, "nested_loop": [{"table": {"table_name": "t", "access_type": "const", "key": "PRIMARY"}}, {"table": {"table_name": "u", "access_type": "ALL"}}]}}`:               "t: const by PRIMARY; u: ALL",
		`{"query_block": {"select_id": 1, "table": {"message": "Impossible WHERE"}}}`:                                                                                                                      "Impossible WHERE",
		// MySQL 9.7, version 1 of the format
		`{"query_block": {"select_id": 1, "table": {"table_name": "t", "access_type": "ref", "key": "k", "using_index": true}}}`: "t: ref by k, index only",
		`{"query_block": {"select_id": 1, "message": "no matching row in const table"}}`:                                         "no matching row in const table",
		// TiDB 8.2
		`[{"id": "Update_5", "operatorInfo": "N/A", "subOperators": [{"id": "Point_Get_8", "accessObject": "table:t", "operatorInfo": "handle:0, lock"}]}]`:                                                                  "t: Point_Get, handle:0, lock",
		`[{"id": "IndexLookUp_7", "subOperators": [{"id": "IndexRangeScan_5(Build)", "accessObject": "table:t, index:k(b)", "operatorInfo": "range:[1,1]"}, {"id": "TableRowIDScan_6(Probe)", "accessObject": "table:t"}]}]`: "t: IndexRangeScan by k, range:[1,1]; t: TableRowIDScan",
		"{ cut off": "",
		"":          "",
	} {
		if got := Parse(text).String(); got != want {
			t.Errorf("%s\nis %q, want %q", text, got, want)
		}
	}
}
