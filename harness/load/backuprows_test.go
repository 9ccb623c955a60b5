package load

import (
	"database/sql/driver"
	"fmt"
	"strings"
	"testing"
)

func TestDumpedRows(t *testing.T) {
	for _, c := range []struct {
		text    string
		columns []int
		want    string
		fails   bool
	}{
		{"-- MySQL dump\nINSERT INTO `append_list` VALUES (10,',3,4');\nINSERT INTO `append_list` VALUES (2,'');\n", []int{0, 1},
			"2: ''; 10: ',3,4'", false},
		{"INSERT INTO x.register VALUES (3, NULL);\nINSERT INTO x.register VALUES (4, -5);\n", []int{0, 1}, "3: nil; 4: '-5'", false},
		{"INSERT INTO `mixed_row` VALUES (1,45,3,2,',7,45');\n", []int{0, 1, 4}, "1: '45' ',7,45'", false},
		{"INSERT INTO `register` VALUES (1,2),(3,4);\n", []int{0, 1}, "", true},
		{"INSERT INTO `register` VALUES (1);\n", []int{0, 1}, "", true},
		{"INSERT INTO `register` VALUES ('a',1);\n", []int{0, 1}, "", true},
		{"INSERT INTO `register` VALUES (1,2", []int{0, 1}, "", true},
	} {
		rows, err := dumpedRows([]byte(c.text), c.columns)
		if (err != nil) != c.fails {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		var got []string
		for _, row := range rows {
			said := fmt.Sprintf("%s:", row[0])
			for _, v := range row[1:] {
				said += spellDriverValue(v)
			}
			got = append(got, said)
		}
		if !c.fails && strings.Join(got, "; ") != c.want {
			t.Errorf("%s: %s, want %s", c.text, strings.Join(got, "; "), c.want)
		}
	}
}

func spellDriverValue(v driver.Value) string {
	if v == nil {
		return " nil"
	}
	return fmt.Sprintf(" '%s'", v)
}
