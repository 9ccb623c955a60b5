package workload

import (
	"embed"
	"fmt"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"unicode"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/pingcap/tidb/pkg/parser/opcode"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/workload"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Snippet says what mends a group in the language of a framework.
type Snippet struct {
	Framework string   `json:"framework"`
	Docs      []string `json:"docs"`
	Code      string   `json:"code"`
}

// framework has a template in the folder snippets, and pages that describe what the template uses: lock for the lock,
// level for the level.
type framework struct{ name, template, lock, level string }

var frameworks = []framework{
	{"spring", "spring.tmpl", "https://docs.spring.io/spring-data/jpa/reference/jpa/locking.html",
		"https://docs.spring.io/spring-framework/reference/data-access/transaction/declarative/annotations.html"},
	{"django", "django.tmpl", "https://docs.djangoproject.com/en/stable/ref/models/querysets/#select-for-update",
		"https://docs.djangoproject.com/en/stable/ref/databases/"},
	{"rails", "rails.tmpl", "https://api.rubyonrails.org/classes/ActiveRecord/Locking/Pessimistic.html",
		"https://api.rubyonrails.org/classes/ActiveRecord/ConnectionAdapters/DatabaseStatements.html#method-i-transaction"},
	{"go", "go.tmpl", "https://pkg.go.dev/database/sql#DB.BeginTx", "https://pkg.go.dev/database/sql#IsolationLevel"},
}

// Frameworks are the names that Snippet.Framework has.
func Frameworks() []string {
	var out []string
	for _, f := range frameworks {
		out = append(out, f.name)
	}
	return out
}

//go:embed snippets/*.tmpl
var snippetFiles embed.FS

var snippetPages = template.Must(template.New("snippets").Funcs(template.FuncMap{
	"camel": camel, "pascal": pascal, "snake": snake, "lower": strings.ToLower,
	"constant": func(s string) string { return strings.ToUpper(snake(s)) },
	"join":     func(list []string) string { return strings.Join(list, " × ") },
	"quote":    strconv.Quote,
	"rubyQuote": func(s string) string { // as strconv.Quote, but "#{" begins code in Ruby
		return strings.ReplaceAll(strconv.Quote(s), "#{", `\#{`)
	},
	"java": reserved(javaWords), "python": reserved(pythonWords), "ruby": reserved(rubyWords), "golang": goName,
	"marked": marked, "placeholders": placeholders, "javaType": javaType,
}).ParseFS(snippetFiles, "snippets/*.tmpl"))

// What is no name of a variable in a language, or in that of its queries, with the names that the templates use.
const (
	javaWords = "abstract assert boolean break byte case catch char class const continue default do double else enum " +
		"extends final finally float for goto if implements import instanceof int interface long native new package " +
		"private protected public return short static strictfp super switch synchronized this throw throws transient " +
		"try void volatile while true false null rows " + jpqlWords
	jpqlWords = "all and any as asc between by count delete desc distinct empty exists fetch from group having in inner " +
		"is join left like max member min not object of on or order outer select set some sum trim update upper where"
	pythonWords = "and as assert async await break class continue def del elif else except finally for from global if " +
		"import in is lambda nonlocal not or pass raise return try while with yield row rows cursor connection transaction"
	rubyWords = "alias and begin break case class def defined do else elsif end ensure false for if in module next nil " +
		"not or redo rescue retry return self super then true undef unless until when while yield row rows"
	goWords = "any ctx db tx err sql context true false nil begin error"
)

// reserved returns a function that gives a variable another name where a language needs that.
func reserved(words string) func(string) string {
	list := strings.Fields(words)
	return func(name string) string {
		if slices.Contains(list, name) {
			return name + "_"
		}
		return name
	}
}

func goName(name string) string {
	if token.IsKeyword(name) {
		return name + "_"
	}
	return reserved(goWords)(name)
}

// mendedCode is what a template says.
type mendedCode struct {
	Transactions []codeTransaction
	// Level is the stronger level that was tried, as SQL spells it, Set the transactions for which it was.
	Level      string
	Set        []string
	PostgreSQL bool
	// Raw says that some read is no lookup of one table's rows, as ORMs have them.
	Raw bool
	// Types holds the columns with which variables are compared.
	Types map[string]*workload.Column
}

type codeTransaction struct {
	Name      string
	Variables []string
	Reads     []codeRead
}

// codeRead is a SELECT that is to lock.
type codeRead struct {
	Line  int
	Text  string // without INTO
	Table string
	// Simple says that it reads rows of Table by Conditions only, One that these are a unique key.
	Simple, One bool
	Conditions  []codeCondition
	// Variables are those that it reads, each once; Marks have them as often, and in the order in which, Text does.
	Variables, Marks []string
	Into             []codeTarget
}

type codeCondition struct{ Column, Variable string }

// codeTarget is a variable of Go into which a column is read.
type codeTarget struct{ Name, Type string }

// snippets says for each framework how reads lock, and how the level of a set of transactions is made stronger: nothing
// if neither is known to mend anything.
func snippets(w *workload.Workload, dbms history.DBMS, reads []read, stronger string, set []string) []Snippet {
	code := mendedCode{PostgreSQL: dbms == history.PostgreSQL, Types: map[string]*workload.Column{}}
	if stronger != "" {
		code.Level = levelName(stronger)
		for _, name := range set {
			if !slices.Contains(code.Set, name) {
				code.Set = append(code.Set, name)
			}
		}
	}
	for _, r := range reads {
		t := w.Transaction(r.transaction)
		n := node(t.Body, r.index)
		sel, ok := n.Stmt.(*ast.SelectStmt)
		if !ok {
			continue
		}
		i := slices.IndexFunc(code.Transactions, func(x codeTransaction) bool { return x.Name == t.Name })
		if i < 0 {
			i = len(code.Transactions)
			code.Transactions = append(code.Transactions, codeTransaction{Name: t.Name})
		}
		x := &code.Transactions[i]
		one := codeReadOf(w, sel, n, code.Types)
		for _, v := range one.Variables {
			if !slices.Contains(x.Variables, v) {
				x.Variables = append(x.Variables, v)
			}
		}
		x.Reads = append(x.Reads, one)
		code.Raw = code.Raw || !one.Simple
	}
	for i := range code.Transactions {
		code.Transactions[i].nameTargets()
	}
	if len(code.Transactions) == 0 && code.Level == "" {
		return nil
	}
	var out []Snippet
	for _, f := range frameworks {
		var b strings.Builder
		if err := snippetPages.ExecuteTemplate(&b, f.template, &code); err != nil {
			panic(fmt.Sprintf("the template of %s: %v", f.name, err)) // the templates are ours
		}
		s := Snippet{Framework: f.name, Code: strings.TrimSpace(b.String()) + "\n"}
		if len(code.Transactions) > 0 {
			s.Docs = append(s.Docs, f.lock)
		}
		if code.Level != "" {
			s.Docs = append(s.Docs, f.level)
		}
		out = append(out, s)
	}
	return out
}

// nameTargets gives the targets of a transaction names that no parameter and no other target has.
func (t *codeTransaction) nameTargets() {
	used := map[string]bool{}
	for _, v := range t.Variables {
		used[goName(v)] = true
	}
	for i := range t.Reads {
		for k := range t.Reads[i].Into {
			target := &t.Reads[i].Into[k]
			name := goName(target.Name)
			for n := 2; used[name]; n++ {
				name = goName(target.Name) + strconv.Itoa(n)
			}
			used[name] = true
			target.Name = name
		}
	}
}

func codeReadOf(w *workload.Workload, sel *ast.SelectStmt, n *workload.Node, types map[string]*workload.Column) codeRead {
	bare := *n
	bare.Into = nil
	r := codeRead{Line: n.Place.Line, Text: oneLine(bare.SQL())}
	eachVariable(r.Text, func(name string) string {
		r.Marks = append(r.Marks, name)
		if !slices.Contains(r.Variables, name) {
			r.Variables = append(r.Variables, name)
		}
		return ""
	})
	var table *workload.Table
	if names := namesOfTables(sel); len(names) == 1 {
		table, r.Table = w.Table(names[0]), names[0]
	}
	bareRows := sel.GroupBy == nil && sel.Having == nil && sel.Limit == nil && sel.OrderBy == nil && !sel.Distinct
	if table != nil && bareRows && !aggregates(sel) {
		r.Conditions, r.Simple = equalities(sel.Where)
	}
	var by []string
	for _, c := range r.Conditions {
		by = append(by, strings.ToLower(c.Column))
		if table != nil {
			if i := table.Column(c.Column); i >= 0 {
				types[c.Variable] = &table.Columns[i]
			}
		}
	}
	if r.Simple {
		r.One = slices.ContainsFunc(table.Unique, func(key []int) bool {
			return !slices.ContainsFunc(key, func(i int) bool {
				return !slices.Contains(by, strings.ToLower(table.Columns[i].Name))
			})
		})
	} else {
		r.One = sel.GroupBy == nil && aggregates(sel)
	}
	r.Into = targets(sel, n.Into, table)
	return r
}

// aggregates reports whether a SELECT computes something of all its rows.
func aggregates(sel *ast.SelectStmt) bool {
	return corpus.Contains(sel.Fields, func(n ast.Node) (found, skip bool) {
		_, found = n.(*ast.AggregateFuncExpr)
		return found, false
	})
}

// equalities takes a condition apart that compares columns with variables for equality only.
func equalities(e ast.ExprNode) ([]codeCondition, bool) {
	switch x := e.(type) {
	case *ast.ParenthesesExpr:
		return equalities(x.Expr)
	case *ast.BinaryOperationExpr:
		switch x.Op {
		case opcode.LogicAnd:
			a, left := equalities(x.L)
			b, right := equalities(x.R)
			return append(a, b...), left && right
		case opcode.EQ:
			for _, pair := range [][2]ast.ExprNode{{x.L, x.R}, {x.R, x.L}} {
				col, ok := pair[0].(*ast.ColumnNameExpr)
				v, is := pair[1].(*ast.VariableExpr)
				if ok && is && !v.IsSystem {
					return []codeCondition{{col.Name.Name.O, strings.ToLower(v.Name)}}, true
				}
			}
		}
	}
	return nil, false
}

// targets are the variables into which Go reads the columns of a SELECT; nil where it is not known how many there are.
func targets(sel *ast.SelectStmt, into []string, table *workload.Table) []codeTarget {
	var out []codeTarget
	for i, f := range sel.Fields.Fields {
		t := codeTarget{"v" + strconv.Itoa(i+1), "any"}
		if f.WildCard != nil {
			out = nil
			for range into {
				out = append(out, codeTarget{Type: "any"})
			}
			break
		}
		if col, ok := f.Expr.(*ast.ColumnNameExpr); ok && table != nil {
			t.Name = snake(col.Name.Name.L)
			if k := table.Column(col.Name.Name.L); k >= 0 {
				t.Type = goType(&table.Columns[k])
			}
		}
		out = append(out, t)
	}
	for i, name := range into {
		if i < len(out) && name != "" {
			out[i].Name = name
		}
	}
	for i := range out {
		if out[i].Name == "" || !token.IsIdentifier(out[i].Name) && !token.IsKeyword(out[i].Name) {
			out[i].Name = "v" + strconv.Itoa(i+1)
		}
	}
	return out
}

func isWhole(t byte) bool {
	switch t {
	case mysql.TypeTiny, mysql.TypeShort, mysql.TypeInt24, mysql.TypeLong, mysql.TypeLonglong, mysql.TypeYear:
		return true
	}
	return false
}

func goType(c *workload.Column) string {
	t := "any"
	switch {
	case isWhole(c.Type.GetType()) && mysql.HasUnsignedFlag(c.Type.GetFlag()):
		t = "uint64"
	case isWhole(c.Type.GetType()):
		t = "int64"
	case c.Type.GetType() == mysql.TypeFloat, c.Type.GetType() == mysql.TypeDouble:
		t = "float64"
	case c.IsText(), c.Type.GetType() == mysql.TypeNewDecimal:
		t = "string"
	}
	if c.Nullable && t != "any" {
		return "sql.Null[" + t + "]"
	}
	return t
}

func javaType(types map[string]*workload.Column, variable string) string {
	c := types[variable]
	switch {
	case c == nil:
		return "Object"
	case c.Type.GetType() == mysql.TypeLonglong:
		return "Long"
	case isWhole(c.Type.GetType()):
		return "Integer"
	case c.Type.GetType() == mysql.TypeNewDecimal:
		return "BigDecimal"
	case c.IsText():
		return "String"
	}
	return "Object"
}

func isNameByte(b byte) bool {
	return b == '_' || unicode.IsLetter(rune(b)) || unicode.IsDigit(rune(b))
}

// eachVariable replaces the variables of a statement, such as :n.
func eachVariable(text string, by func(name string) string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '\'' || c == '"' || c == '`':
			end := corpus.EndOfQuote(text, i)
			if end < 0 {
				end = len(text)
			}
			b.WriteString(text[i:end])
			i = end
		case c == ':':
			end := i + 1
			for end < len(text) && isNameByte(text[end]) {
				end++
			}
			if end == i+1 {
				b.WriteByte(c)
			} else {
				b.WriteString(by(text[i+1 : end]))
			}
			i = end
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}

// marked is a read with the same mark for each variable. Where the mark is a verb of Python, a percent sign is doubled.
func marked(mark string, r codeRead) string {
	text := r.Text
	if mark == "%s" {
		text = strings.ReplaceAll(text, "%", "%%")
	}
	return eachVariable(text, func(string) string { return mark })
}

// placeholders is a read as a driver of Go takes it.
func placeholders(postgres bool, r codeRead) string {
	n := 0
	return eachVariable(r.Text, func(string) string {
		if n++; postgres {
			return "$" + strconv.Itoa(n)
		}
		return "?"
	})
}

// words takes a name apart, such as write-check or WRITE_CHECK.
func words(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

func pascal(name string) string {
	var b strings.Builder
	for _, w := range words(name) {
		b.WriteString(upper(w))
	}
	if b.Len() == 0 || unicode.IsDigit(rune(b.String()[0])) {
		return "T" + b.String()
	}
	return b.String()
}

func camel(name string) string {
	p := []rune(pascal(name))
	p[0] = unicode.ToLower(p[0])
	return reserved(javaWords + " " + goWords + " func select defer go map struct chan range type var")(string(p))
}

func snake(name string) string {
	return reserved(pythonWords + " " + rubyWords)(strings.ToLower(strings.Join(words(name), "_")))
}
