package corpus

import (
	"strings"
	"testing"
)

// TestTrigger holds bodies of triggers as one statement of a set-up, whatever semicolons are in them.
func TestTrigger(t *testing.T) {
	for _, trigger := range []string{
		"CREATE TRIGGER tr AFTER UPDATE ON t FOR EACH ROW INSERT INTO l VALUES (NEW.a, OLD.b)",
		"CREATE TRIGGER tr AFTER UPDATE ON t FOR EACH ROW BEGIN INSERT INTO l VALUES (1, 2); DELETE FROM l; END",
		"CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW IF NEW.a > 1 THEN SET NEW.b = 1; ELSE SET NEW.b = IF(NEW.a, 2, 3); END IF",
		"CREATE TRIGGER tr AFTER DELETE ON t FOR EACH ROW BEGIN IF OLD.a = 1 THEN BEGIN DELETE FROM l; END; END IF; UPDATE l SET n = CASE n WHEN 1 THEN 2 ELSE 3 END; END",
		"CREATE DEFINER = CURRENT_USER TRIGGER tr AFTER DELETE ON t FOR EACH ROW INSERT INTO l VALUES ('BEGIN; END', 1)",
		"CREATE OR REPLACE TRIGGER tr AFTER DELETE ON t FOR EACH ROW BEGIN WHILE @n > 0 DO DELETE FROM l; END WHILE; REPEAT DELETE FROM l; UNTIL 1 END REPEAT; END",
	} {
		text := "/* init */ CREATE TABLE t (a INT, b INT);\n/* init */ " + trigger + ";\n/* init */ INSERT INTO t VALUES (1, 2);\n/* tx1 */ SELECT * FROM t;\n"
		c, err := Parse("x", []byte(text))
		if err != nil {
			t.Errorf("%s: %v", trigger, err)
			continue
		}
		if len(c.Init) != 3 || len(c.Steps) != 1 {
			t.Errorf("%s: %d lines of set-up, %d of sessions", trigger, len(c.Init), len(c.Steps))
			continue
		}
		printed := Print(c, Text)
		if !strings.Contains(string(printed), trigger+";") {
			t.Errorf("%s is printed as\n%s", trigger, printed)
		}
		again, err := Parse("x", printed)
		if err != nil || string(Print(again, Text)) != string(printed) {
			t.Errorf("%s, printed and read: %v", trigger, err)
		}
		for _, d := range []Dialect{MySQL, MariaDB} {
			if sql := SQL(c.Init[1].Stmt, d); sql != trigger {
				t.Errorf("%s is sent as %s", trigger, sql)
			}
		}
	}
	_, err := Parse("x", []byte("/* init */ CREATE TABLE t (a INT);\n/* tx1 */ CREATE TRIGGER tr AFTER DELETE ON t FOR EACH ROW DELETE FROM l;\n"))
	if want := "x:2:1: a session cannot make a trigger: CREATE TRIGGER stands behind /* init */"; err == nil || err.Error() != want {
		t.Errorf("a trigger in a session: %v, want %s", err, want)
	}
}
