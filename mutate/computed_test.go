package mutate

import (
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// Every form can be parsed with any columns, and each is made.
func TestComputedForms(t *testing.T) {
	made := map[string]int{}
	for seed := range uint64(4000) {
		r := splitMix(seed)
		c := random(&r)
		d := fresh(NewSeeded(seed), Options{Tables: 2, AllTypes: seed%2 == 1}.withDefaults())
		p, ok := computed(c, d, Options{}.withDefaults(), 0, 1)
		if !ok {
			continue
		}
		sql := corpus.SQL(d.stmt(p.a), corpus.Text)
		for _, table := range [][]weighted[string]{computedConditions, computedValues, computedQueries, computedSeveral} {
			for _, form := range table {
				if skeleton(form.value, sql) {
					made[form.value]++
				}
			}
		}
		whole := d.build(serialOrder(d))
		if err := whole.Validate(); err != nil {
			t.Fatalf("seed %d: %s: %v", seed, sql, err)
		}
		if again, err := corpus.Parse("printed", corpus.Print(whole, corpus.Text)); err != nil || !again.Equal(whole) {
			t.Fatalf("seed %d: %s does not come back from its text: %v", seed, sql, err)
		}
	}
	for _, table := range [][]weighted[string]{computedConditions, computedValues, computedQueries, computedSeveral} {
		for _, form := range table {
			if made[form.value] < 10 {
				t.Errorf("%s is made %d times in 4,000", form.value, made[form.value])
			}
		}
	}
}

// skeleton reports whether a statement has the text between the gaps of a form, in order.
func skeleton(form, sql string) bool {
	plain := strings.NewReplacer("`", "", " AS ", " ", "COUNT(*)", "COUNT(1)", "<>", "!=").Replace
	sql = plain(sql)
	for _, part := range gap.Split(plain(form), -1) {
		part = strings.TrimSpace(part)
		_, rest, ok := strings.Cut(sql, part)
		if !ok {
			return false
		}
		sql = rest
	}
	return true
}
