package workload

import (
	"strings"
	"testing"
)

// TestImportLog makes a workload of a log that can be run.
func TestImportLog(t *testing.T) {
	w, err := ImportLog("app.log", []byte(`# from the proxy
a CREATE TABLE account (id INT PRIMARY KEY, balance INT, owner VARCHAR(20));
s1 BEGIN;
s1 SELECT balance FROM account WHERE id = 7;
s2	START TRANSACTION
s2	UPDATE account SET balance = balance - 5 WHERE id = 9
s1 UPDATE account SET balance = 90 WHERE id = 7;
s2	COMMIT
s1 COMMIT;
s3: BEGIN
s3: SELECT balance FROM account WHERE id = 1 ORDER BY 1 LIMIT 1
s3: UPDATE account SET balance = 40 WHERE id = 1
s3: COMMIT
s4 BEGIN
s4 SELECT balance FROM account WHERE id = 3
s4 UPDATE account SET balance = 40 WHERE id = 3
s4 COMMIT
s4 INSERT INTO account VALUES (4, 0, 'anna');
s4 SET autocommit = 1
s5 BEGIN
s5 DELETE FROM account
s5 ROLLBACK
`))
	if err != nil {
		t.Fatal(err)
	}
	printed := string(Print(w))
	for _, want := range []string{
		"-- Seen 2 times.\n/* transaction select-account-update-account (:id account.id, :balance account.balance) */\nSELECT balance FROM account WHERE id = :id;\nUPDATE account SET balance = :balance WHERE id = :id;\n",
		"/* transaction update-account (:p INT, :id account.id) */\nUPDATE account SET balance = balance - :p WHERE id = :id;\n",
		"ORDER BY 1 LIMIT 1;\n",
		"/* transaction insert-account (:id account.id, :balance account.balance, :owner account.owner) */\nINSERT INTO account VALUES (:id, :balance, :owner);\n",
		"-- Left out: 1 transactions that were rolled back, 0 that did not end, 1 other statements.",
	} {
		if !strings.Contains(printed, want) {
			t.Errorf("want %s\nin %s", want, printed)
		}
	}
	if _, err := Parse("app.workload", []byte(printed)); err != nil {
		t.Errorf("%v\n%s", err, printed)
	}
	for text, want := range map[string]string{
		"":                             "1:1: no transaction",
		"s1 BEGIN\ns1 UPDATE t SET":    "2:16: syntax error",
		"s1 BEGIN\nUPDATE":             "2:1: want a session and a statement",
		"s1 COMMIT\ns1 SELEC 1 FROM t": "2:4: syntax error",
	} {
		if _, err := ImportLog("a.log", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
