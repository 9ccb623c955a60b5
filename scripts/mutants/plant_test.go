package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// planting is declarations, a value that they yield, and what becomes of the value
// by a mistake in them. Without declarations it is one more mistake in those above.
type planting struct {
	decls, expr, old, new string
	right, wrong          string
}

// plantings are one for each form of a declaration that a mistake can stand in.
var plantings = []planting{
	{`func results(a int, b string) (int, string) { return a + 1, b }`,
		`first(results(1, "x"))`, "a + 1", "a - 1", "2", "0"},
	{"", `second(results(1, "x"))`, ", b }", ", b + b }", "x", "xx"},
	{`func void(out *int) { *out = 1 }`,
		`after(void)`, "{ *out = 1", "{ *out = 2", "1", "2"},
	{`func empty(out *int, tail ...int) { for range tail { *out++ } }`,
		`after(func(i *int) { empty(i, 5, 6) })`, "*out++", "*out += 3", "2", "6"},
	{`func unnamed(int, ...string) string { return "right" }`,
		`unnamed(1, "a", "b")`, `"right"`, `"wrong"`, "right", "wrong"},
	{`func blank(_ int, _, a string, _ ...int) string { return a }`,
		`blank(1, "b", "a", 2, 3)`, "{ return a }", "{ return a + a }", "a", "aa"},
	{`func shared(a, b int, c ...int) int { return a*100 + b*10 + len(c) }`,
		`shared(1, 2, 3)`, "b*10 + len", "b*20 + len", "121", "141"},
	{`type counter struct{ n int }
func (c *counter) add(by int) { c.n += by }`,
		`func() int { c := counter{1}; c.add(2); return c.n }()`, "+= by", "-= by", "3", "-1"},
	{`type word string
func (word) length() int { return 20 }`,
		`word("").length()`, "return 20", "return 21", "20", "21"},
	{`type mark string
func (_ mark) length() int { return 22 }`,
		`mark("").length()`, "return 22", "return 23", "22", "23"},
	{`func generic[T any, _ any, N int | uint](t T, n N) string { return fmt.Sprint(t, n) }`,
		`generic[string, any]("a", 1)`, "Sprint(t, n)", "Sprint(n, t)", "a1", "1a"},
	{`type box[K comparable, V any] struct{ k K; v V }
func (b box[K, V]) swapped() string { return fmt.Sprint(b.v, b.k) }`,
		`box[string, int]{"a", 1}.swapped()`, "b.v, b.k", "b.k, b.v", "1a", "a1"},
	{`func recursive(n int) int { if n == 0 { return 1 }; return n * recursive(n-1) }`,
		`recursive(4)`, "return n * r", "return n + r", "24", "11"},
	{`func closure() func() int { return func() int { return 24 } }`,
		`closure()()`, "return 24", "return 25", "24", "25"},
	{`func named() (n int, err error) { defer func() { n++ }(); n = 6; return }`,
		`first(named())`, "n++", "n--", "7", "5"},
	{`func calledEarly() int { return 9 }
var early = calledEarly()`,
		`early`, "{ return 9", "{ return 10", "9", "10"},
	{`var initialised int
func init() { initialised = 11 }`,
		`initialised`, "initialised = 11", "initialised = 12", "11", "12"},
	{`var table = [...][2]int{1: {0: 1}, 2: {1: 13}}`,
		`table[2][1]`, "1: 13", "1: 14", "13", "14"},
	{"", `table[1][0]`, "0: 1}", "0: 3}", "1", "3"},
	{`var left, right float64 = 1, 15.5`,
		`right`, "15.5", "16", "15.5", "16"},
	{`var (
	pick = func(n int) int { return n +
		17 }
)`,
		`pick(1)`, "+\n\t\t17", "-\n\t\t17", "18", "-16"},
}

// module writes a module of the package planted with these declarations and these tests.
func module(t *testing.T, decls, tests string) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, text := range map[string]string{
		"go.mod":     "module planted\n\ngo 1.26\n",
		"planted.go": "package planted\n\nimport \"fmt\"\n\nvar _ = fmt.Sprint\n\n" + decls,
		"planted_test.go": "package planted\n\nimport (\n\t\"fmt\"\n\t\"os\"\n\t\"testing\"\n)\n\n" +
			"var _, _ = fmt.Sprint, os.Exit\n\n" + tests,
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// TestPlantedMistakesShowAlone builds all plantings into one test binary. With none switched on each
// value is right; with one switched on, its value is wrong, and no other.
func TestPlantedMistakesShowAlone(t *testing.T) {
	t.Parallel()
	decls := "func first[A, B any](x A, _ B) A { return x }\n" +
		"func second[A, B any](_ A, b B) B { return b }\n" +
		"func after(f func(*int)) int { n := 0; f(&n); return n }\n"
	tests := "func TestValues(t *testing.T) {\n"
	var ms []mutant
	for i, p := range plantings {
		decls += p.decls + "\n"
		tests += fmt.Sprintf("\tif got := fmt.Sprint(%s); got != %q { t.Errorf(\"<%d is %%s>\", got) }\n", p.expr, p.right, i)
		ms = append(ms, mutant{No: i + 1, Name: p.expr, File: "planted.go", Old: p.old, New: p.new})
	}
	s, err := newSuite(module(t, decls, tests+"}\n"), ms)
	if err != nil {
		t.Fatal(err)
	}
	defer s.end()
	values := stage{folder: "."}
	if _, err := s.binary("."); err != nil {
		t.Fatal(err)
	}
	if err := s.passes(values); err != nil {
		t.Fatal(err)
	}
	told := regexp.MustCompile(`<.*>`)
	for i, p := range plantings {
		caught, by, err := s.fails(values, ms[i])
		if err != nil || !caught || by != "TestValues" {
			t.Errorf("%s: caught is %t by %q: %v", p.expr, caught, by, err)
		}
		out, _ := s.run(values, ms[i].No)
		want := []string{fmt.Sprintf("<%d is %s>", i, p.wrong)}
		if got := told.FindAllString(out, -1); !slices.Equal(got, want) {
			t.Errorf("%s, %q in place of %q: %s, want %s\n%s", p.expr, p.new, p.old, got, want, out)
		}
	}
}

func TestWhereNoMistakeCanBePlanted(t *testing.T) {
	t.Parallel()
	root := module(t, "const fixed = 1\n\nfunc f(n int) int { return n + fixed }\n\ntype pair struct{ a, b int }\n", "")
	for old, want := range map[string]string{
		"= 1":             "stands neither in a function's body nor in a variable's value",
		"n int) int":      "stands neither in a function's body nor in a variable's value",
		"a, b int":        "stands neither in a function's body nor in a variable's value",
		"fixed }\n\ntype": "stands neither in a function's body nor in a variable's value",
		"fixed":           "2 times, want once",
		"absent":          "0 times, want once",
	} {
		_, err := plant(root, []mutant{{No: 1, Name: "the name", File: "planted.go", Old: old}})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "the name: ") {
			t.Errorf("in place of %q: %v, want %s", old, err, want)
		}
	}
}

func TestWhatMakesASuiteUseless(t *testing.T) {
	t.Parallel()
	decls := "func f() int { return 1 }\n\nvar v = []int{2}\n"
	sound := "func TestF(t *testing.T) { if f() != 1 { t.Error(f()) } }\n"
	good := mutant{No: 1, Name: "one that compiles", File: "planted.go", Old: "return 1", New: "return 2"}
	for _, c := range []struct {
		name, tests string
		more        []mutant
		want        []string
	}{
		{"a function does not compile", sound,
			[]mutant{{No: 2, Name: "a string", File: "planted.go", Old: "1 }", New: `"1" }`}},
			[]string{`the mistake "a string" does not compile`, "mistake2-planted.go:7"}},
		{"two do not compile", sound,
			[]mutant{{No: 2, Name: "a string", File: "planted.go", Old: "1 }", New: `"1" }`},
				{No: 3, Name: "a wrong element", File: "planted.go", Old: "{2}", New: `{"2"}`}},
			[]string{`the mistake "a string" does not compile`, `the mistake "a wrong element" does not compile`,
				"mistake3-planted.go:9"}},
		{"a test fails", "func TestF(t *testing.T) { t.Error(f()) }\n", nil,
			[]string{`the tests "^TestF$" of ./. do not pass with no mistake switched on`, "--- FAIL: TestF"}},
		{"the program ends", "func TestF(t *testing.T) { os.Exit(f()) }\n", nil,
			[]string{"the tests of ./. do not pass with no mistake switched on"}},
	} {
		s, err := newSuite(module(t, decls, c.tests), append([]mutant{good}, c.more...))
		if err != nil {
			t.Fatal(err)
		}
		defer s.end()
		_, _, err = s.fails(stage{folder: "."}, good)
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", c.name, err, want)
			}
		}
		if err != nil && strings.Contains(err.Error(), good.Name) {
			t.Errorf("%s: %v, which blames %q", c.name, err, good.Name)
		}
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	ms, err := parse("# one\na/b.go\n- old\n+ new\n\n# two\nc.go\n- gone\n+\n")
	want := []mutant{{1, "one", "a/b.go", "old", "new"}, {2, "two", "c.go", "gone", ""}}
	if err != nil || !slices.Equal(ms, want) {
		t.Errorf("%v, %v, want %v", ms, err, want)
	}
	if _, err := parse("\na/b.go\n"); err == nil || !strings.Contains(err.Error(), "mutants.txt:2") {
		t.Errorf("%v, want one of line 2", err)
	}
}

// TestPlacesAreFound plants what the table holds, without a build.
func TestPlacesAreFound(t *testing.T) {
	t.Parallel()
	ms, err := parse(table)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plant("../..", ms); err != nil {
		t.Error(err)
	}
}
